"""`bbllm run`: one task, on a running stack or in this process."""

from dataclasses import dataclass

from bbllm.api.options import HOUSE, STEPS, EpisodeOptions
from bbllm.api.setup import make_setup
from bbllm.cli.support.options import (
    BagOptions,
    HouseOptions,
    JsonOption,
    LimitOptions,
    MethodOptions,
    RecordOptions,
    RehearsalOptions,
    SourceOptions,
    SpeedOptions,
    StackOptions,
    TaskArgument,
    WorldName,
    goal_option,
    loops_option,
    scene_option,
    seconds,
)
from bbllm.cli.support.recording import Recording
from bbllm.cli.support.requests import fill, flag, flag_of, given, option
from bbllm.cli.support.session import finish, run_here, run_on_stack
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.core.events import Limits
from bbllm.core.tasks import make_task


@dataclass(frozen=True, kw_only=True)
class SessionOptions:
    """Options of an episode in this process, which a running stack was given when it started."""

    scene: str | None = scene_option()
    source: SourceOptions
    method: MethodOptions
    speed: SpeedOptions
    recording: RecordOptions
    rehearsal: RehearsalOptions
    limits: LimitOptions


def run(
    *,
    task: TaskArgument,
    world: WorldName = option(  # noqa: B008  # a name
        'ros: the running stack. tabletop: simulate here, without ROS. household: symbols, see '
        '--house.',
        default='ros',
    ),
    house: HouseOptions,
    k: int | None = loops_option(),
    goal: str | None = goal_option(),
    timeout: float | None = seconds('Wall time that the episode may take.'),
    yes: bool = flag('Approve whatever the stack asks for; simulated robots only.', '-y'),
    keep: BagOptions,
    stack: StackOptions,
    session: SessionOptions,
    json: JsonOption = False,
) -> None:
    """
    Carry out one task, given in plain words.

    The stack that `bbllm up sim` or a launch file started does it; with --world tabletop, the
    arm is simulated in this process. Scene, planner and models of a stack are
    chosen when it is started. If it asks for approval before anything moves,
    the question is shown here, or the command that answers it elsewhere.

    The Brain also reads from the task what must be so at the end; the settled
    scene is checked for it (`goal: met`).

    Exit code: 0 when the episode finished, 1 when it did not, 2 for input
    that cannot be used, 130 after Ctrl-C (the arm stops and keeps its grip).

    Examples:
      bbllm run 'put the red cube on location_B'
      bbllm run 'stack all cubes' --world tabletop --json
      bbllm run 'build something' --world tabletop --goal 'on(red_cube, blue_cube)'
      bbllm run 'stack all cubes' --world tabletop --record talk.jsonl
      bbllm run 'stack all cubes' --bag stack.mcap
      bbllm run 'stack all cubes' --world tabletop --rehearse
      bbllm run 'stack all cubes' --world tabletop --never 'touch the blue cube'
      bbllm run 'watch tv' --house family_flat --planner prog_prompt
    """
    output = Output(json)
    in_house = house.house is not None or world == 'household'
    if in_house and (world == 'tabletop' or session.scene is not None):
        raise ConfigError(
            'A house has no table in it: leave --world tabletop and --scene out, or --house.'
        )
    if not in_house and (house.mode or house.visibility):
        raise ConfigError(
            '--mode and --visibility are for a house: add --house NAME (see `bbllm scenes`).'
        )
    if in_house or world == 'tabletop':
        if yes:
            here = 'household' if in_house else world
            raise ConfigError(f'--yes is for a running stack; --world {here} asks nobody.')
        name = (house.house or HOUSE) if in_house else ''
        most = session.limits.limit_remarks
        limits = Limits(
            remarks=Limits().remarks if most is None else most,
            steps=session.limits.limit_steps or STEPS,
            wall_s=timeout,
            allow_circles=session.limits.allow_circles,
        )
        options = fill(
            EpisodeOptions,
            session,
            house,
            keep,
            house=name,
            k=k,
            goal=goal,
            rehearse=session.rehearsal.samples(),
            limits=limits,
        )
        setup = make_setup(options, options.domain)
        finish(run_here(make_task(task), setup, output), output)
    if late := given(session):
        raise ConfigError(
            f'A running stack cannot take {", ".join(map(flag_of, late))} any more. Say it when '
            'the stack is started (options of `bbllm up`, arguments of a launch file), or add '
            '--world tabletop to run in this process.'
        )
    from bbllm.cli.support.discovery import open_stack

    wanted, recording = make_task(task), Recording(keep.bag)
    with open_stack('bbllm run', stack, output) as client, recording.of(client):
        ran = run_on_stack(
            wanted, client, output, feedback_loops=k, goal=goal, timeout_s=timeout, yes=yes
        )
    finish(recording.add_to(ran), output)
