"""`bbllm up`: starts the stack and ends it at Ctrl-C."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bbllm.cli.support.choices import (
    ApprovalOption,
    BodyOption,
    BrainOption,
    DomainOption,
    LlmConfigOption,
    LoopsOption,
    OpenStateOption,
    PlannerOption,
    RecordOption,
    ReplayOption,
    SafetyOption,
    SceneOption,
    SeedOption,
    StepsOption,
    ViewerOption,
)
from bbllm.cli.support.ros import choose_domain, need_ros
from bbllm.cli.support.supervision import interrupts
from bbllm.cli.views.output import Output
from bbllm.core.approval import ApprovalMode
from bbllm.core.namespaces import NAMESPACE, checked_namespace
from bbllm.core.open_state_mode import OpenStateMode
from bbllm.core.paths import is_yaml_path

if TYPE_CHECKING:
    from bbllm.ros.stack.stack import Stack, Value

LOOK_S = 0.2


class StackKind(str, Enum):
    """Which stack to start."""

    sim = 'sim'


def up(
    kind: Annotated[
        StackKind,
        typer.Argument(
            help='sim: five nodes with the simulated arm. (A real arm: '
            'ros2 launch bbllm franka_real.launch.py.)'
        ),
    ] = StackKind.sim,
    scene: SceneOption = None,
    speed: Annotated[
        float,
        typer.Option(
            '--speed',
            metavar='X',
            min=0.0,
            max=100.0,
            help='Simulated seconds per second; 0 is as fast as it can.',
        ),
    ] = 1.0,
    viewer: ViewerOption = False,
    seed: SeedOption = None,
    domain: DomainOption = None,
    namespace: Annotated[
        str,
        typer.Option(
            '--namespace',
            metavar='NAME',
            callback=checked_namespace,
            help='Where the names of the nodes lie.',
        ),
    ] = NAMESPACE,
    network: Annotated[
        bool,
        typer.Option('--network', help='Let other machines take part (docs/security.md).'),
    ] = False,
    planner: PlannerOption = None,
    feedback_loops: LoopsOption = None,
    brain: BrainOption = None,
    body: BodyOption = None,
    llm_config: LlmConfigOption = None,
    record: RecordOption = None,
    replay: ReplayOption = None,
    limit_steps: StepsOption = None,
    approval: ApprovalOption = ApprovalMode.NONE,
    safety: SafetyOption = None,
    open_state: OpenStateOption = OpenStateMode.OFF,
    menu: Annotated[
        bool, typer.Option('--menu', help='Serve the menus of rviz as well (docs/rviz.md).')
    ] = False,
    clock: Annotated[
        bool,
        typer.Option(
            '--clock', help='Publish /clock, and let every node use it (use_sim_time:=true).'
        ),
    ] = False,
    respawn: Annotated[
        bool,
        typer.Option(
            '--respawn', help='Start a node that dies again; without it the stack ends with it.'
        ),
    ] = False,
) -> None:
    """
    Start the stack: five nodes, each in its own process; Ctrl-C ends them.

    [bold]Examples[/bold]

      bbllm up sim
      bbllm up sim --scene plus_sign --viewer
      bbllm up sim --speed 0 --brain gpt-4o
      bbllm up sim --approval plan
      bbllm up sim --open-state rules
      bbllm up sim --menu
    """
    need_ros(f'bbllm up {kind.value}')
    choose_domain(domain)
    if network:
        os.environ['BBLLM_NETWORK'] = 'true'
    from bbllm.ros.stack.stack import NODES, OPTIONAL_NODES, Stack, StackConfig
    from bbllm.ros.stack.stack_checks import check_params

    models = _given(
        {
            'brain': brain,
            'body': body,
            'llm_config': _path(llm_config),
            'record': _path(record),
            'replay': _path(replay),
        }
    )
    believing = _given({'llm_config': _path(llm_config), 'model': brain})
    asked = {'planner': planner, 'feedback_loops': feedback_loops, 'step_limit': limit_steps}
    shown = {'scene': _file(scene), 'speed': speed, 'viewer': viewer, 'seed': seed}
    params = {
        'mujoco_sim': _given(shown),
        'brain_planner': {**models, **_given(asked)},
        'body_mapper': models,
        'state_estimator': {'open_state': open_state.value, **believing},
        'fr3_executor': {'approval': approval.value, **_given({'safety': _file(safety)})},
    }
    nodes = (*NODES, *OPTIONAL_NODES) if menu else NODES
    check_params(nodes, params, simulated=True)
    if clock:
        params['mujoco_sim']['clock'] = True
        params = {node: {**params.get(node, {}), 'use_sim_time': True} for node in nodes}
    output = Output()
    begun_s = time.monotonic()
    config = StackConfig(nodes=nodes, params=params, namespace=namespace, respawn=respawn)
    with Stack(config) as stack:
        output.say(f'Starting {len(stack.processes)} nodes; logs in {stack.log_folder}', 'dim')
        stack.wait_ready(on_progress=_teller(stack, output, begun_s)).close()
        _tell_ready(output, time.monotonic() - begun_s, speed)
        _tell_verbs(output, approval, open_state, domain, _rviz(namespace) if menu else '')
        _wait_for_the_end(stack, output)
        output.say('Ending the nodes, the arm at rest first ...', 'dim')


def _teller(stack: Stack, output: Output, begun_s: float) -> Callable[[tuple[str, ...]], None]:
    """Return what prints a line for each node when it is ready."""
    ready: set[str] = set()

    def tell(missing: tuple[str, ...]) -> None:
        for node in stack.processes:
            if node not in missing and node not in ready:
                ready.add(node)
                output.say(f'  ready  {node:<16} {time.monotonic() - begun_s:4.1f} s')

    return tell


def _tell_ready(output: Output, spent_s: float, speed: float) -> None:
    pace = f'{speed:g} times real time' if speed else 'as fast as it can'
    output.say(f'The stack is ready after {spent_s:.1f} s; the simulation runs {pace}.', 'green')


def _tell_verbs(
    output: Output,
    approval: ApprovalMode,
    open_state: OpenStateMode,
    domain: int | None,
    rviz: str,
) -> None:
    where = '' if domain is None else f' --domain {domain}'
    hints = [
        ("run 'put the red cube on location_B'", ''),
        ("say 'leave the green cube where it is'", 'while a task runs'),
    ]
    if approval is not ApprovalMode.NONE:
        hints.append(('approve --watch', 'asks you before the arm moves'))
    if open_state is not OpenStateMode.OFF:
        hints.append(('forget', 'when the objects were rearranged'))
    hints.append(('doctor', 'what the nodes exchange'))
    output.say()
    output.say('In another terminal (. ./activate there first):')
    for verb, what in hints:
        output.say(f'  {f"bbllm {verb}{where}":<{47 + len(where)}} {what}'.rstrip())
    if rviz:
        output.say_line(f'  {"" if domain is None else f"ROS_DOMAIN_ID={domain} "}{rviz}')
    output.say()
    output.say('Ctrl-C here ends all nodes.')


def _wait_for_the_end(stack: Stack, output: Output) -> None:
    """Return at Ctrl-C; raises LostNodeError with the end of its log when a node dies."""
    with interrupts() as counter:
        while not counter.count:
            stack.tend(lambda sentence: output.say(sentence, 'yellow'))
            time.sleep(LOOK_S)


def _rviz(namespace: str) -> str:
    from bbllm.ros.stack.namespaced_files import view_file
    from bbllm.ros.stack.stack import SIMULATED_REMAPS

    words = ['rviz2', '-d', str(view_file(namespace)), '--ros-args']
    for old, new in SIMULATED_REMAPS:
        words += ['-r', f'{old}:=/{namespace}/{new}']
    return shlex.join(words)


def _given(values: Mapping[str, Value | None]) -> dict[str, Value]:
    return {name: value for name, value in values.items() if value is not None}


def _path(path: Path | None) -> str | None:
    return None if path is None else str(path.expanduser().resolve())


def _file(name: str | None) -> str | None:
    """Return a name as it is, and a file with its whole path: nodes may look from elsewhere."""
    if name is not None and is_yaml_path(name):
        return _path(Path(name))
    return name
