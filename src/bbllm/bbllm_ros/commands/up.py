"""`bbllm up`: starts the stack and ends it at Ctrl-C."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bbllm.api.config import (
    ArmAddress,
    ExperienceChoice,
    LimitChoice,
    LoopChoice,
    ModelChoice,
    PlannerChoice,
    RecordChoice,
    RuleChoice,
    SceneChoice,
    SeedChoice,
    SpeedChoice,
)
from bbllm.api.ros_environment import choose_domain, need_ros
from bbllm.api.settings import revised
from bbllm.cli.support.options import (
    JsonOption,
    RehearsalOptions,
    domain_option,
)
from bbllm.cli.support.requests import flag, option, spelled
from bbllm.cli.views.output import Output
from bbllm.core.approval import ApprovalMode
from bbllm.core.constants import NAMESPACE, REAL_NAMESPACE, checked_namespace
from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm_ros.parameters.node_params import (
    ApprovalChoice,
    CameraChoice,
    MujocoSimParams,
    SceneSourceChoice,
    chosen_params,
)
from bbllm_ros.parameters.scene_sources import SceneSource, parse_sources
from bbllm_viewer.commands.browser import (
    BrowserOptions,
    check_packages,
    served,
    until_interrupted,
)

if TYPE_CHECKING:
    from bbllm_ros.rclpy_support.params import Value


class UpConfig(
    LimitChoice,
    RuleChoice,
    RehearsalOptions,
    RecordChoice,
    ApprovalChoice,
    ExperienceChoice,
    LoopChoice,
    ModelChoice,
    PlannerChoice,
    CameraChoice,
    SceneSourceChoice,
    SeedChoice,
    SpeedChoice,
    SceneChoice,
    ArmAddress,
):
    """What the nodes are started with."""

    speed: float = revised(MujocoSimParams, 'speed')
    approval: ApprovalMode = revised(ApprovalChoice, 'approval', ApprovalMode.NONE)


@dataclass(frozen=True, kw_only=True)
class UpRequest:
    """What `bbllm up` was asked for."""

    kind: Annotated[
        Literal['sim', 'fr3', 'fci'],
        typer.Argument(
            help='sim: the simulated arm and the nodes that direct it. fr3: the same nodes with '
            'the robot at --ip, real or of `bbllm up fci`, over libfranka (with franka_ros2: ros2 '
            'launch bbllm franka_real.launch.py). fci: no nodes and no ROS, but the simulated '
            "table behind the robot's network protocol, for `bbllm up fr3` and other clients of "
            'libfranka.'
        ),
    ] = 'sim'
    config: UpConfig
    domain: int | None = domain_option()
    namespace: str | None = option(
        f'ROS namespace of the nodes: {NAMESPACE} by default, {REAL_NAMESPACE} with fr3.',
        callback=lambda text: text and checked_namespace(text),
    )
    network: bool = flag('Let other machines take part (docs/security.md).')
    clock: bool = flag('Publish /clock, and let every node use it (use_sim_time:=true).')
    respawn: bool = flag('Start a node that dies again; without it the stack ends with it.')
    one_process: bool = flag(
        'Run all nodes in one process: lighter, and faster to start. It gives up isolation: a '
        'node that crashes or hangs takes all others along.'
    )
    fault: str = option(
        'With fci: states and faults of the robot from the start on, separated by commas, such '
        'as hand_not_homed, joints_locked, no_hand or old_system.',
        default='',
    )
    page: BrowserOptions
    json: JsonOption = False


def up(request: UpRequest) -> None:
    """
    Start the nodes that do tasks, or a simulated robot for them; Ctrl-C ends it.

    The five nodes of sim and fr3 run in processes of their own, unless --one-process is given.

    Examples:
      bbllm up sim
      bbllm up sim --scene plus_sign --viewer
      bbllm up sim --speed 0 --brain MODEL
      bbllm up sim --approval plan
      bbllm up sim --rehearse
      bbllm up sim --approval plan --never 'touch the blue cube'
      bbllm up sim --sources camera
      bbllm up sim --browser --approval plan
      bbllm up sim --one-process
      bbllm up fr3 --ip 172.16.0.2 --scene my_table.yaml
      bbllm up fci --scene tabletop --speed 0.25
    """
    if request.kind == 'fci':
        _serve_fci(request)
        return
    request = _checked(request)
    need_ros(f'bbllm up {request.kind}')
    choose_domain(request.domain)
    if request.page.browser:
        check_packages('bbllm up --browser')
    if request.network:
        os.environ['BBLLM_NETWORK'] = 'true'
    from bbllm_ros.rclpy_support.domains import domain_of
    from bbllm_ros.stack.forked import fork_module, preload
    from bbllm_ros.stack.stack import Stack, StackConfig

    preload()
    from bbllm_ros.stack.stack_checks import check_params

    nodes, params = _nodes(request), _params(request)
    simulated = request.kind == 'sim'
    check_params(nodes, params, simulated=simulated)
    if request.clock:
        params['mujoco_sim']['clock'] = True
        params = {node: {**params.get(node, {}), 'use_sim_time': True} for node in nodes}
    output = Output(request.json)
    begun_s, ready = time.monotonic(), set[str]()
    config = StackConfig(
        nodes=nodes,
        params=params,
        namespace=request.namespace or '',
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

        output.print(f'Starting {len(nodes)} nodes; logs in {stack.log_folder}', 'dim')
        client = ending.enter_context(stack.wait_ready(on_progress=print_ready))
        spent_s = time.monotonic() - begun_s
        output.print(f'The stack is ready after {spent_s:.1f} s; {_robot(request)}.', 'green')
        url = None
        if request.page.browser:
            from bbllm_ros.stack.session import StackSession
            from bbllm_viewer.console.session_desk import SessionDesk

            desk = ending.enter_context(SessionDesk(StackSession(client)))
            url = ending.enter_context(served(desk, request.page.page, output))
        else:
            client.close()
        for line in _safety_lines(params['fr3_executor'], simulated=simulated):
            output.print(line, 'yellow')
        _print_hints(output, request)
        output.result(
            {
                'ready_s': round(spent_s, 2),
                'namespace': config.namespace,
                'domain': domain_of(os.environ),
                'nodes': list(nodes),
                'logs': str(stack.log_folder),
                **({'url': url} if url else {}),
            }
        )
        # Raises LostNodeError with the end of its log when a node dies.
        until_interrupted(tend)
        output.print('Ending the nodes, the arm at rest first ...', 'dim')


def _serve_fci(request: UpRequest) -> None:
    from bbllm_fci.serving import LOCAL, serve

    config, spell = request.config, spelled(UpConfig)
    if names := [spell(name) for name in config.model_fields_set - {'scene', 'speed', 'ip'}]:
        raise ConfigError(f'{", ".join(sorted(names))}: without effect on `bbllm up fci`.')
    faults = [name.strip() for name in request.fault.split(',') if name.strip()]
    serve(config.scene, config.ip or LOCAL, config.speed, Output(request.json), faults)


def _checked(request: UpRequest) -> UpRequest:
    """
    Return a request with what follows from a robot.

    Raises ConfigError where options of a simulation and of a robot are mixed, or one is missing.
    """
    config, spell = request.config, spelled(UpConfig)
    given = config.model_fields_set
    if request.fault:
        raise ConfigError('--fault: only with `bbllm up fci`.')
    if request.kind == 'sim':
        if names := [spell(name) for name in ArmAddress.model_fields if name in given]:
            raise ConfigError(f'{", ".join(names)}: only with `bbllm up fr3`.')
        return request
    if not config.ip:
        raise ConfigError(
            "bbllm up fr3 needs the address of the robot's control, which Desk shows under "
            'Settings > Network: bbllm up fr3 --ip 172.16.0.2.'
        )
    from bbllm_franka.libraries import need_libraries

    mixed = [spell(name) for name in ('speed', 'seed', 'viewer') if name in given]
    if names := [*mixed, *(['--clock'] if request.clock else [])]:
        raise ConfigError(f'{", ".join(names)}: only with a simulation, `bbllm up sim`.')
    need_libraries()
    if 'sources' in given:
        return request
    if 'scene' not in given:
        raise ConfigError(
            'Where are the objects? State a scene file with the positions that you measured, '
            '--scene my_table.yaml (docs/scene-files.md), or what reports them, such as '
            '--sources camera (docs/perception.md).'
        )
    static = config.model_copy(update={'sources': SceneSource.STATIC.value})
    return replace(request, config=static)


def _robot(request: UpRequest) -> str:
    if request.kind == 'fr3':
        what = 'a simulated robot' if request.config.simulated_robot else 'A REAL ROBOT'
        return f'it moves {what} at {request.config.ip}'
    speed = request.config.speed
    return f'the simulation runs {f"{speed:g} times real time" if speed else "as fast as it can"}'


def _approval(request: UpRequest) -> ApprovalMode:
    """Return who allows motions: for a robot a person, unless another mode was chosen."""
    if request.kind == 'fr3' and 'approval' not in request.config.model_fields_set:
        return ApprovalMode.PLAN
    return request.config.approval


def _safety_lines(executor: Mapping[str, Value], *, simulated: bool) -> tuple[str, ...]:
    from bbllm_ros.stack.stack_checks import node_values

    values = {**node_values('fr3_executor', simulated=simulated), **executor}
    chosen = {name: values[name] for name in RuleChoice.model_fields if name in values}
    rules = RuleChoice.of(chosen).envelope
    return (*rules.boxes(), *map(str, rules.never))


def _print_hints(output: Output, request: UpRequest) -> None:
    domain = request.domain
    where = '' if domain is None else f' --domain {domain}'
    hints = [
        ("run 'put the red cube on location_B'", ''),
        ("say 'leave the green cube where it is'", 'while a task runs'),
    ]
    if _approval(request) is not ApprovalMode.NONE:
        hints.append(('approve --watch', 'asks you before the arm moves'))
    hints.append(('doctor', 'what the nodes exchange'))
    output.print()
    output.print('In another terminal (. ./activate there first):')
    for verb, what in hints:
        output.print(f'  {f"bbllm {verb}{where}":<{47 + len(where)}} {what}'.rstrip())
    output.print()
    output.print('Ctrl-C here ends all nodes.')


CAMERA_NAMES = tuple(CameraChoice.model_fields)


def _uses_cameras(config: UpConfig, *, simulated: bool) -> bool:
    """
    Return whether pictures are a source of scenes.

    Raises UnknownNameError for another source or a camera that the simulator does not have,
    ConfigError for options that are without effect.
    """
    if SceneSource.CAMERA in parse_sources(config.sources):
        if simulated:
            _check_cameras(config.cameras)
        return True
    spell = spelled(UpConfig)
    if names := [spell(name) for name in CAMERA_NAMES if name in config.model_fields_set]:
        raise ConfigError(f'{", ".join(names)}: only with --sources camera.')
    return False


def _check_cameras(names: str) -> None:
    from bbllm.sim.camera_settings import HAND_CAMERA, TABLE_CAMERA

    known = (TABLE_CAMERA.name, HAND_CAMERA.name)
    for name in map(str.strip, names.split(',')):
        # A name with a leading slash is that of a camera beside the simulation.
        if name and not name.startswith('/') and name not in known:
            raise UnknownNameError('simulated camera', name, known)


def _nodes(request: UpRequest) -> tuple[str, ...]:
    """Return the nodes to start; raises UnknownNameError or ConfigError as `_uses_cameras`."""
    from bbllm_ros.stack.stack import DIRECT_NODES, NODES, PERCEPTION

    simulated = request.kind == 'sim'
    nodes = NODES if simulated else DIRECT_NODES
    return (*nodes, PERCEPTION) if _uses_cameras(request.config, simulated=simulated) else nodes


def _params(request: UpRequest) -> dict[str, dict[str, Value]]:
    """Return the parameters of each node that were chosen."""
    config, approval = request.config, _approval(request)
    made = chosen_params(config)
    made['mujoco_sim']['speed'] = config.speed
    made['fr3_executor']['approval'] = approval.value
    if {'rehearse', 'rehearsal_samples'} & config.model_fields_set:
        asks = approval is ApprovalMode.PLAN
        made['brain_planner']['rehearse'] = config.samples(approved=asks)
    if config.sources != SceneSourceChoice().sources:
        # The simulator's file has the furniture and locations, which no detector reports.
        scene = made['mujoco_sim'].get('scene', config.scene)
        if request.kind == 'sim' or 'scene' in config.model_fields_set:
            for node in ('state_estimator', 'perception'):
                made[node]['scene'] = scene
    return made
