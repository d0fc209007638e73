"""`bbllm up`: starts the stack and ends it at Ctrl-C."""

from __future__ import annotations

import os
import shlex
import time
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bbllm.api.ros_environment import choose_domain, need_ros
from bbllm.cli.support.options import (
    MODELS,
    LimitOptions,
    ModelOptions,
    RecordOptions,
    domain_option,
    loops_option,
    planner_option,
    scene_option,
    seed_option,
    viewer_option,
)
from bbllm.cli.support.requests import flag, option
from bbllm.cli.support.supervision import interrupts
from bbllm.cli.views.output import Output
from bbllm.core.approval import ApprovalMode
from bbllm.core.constants import NAMESPACE, OpenStateMode, checked_namespace
from bbllm.core.paths import is_yaml_path

if TYPE_CHECKING:
    from bbllm.ros.stack.stack import Value

POLL_S = 0.2


class StackKind(str, Enum):
    """Which stack to start."""

    sim = 'sim'


@dataclass(frozen=True, kw_only=True)
class UpRequest:
    """What `bbllm up` was asked for."""

    kind: Annotated[
        StackKind,
        typer.Argument(
            help='sim: five nodes with the simulated arm. (A real arm: '
            'ros2 launch bbllm franka_real.launch.py.)'
        ),
    ] = StackKind.sim
    scene: str | None = scene_option()
    speed: float = option(
        'Simulated seconds per second; 0 is as fast as it can.',
        default=1.0,
        metavar='X',
        min=0.0,
        max=100.0,
    )
    viewer: bool = viewer_option()
    seed: int | None = seed_option()
    domain: int | None = domain_option()
    namespace: str = option(
        'Where the names of the nodes lie.', default=NAMESPACE, callback=checked_namespace
    )
    network: bool = flag('Let other machines take part (docs/security.md).')
    planner: str | None = planner_option()
    k: int | None = loops_option()
    models: ModelOptions
    recording: RecordOptions
    limits: LimitOptions
    approval: ApprovalMode = option(
        'What a person has to approve before it moves (`bbllm approve`): every plan, every '
        'single call (step), or only calls that are risky.',
        default=ApprovalMode.NONE,
    )
    open_state: OpenStateMode = option(
        'Who adds to scenes what is believed of things by what was done to them; model: that '
        'of the Brain (docs/design/open-state.md).',
        default=OpenStateMode.OFF,
        panel=MODELS,
    )
    menu: bool = flag('Serve the menus of rviz as well (docs/rviz.md).')
    clock: bool = flag('Publish /clock, and let every node use it (use_sim_time:=true).')
    respawn: bool = flag('Start a node that dies again; without it the stack ends with it.')


def up(request: UpRequest) -> None:
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
    need_ros(f'bbllm up {request.kind.value}')
    choose_domain(request.domain)
    if request.network:
        os.environ['BBLLM_NETWORK'] = 'true'
    from bbllm.ros.stack.stack import NODES, OPTIONAL_NODES, Stack, StackConfig
    from bbllm.ros.stack.stack_checks import check_params

    nodes = (*NODES, *OPTIONAL_NODES) if request.menu else NODES
    params = _params(request)
    check_params(nodes, params, simulated=True)
    if request.clock:
        params['mujoco_sim']['clock'] = True
        params = {node: {**params.get(node, {}), 'use_sim_time': True} for node in nodes}
    output = Output()
    begun_s, ready = time.monotonic(), set[str]()
    config = StackConfig(
        nodes=nodes, params=params, namespace=request.namespace, respawn=request.respawn
    )
    with Stack(config) as stack:

        def print_ready(missing: tuple[str, ...]) -> None:
            for node in stack.processes:
                if node not in missing and node not in ready:
                    ready.add(node)
                    output.print(f'  ready  {node:<16} {time.monotonic() - begun_s:4.1f} s')

        output.print(f'Starting {len(stack.processes)} nodes; logs in {stack.log_folder}', 'dim')
        stack.wait_ready(on_progress=print_ready).close()
        pace = f'{request.speed:g} times real time' if request.speed else 'as fast as it can'
        spent_s = time.monotonic() - begun_s
        output.print(
            f'The stack is ready after {spent_s:.1f} s; the simulation runs {pace}.', 'green'
        )
        _print_hints(output, request)
        with interrupts() as counter:
            # Raises LostNodeError with the end of its log when a node dies.
            while not counter.count:
                stack.tend(lambda sentence: output.print(sentence, 'yellow'))
                time.sleep(POLL_S)
        output.print('Ending the nodes, the arm at rest first ...', 'dim')


def _print_hints(output: Output, request: UpRequest) -> None:
    domain = request.domain
    where = '' if domain is None else f' --domain {domain}'
    hints = [
        ("run 'put the red cube on location_B'", ''),
        ("say 'leave the green cube where it is'", 'while a task runs'),
    ]
    if request.approval is not ApprovalMode.NONE:
        hints.append(('approve --watch', 'asks you before the arm moves'))
    if request.open_state is not OpenStateMode.OFF:
        hints.append(('forget', 'when the objects were rearranged'))
    hints.append(('doctor', 'what the nodes exchange'))
    output.print()
    output.print('In another terminal (. ./activate there first):')
    for verb, what in hints:
        output.print(f'  {f"bbllm {verb}{where}":<{47 + len(where)}} {what}'.rstrip())
    if request.menu:
        there = '' if domain is None else f'ROS_DOMAIN_ID={domain} '
        output.print_line(f'  {there}{_rviz(request.namespace)}')
    output.print()
    output.print('Ctrl-C here ends all nodes.')


def _rviz(namespace: str) -> str:
    from bbllm.ros.stack.namespaced_files import view_file
    from bbllm.ros.stack.stack import SIMULATED_REMAPS

    words = ['rviz2', '-d', str(view_file(namespace)), '--ros-args']
    for old, new in SIMULATED_REMAPS:
        words += ['-r', f'{old}:=/{namespace}/{new}']
    return shlex.join(words)


def _params(request: UpRequest) -> dict[str, dict[str, Value]]:
    """Return the parameters of each node that were chosen; files with their whole paths."""
    chosen, recording, limits = request.models, request.recording, request.limits
    models = {
        'brain': chosen.brain,
        'body': chosen.body,
        'llm_config': chosen.llm_config,
        'record': recording.record,
        'replay': recording.replay,
    }
    params: dict[str, dict[str, Value | Path | None]] = {
        'mujoco_sim': {
            'scene': _file(request.scene),
            'speed': request.speed,
            'viewer': request.viewer,
            'seed': request.seed,
        },
        'brain_planner': {
            **models,
            'planner': request.planner,
            'feedback_loops': request.k,
            'step_limit': limits.limit_steps,
        },
        'body_mapper': {**models},
        'state_estimator': {
            'open_state': request.open_state.value,
            'llm_config': chosen.llm_config,
            'model': chosen.brain,
        },
        'fr3_executor': {'approval': request.approval.value, 'safety': _file(limits.safety)},
    }
    return {
        node: {name: _value(value) for name, value in values.items() if value is not None}
        for node, values in params.items()
    }


def _file(name: str | None) -> str | Path | None:
    """Return the path of a file where one is named; names of models may contain a / too."""
    return Path(name) if name is not None and is_yaml_path(name) else name


def _value(value: Value | Path) -> Value:
    return str(value.expanduser().resolve()) if isinstance(value, Path) else value
