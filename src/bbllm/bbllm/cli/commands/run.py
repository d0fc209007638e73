"""`bbllm run`: one task, on a running stack or in this process."""

from dataclasses import dataclass

from bbllm.api.options import HOUSE, STEPS, EpisodeOptions
from bbllm.cli.support.options import (
    HouseOptions,
    JsonOption,
    LimitOptions,
    MethodOptions,
    RecordOptions,
    SpeedOptions,
    StackOptions,
    TaskArgument,
    WorldName,
    loops_option,
    scene_option,
    seconds,
)
from bbllm.cli.support.requests import fill, flag, flag_of, given, option
from bbllm.cli.support.session import Ran, finish, run_here, run_on_stack
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.core.events import Limits
from bbllm.core.tasks import make_task


@dataclass(frozen=True, kw_only=True)
class SessionOptions:
    """Options of an episode in this process, which a running stack was given when it started."""

    scene: str | None = scene_option()
    method: MethodOptions
    speed: SpeedOptions
    recording: RecordOptions
    limits: LimitOptions


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """What `bbllm run` was asked for."""

    task: TaskArgument
    world: WorldName = option(
        'ros: the running stack. tabletop: simulate here, without ROS. household: symbols, see '
        '--house.',
        default=WorldName.ros,
    )
    house: HouseOptions
    k: int | None = loops_option()
    timeout: float | None = seconds('Wall time that the episode may take.')
    yes: bool = flag('Approve whatever the stack asks for; simulated robots only.', '-y')
    stack: StackOptions
    session: SessionOptions
    json: JsonOption = False


def run(request: RunRequest) -> None:
    """
    Carry out one task, given in plain words.

    The stack that `bbllm up sim` or a launch file started does it; with --world tabletop, the
    arm is simulated in this process. Scene, planner and models of a stack are
    chosen when it is started. If it asks for approval before anything moves,
    the question is shown here, or the command that answers it elsewhere.

    Exit code: 0 when the episode finished, 1 when it did not, 2 for input
    that cannot be used, 130 after Ctrl-C (the arm stops and keeps its grip).

    [bold]Examples[/bold]

      bbllm run 'put the red cube on location_B'
      bbllm run 'stack all cubes' --world tabletop --json
      bbllm run 'stack all cubes' --world tabletop --record talk.jsonl
      bbllm run 'watch tv' --house family_flat --planner prog_prompt
    """
    output = Output(request.json)
    house = _house(request)
    if house is None and (request.house.mode or request.house.visibility):
        raise ConfigError(
            '--mode and --visibility are for a house: add --house NAME (see `bbllm scenes`).'
        )
    if house is None and request.world is WorldName.ros:
        ran = _run_on_stack(request, output)
    else:
        ran = _run_here(request, house, output)
    finish(ran, output)


def _house(request: RunRequest) -> str | None:
    """Return the house, None where the task is not of a house."""
    house = request.house.house
    if house is None and request.world is not WorldName.household:
        return None
    if request.world is WorldName.tabletop or request.session.scene is not None:
        raise ConfigError(
            'A house has no table in it: leave --world tabletop and --scene out, or --house.'
        )
    return house or HOUSE


def _run_here(request: RunRequest, house: str | None, output: Output) -> Ran:
    if request.yes:
        world = WorldName.household if house else request.world
        raise ConfigError(f'--yes is for a running stack; --world {world.value} asks nobody.')
    limits = Limits(steps=request.session.limits.limit_steps or STEPS, wall_s=request.timeout)
    options = fill(EpisodeOptions, request, house=house or '', limits=limits)
    return run_here(request.task, options, output)


def _run_on_stack(request: RunRequest, output: Output) -> Ran:
    if late := given(request.session):
        raise ConfigError(
            f'A running stack cannot take {", ".join(map(flag_of, late))} any more. Say it when '
            'the stack is started (options of `bbllm up`, arguments of a launch file), or add '
            '--world tabletop to run in this process.'
        )
    from bbllm.cli.support.discovery import open_stack

    task = make_task(request.task)
    with open_stack('bbllm run', request.stack, output) as client:
        return run_on_stack(
            task,
            client,
            output,
            feedback_loops=request.k,
            timeout_s=request.timeout,
            yes=request.yes,
        )
