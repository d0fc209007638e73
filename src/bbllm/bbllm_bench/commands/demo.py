"""`bbllm demo`: the whole loop in one process, with pictures at the end."""

from __future__ import annotations

from typing import Annotated

import typer

from bbllm.api.config import (
    EpisodeConfig,
    ExperienceChoice,
    GoalChoice,
    LoopChoice,
    MethodChoice,
    NameOrFile,
    NeverChoice,
    SceneChoice,
    SourceChoice,
    SpeedChoice,
    StreamChoice,
    listed,
)
from bbllm.api.ros_environment import need_ros
from bbllm.api.settings import revised
from bbllm.api.setup import make_setup
from bbllm.cli.support.options import JsonOption, ros_option
from bbllm.cli.support.requests import beginning, option
from bbllm.cli.support.session import Ran, finish, run_here, run_on_stack
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.core.paths import config_dir
from bbllm.core.registry import find_provider
from bbllm.core.tasks import make_task
from bbllm_bench.commands.demo_browser import DemoBrowserOptions, show_in_browser

TASK = 'create a plus sign in the working space using the cubes'
SCENE = 'plus_sign'
WATCHED_SPEED = 2.0
"""Where a person watches: slow enough to follow, fast enough to be over in ten seconds."""


class DemoConfig(
    NeverChoice,
    StreamChoice,
    ExperienceChoice,
    GoalChoice,
    LoopChoice,
    MethodChoice,
    SourceChoice,
    SpeedChoice,
):
    """What can be chosen for the demo."""

    scene: NameOrFile = revised(SceneChoice, 'scene', SCENE)


def demo(
    *,
    context: typer.Context,
    task: Annotated[
        str, typer.Argument(metavar='TASK', help='What to do, in plain words.')
    ] = TASK,
    recorded: str | None = option(
        'A task that a language model did while it was recorded, played again from its replies: '
        'run/task, or list, which prints them.',
        metavar='NAME',
        autocompletion=beginning(listed('bbllm_bench.runner.recorded_runs', 'recorded_tasks')),
    ),
    config: DemoConfig,
    ros: bool = ros_option(),
    browser: DemoBrowserOptions,
    json: JsonOption = False,
) -> None:
    """
    Watch a simulated arm build a plus sign from cubes, repairs and all.

    Needs no ROS, no GPU, no display and no API key: without a key, a
    deterministic stand-in called `offline` plans. Two cubes lie out of
    reach, and the planner has to find out. --recorded NAME plays what a
    language model replied to a task of the bench. --browser shows a page
    that gives it this task and others, until Ctrl-C.

    Examples:
      bbllm demo
      bbllm demo --speed 1 --viewer
      bbllm demo --browser
      bbllm demo --browser --approval plan
      bbllm demo --sources camera
      bbllm demo 'put the red cube on the blue cube'
      bbllm demo --never 'touch the blue cube'
      bbllm demo --recorded list
    """
    output, pace = Output(json), config.speed
    if recorded is not None:
        if beside := _given_beside_recorded(context):
            raise ConfigError(
                f'--recorded NAME plays a task as it was recorded: leave out {", ".join(beside)}.'
            )
        from bbllm_bench.commands.recorded_demo import show_recorded

        show_recorded(recorded, output)
        return
    if pace is None and (output.live or browser.browser) and not config.viewer:
        pace = WATCHED_SPEED
    own = EpisodeConfig.of({**config.given, 'scene': config.scene, 'speed': pace})
    if browser.browser:
        if ros or json:
            raise ConfigError(
                '--browser shows the arm of this process until Ctrl-C: leave --ros and '
                '--json out. For a stack: bbllm up sim --browser.'
            )
        show_in_browser(task, own, browser, output)
        return
    if browser.approval is not None:
        raise ConfigError('--approval is answered on the page: add --browser.')
    if ros:
        if {'sources', 'trouble'} & config.model_fields_set:
            raise ConfigError(
                '--sources and --trouble are for the table in this process: leave --ros out, or '
                'start a stack with its own sources.'
            )
        ran = _run_on_nodes(task, own, output)
    else:
        setup = make_setup(own, own.domain)
        # Not by bench.runner.recorded_runs, whose import takes a second.
        recordings = (config_dir() / 'recordings').glob('*.xz')
        if find_provider(setup.models.brain.name) and any(recordings):
            output.print(
                'No language model plans here. Tasks that one did are recorded: bbllm demo '
                '--recorded list.',
                style='yellow',
            )
        ran = run_here(make_task(task), setup, output)
    if task != TASK:
        finish(ran, output)
    from bbllm_bench.commands.plus_check import check_plus_sign

    passed, finding = check_plus_sign(ran)
    finish(ran, output, finding=finding, passed=passed)


def _given_beside_recorded(context: typer.Context) -> list[str]:
    """Return what of the command line a recorded task cannot follow."""
    return [
        param.opts[0] if param.opts[0].startswith('-') else 'TASK'
        for param in context.command.params
        if (name := param.name) not in ('recorded', 'json')
        and getattr(context.get_parameter_source(name or ''), 'name', '') == 'COMMANDLINE'
    ]


def _run_on_nodes(instruction: str, config: EpisodeConfig, output: Output) -> Ran:
    """Run the task on five nodes that are started for it, beside any stack that runs."""
    need_ros('bbllm demo --ros')
    task = make_task(instruction)
    from bbllm_ros.parameters.node_params import chosen_params
    from bbllm_ros.stack.session import StackSession
    from bbllm_ros.stack.stack import Stack, StackConfig
    from bbllm_ros.stack.stack_checks import check_params

    params = chosen_params(config)
    params['mujoco_sim']['speed'] = config.speed or 0.0
    check_params(('mujoco_sim', 'fr3_executor'), params, simulated=True)
    with Stack(StackConfig(params=params, namespace='bbllm_demo')) as stack:
        output.print(f'Starting five nodes; logs in {stack.log_folder}', style='dim')
        with stack.wait_ready() as client:
            session = StackSession(client, config.of_task)
            return run_on_stack(task, session, output, config.wall_limit_s)
