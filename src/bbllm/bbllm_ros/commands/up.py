"""`bbllm up`: starts the stack and ends it at Ctrl-C."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bbllm.api.ros_environment import choose_domain, need_ros
from bbllm.cli.support.options import (
    MODELS,
    BagOptions,
    CameraOptions,
    JsonOption,
    LimitOptions,
    ModelOptions,
    RecordOptions,
    RehearsalOptions,
    domain_option,
    loops_option,
    planner_option,
    scene_option,
    seed_option,
    uses_cameras,
    viewer_option,
)
from bbllm.cli.support.recording import Recording
from bbllm.cli.support.requests import flag, given, option
from bbllm.cli.views.output import Output
from bbllm.core.approval import ApprovalMode
from bbllm.core.constants import NAMESPACE, OpenStateMode, checked_namespace
from bbllm.core.paths import is_yaml_path
from bbllm_viewer.commands.browser import (
    BrowserOptions,
    check_packages,
    served,
    until_interrupted,
)

if TYPE_CHECKING:
    from bbllm_ros.stack.stack import Value


@dataclass(frozen=True, kw_only=True)
class UpRequest:
    """What `bbllm up` was asked for."""

    kind: Annotated[
        Literal['sim'],
        typer.Argument(
            help='sim: five nodes with the simulated arm. (A real arm: '
            'ros2 launch bbllm franka_real.launch.py.)'
        ),
    ] = 'sim'
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
    looking: CameraOptions
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
    rehearsal: RehearsalOptions
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
    one_process: bool = flag(
        'Run all nodes in one process: lighter, and faster to start. It gives up isolation: a '
        'node that crashes or hangs takes all others along.'
    )
    keep: BagOptions
    page: BrowserOptions
    json: JsonOption = False


def up(request: UpRequest) -> None:
    """
    Start the stack: five nodes, by default each in its own process; Ctrl-C ends them.

    Examples:
      bbllm up sim
      bbllm up sim --scene plus_sign --viewer
      bbllm up sim --speed 0 --brain MODEL
      bbllm up sim --approval plan
      bbllm up sim --rehearse
      bbllm up sim --approval plan --never 'touch the blue cube'
      bbllm up sim --open-state rules
      bbllm up sim --sources camera
      bbllm up sim --browser --approval plan
      bbllm up sim --menu
      bbllm up sim --one-process
      bbllm up sim --bag today.mcap
    """
    need_ros(f'bbllm up {request.kind}')
    choose_domain(request.domain)
    if request.page.browser:
        check_packages('bbllm up --browser')
    recording = Recording(request.keep.bag)
    if request.network:
        os.environ['BBLLM_NETWORK'] = 'true'
    from bbllm_ros.rclpy_support.domains import domain_of
    from bbllm_ros.stack.forked import fork_module, preload
    from bbllm_ros.stack.stack import Stack, StackConfig

    preload()
    from bbllm_ros.stack.stack_checks import check_params

    nodes, params = _nodes(request), _params(request)
    check_params(nodes, params, simulated=True)
    if request.clock:
        params['mujoco_sim']['clock'] = True
        params = {node: {**params.get(node, {}), 'use_sim_time': True} for node in nodes}
    output = Output(request.json)
    begun_s, ready = time.monotonic(), set[str]()
    config = StackConfig(
        nodes=nodes,
        params=params,
        namespace=request.namespace,
        respawn=request.respawn,
        one_process=request.one_process,
        start=fork_module,
        owner='bbllm up',
    )
    with Stack(config) as stack, ExitStack() as ending:

        def print_ready(missing: tuple[str, ...]) -> None:
            for node in nodes:
                if node not in missing and node not in ready:
                    ready.add(node)
                    output.print(f'  ready  {node:<16} {time.monotonic() - begun_s:4.1f} s')

        def tend() -> None:
            stack.tend(lambda line: output.print(line, 'yellow'))
            if trouble := recording.trouble():
                output.print(trouble, 'yellow')

        output.print(f'Starting {len(nodes)} nodes; logs in {stack.log_folder}', 'dim')
        client = ending.enter_context(stack.wait_ready(on_progress=print_ready))
        pace = f'{request.speed:g} times real time' if request.speed else 'as fast as it can'
        spent_s = time.monotonic() - begun_s
        output.print(
            f'The stack is ready after {spent_s:.1f} s; the simulation runs {pace}.', 'green'
        )
        ending.enter_context(recording.of(client))
        url = None
        if request.page.browser:
            from bbllm_ros.stack.console_desk import StackDesk

            desk = ending.enter_context(StackDesk(client))
            url = ending.enter_context(served(desk, request.page.page, output))
        elif request.keep.bag is None:
            client.close()
        if request.keep.bag is not None:
            output.print_path('bag', request.keep.bag)
        for line in _safety_lines(params['fr3_executor']):
            output.print(line, 'yellow')
        _print_hints(output, request)
        output.result(
            {
                'ready_s': round(spent_s, 2),
                'namespace': request.namespace,
                'domain': domain_of(os.environ),
                'nodes': list(nodes),
                'logs': str(stack.log_folder),
                **({'url': url} if url else {}),
                **({'bag': str(request.keep.bag)} if request.keep.bag else {}),
            }
        )
        # Raises LostNodeError with the end of its log when a node dies.
        until_interrupted(tend)
        output.print('Ending the nodes, the arm at rest first ...', 'dim')


def _safety_lines(executor: Mapping[str, Value]) -> tuple[str, ...]:
    from bbllm_ros.parameters.safety_params import NAMES, envelope_from
    from bbllm_ros.stack.stack_checks import node_values

    values = {**node_values('fr3_executor', simulated=True), **executor}
    rules = envelope_from(*(str(values[name]) for name in NAMES))
    return (*rules.boxes(), *map(str, rules.never))


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
    from bbllm_ros.stack.namespaced_files import view_file
    from bbllm_ros.stack.stack import SIMULATED_REMAPS

    words = ['rviz2', '-d', str(view_file(namespace)), '--ros-args']
    for old, new in SIMULATED_REMAPS:
        words += ['-r', f'{old}:=/{namespace}/{new}']
    return shlex.join(words)


def _nodes(request: UpRequest) -> tuple[str, ...]:
    """Return the nodes to start; raises UnknownNameError or ConfigError as `uses_cameras`."""
    from bbllm_ros.stack.stack import MENU, NODES, PERCEPTION

    perception = (PERCEPTION,) if uses_cameras(request.looking) else ()
    return (*NODES, *perception, *((MENU,) if request.menu else ()))


MODEL_PARAMS = {name: name for name in ('brain', 'body', 'llm_config', 'record', 'replay')}
OBJECTS = 'objects'
"""The default of the parameter sources of state_estimator."""
SCENE = 'tabletop'
"""The default of the parameter scene of mujoco_sim."""
PARAMS: dict[str, dict[str, str]] = {
    'mujoco_sim': {name: name for name in ('scene', 'speed', 'viewer', 'seed')},
    'brain_planner': {
        **MODEL_PARAMS,
        'planner': 'planner',
        'feedback_loops': 'k',
        'step_limit': 'limit_steps',
        'remark_limit': 'limit_remarks',
        'allow_circles': 'allow_circles',
    },
    'body_mapper': MODEL_PARAMS,
    'state_estimator': {
        'open_state': 'open_state',
        'llm_config': 'llm_config',
        'model': 'brain',
        'sources': 'sources',
    },
    'perception': {name: name for name in ('cameras', 'detector', 'detector_model', 'llm_config')},
    'fr3_executor': {name: name for name in ('approval', 'safety', 'never', 'keep_out')},
}
"""Which option each parameter of a node is."""


def _params(request: UpRequest) -> dict[str, dict[str, Value]]:
    """Return the parameters of each node that were chosen; files with their whole paths."""
    chosen = {name: _value(name, value) for name, value in given(request).items()}
    made = {
        node: {param: chosen[option] for param, option in params.items() if option in chosen}
        for node, params in PARAMS.items()
    }
    rehearsal = request.rehearsal
    if rehearsal.rehearse is not None or rehearsal.rehearsal_samples is not None:
        asks = request.approval is ApprovalMode.PLAN
        made['brain_planner']['rehearse'] = rehearsal.samples(default=asks)
    if chosen.get('sources', OBJECTS) != OBJECTS:
        # The simulator's file has the furniture and locations, which no detector reports.
        for node in ('state_estimator', 'perception'):
            made[node]['scene'] = chosen.get('scene', SCENE)
    return made


def _value(option: str, value: Any) -> Any:
    if isinstance(value, list):
        return '; '.join(value)
    # Names of models may contain a slash too.
    is_file = (option in ('scene', 'safety') and is_yaml_path(value)) or (
        option == 'detector_model' and Path(value).suffix == '.onnx'
    )
    if isinstance(value, Path) or is_file:
        return str(Path(value).expanduser().resolve())
    return value.value if isinstance(value, Enum) else value
