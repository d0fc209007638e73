"""`bbllm run`: one task, on a running stack or in this process."""

from bbllm.api.config import HOUSE, EpisodeConfig, HouseChoice, arms, check_world
from bbllm.api.setup import make_setup
from bbllm.cli.support.options import (
    JsonOption,
    RehearsalOptions,
    StackOptions,
    TaskArgument,
    WorldName,
)
from bbllm.cli.support.requests import flag, option, spelled
from bbllm.cli.support.session import finish, found_session, run_here, run_on_stack
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.core.tasks import make_task


class RunConfig(EpisodeConfig, RehearsalOptions):
    """All that can be chosen for the episode."""


def run(
    *,
    task: TaskArgument,
    world: WorldName = option(  # noqa: B008  # a name
        'ros: the running stack. tabletop: simulate here, without ROS. household: symbols, see '
        '--house.',
        default='ros',
    ),
    config: RunConfig,
    yes: bool = flag('Approve whatever the stack asks for; simulated robots only.', '-y'),
    stack: StackOptions,
    json: JsonOption = False,
) -> None:
    """
    Carry out one task, given in plain words.

    The stack that `bbllm up sim` or a launch file started does it; with --world tabletop, the
    arm is simulated in this process; with --robot fr3, a Franka Research 3 does
    it without ROS. Scene, planner and models of a stack are chosen when it is
    started. If it asks for approval before anything moves,
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
      bbllm run 'stack all cubes' --world tabletop --rehearse
      bbllm run 'stack all cubes' --world tabletop --never 'touch the blue cube'
      bbllm run 'stack all cubes' --robot fr3 --ip 172.16.0.2 --scene my_table.yaml
      bbllm run 'watch tv' --house family_flat --planner prog_prompt
    """
    output = Output(json)
    in_house = bool(config.house) or world == 'household'
    chosen, spell = config.given, spelled(RunConfig)
    if in_house and (world == 'tabletop' or 'scene' in chosen):
        raise ConfigError(
            'A house has no table in it: leave --world tabletop and --scene out, or --house.'
        )
    if config.robot and (in_house or world == 'tabletop'):
        raise ConfigError('--robot moves a robot: leave --world and --house out.')
    if config.ip and not config.robot:
        raise ConfigError(f'Which robot is at {config.ip}? State --robot {" or ".join(arms())}.')
    kind = 'household' if in_house else 'sim' if world == 'tabletop' else 'ros'
    if config.robot:
        kind = 'arm'
    if not in_house:
        rules = {name: chosen[name] for name in HouseChoice.model_fields if name in chosen}
        check_world('sim', rules, RunConfig, spell)
    if kind == 'ros':  # which is kept beside the stack
        chosen.pop('wall_limit_s', None)
    check_world(kind, chosen, RunConfig, spell)
    if kind != 'ros':
        if kind == 'arm':
            on_arm = config.on_arm(config.robot)
            setup = make_setup(on_arm, on_arm.domain)
            finish(run_here(make_task(task), setup, output, yes=yes), output)
        if yes:
            here = 'household' if in_house else world
            raise ConfigError(f'--yes is for a running stack; --world {here} needs no approval.')
        house = (config.house or HOUSE) if in_house else ''
        own = config.model_copy(update={'house': house, 'rehearse': config.samples()})
        finish(run_here(make_task(task), make_setup(own, own.domain), output), output)
    wanted = make_task(task)
    with found_session('bbllm run', stack, output, config.of_task) as session:
        ran = run_on_stack(wanted, session, output, config.wall_limit_s, yes=yes)
    finish(ran, output)
