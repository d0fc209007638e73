"""Checks of `bbllm doctor --real`: of this machine, the driver, the hand and fr3_executor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bbllm.api.config import RuleChoice
from bbllm.api.ros_environment import missing_ros
from bbllm.arm.driver import RobotMode
from bbllm.core.constants import REAL_NAMESPACE, SLOW
from bbllm.core.errors import BbllmError
from bbllm.core.findings import Finding, Level, fail, ok, there, warn
from bbllm_franka.address import ROBOT_IP
from bbllm_franka.checks.computer import (
    check_governor,
    check_kernel,
    check_limits,
    check_network,
)
from bbllm_franka.checks.mode import judge_mode
from bbllm_ros.checks.machine import check_middleware, joins, judge_cameras

if TYPE_CHECKING:
    from bbllm_ros.driver.robot_graph import RobotGraph

HARDWARE = 'FrankaHardwareInterface'
CONTROLLERS = ('joint_state_broadcaster', 'franka_robot_state_broadcaster', 'fr3_arm_controller')
STATE = 'franka_robot_state_broadcaster'
RELIABLE = ('franka/joint_states', f'{STATE}/robot_state')
LATCHED = ('controller_manager/activity', 'robot_description')
BEST_EFFORT = tuple(
    f'{STATE}/{name}'
    for name in (
        'current_pose',
        'last_desired_pose',
        'desired_end_effector_twist',
        'measured_joint_states',
        'desired_joint_states',
        'external_joint_torques',
        'external_wrench_in_base_frame',
        'external_wrench_in_stiffness_frame',
    )
)
"""Since franka_ros2 3.3.0."""
HAND = ('homing', 'move', 'grasp', 'gripper_action', 'stop')
"""Actions of the hand, and the service `stop`."""
RECOVERY = (
    'action_server/error_recovery',
    'service_server/set_force_torque_collision_behavior',
    'service_server/set_full_collision_behavior',
    'service_server/set_load',
)
LEAST_RATE_HZ = 20.0
LEAST_SUCCESS = 0.95
NODES = ('brain_planner', 'body_mapper', 'state_estimator', 'fr3_executor')
MESSAGES = ('franka_msgs', 'control_msgs', 'controller_manager_msgs')
DRIVER = (
    'franka_bringup',
    'franka_hardware',
    'franka_gripper',
    'franka_robot_state_broadcaster',
    'controller_manager',
    'joint_trajectory_controller',
    'joint_state_broadcaster',
)
DOCS = 'docs/real-arm.md'


@dataclass(frozen=True, slots=True, kw_only=True)
class RealArm:
    """The robot to check, and the lines that start its driver and its nodes."""

    robot_ip: str = ROBOT_IP
    namespace: str = REAL_NAMESPACE
    gripper: str = 'franka_gripper'

    @property
    def start_driver(self) -> str:
        return self._launch(f'franka_real.launch.py robot_ip:={self.robot_ip}')

    @property
    def start_nodes(self) -> str:
        return self._launch('franka_nodes.launch.py')

    def _launch(self, file: str) -> str:
        space = '' if self.namespace == REAL_NAMESPACE else f' namespace:={self.namespace}'
        return f'ros2 launch bbllm {file}{space}'


def check_real_arm(arm: RealArm, on_progress: Callable[[str], None]) -> Iterator[Finding]:
    """Yield the findings as they are made; `on_progress` is called with what is checked next."""
    graph = _graph(arm, on_progress)
    found = None if isinstance(graph, Finding) else graph
    if found is not None and found.simulated:
        yield ok('network', 'not measured: mujoco_sim stands for the robot')
    else:
        on_progress(f'sending packets to {arm.robot_ip}')
        yield check_network(arm.robot_ip)
        yield ok(
            'cycle',
            "the driver's own cycle cannot be measured from here; the robot counts its losses in "
            'control_command_success_rate (below) while a controller runs',
        )
    yield check_kernel()
    yield check_limits()
    yield check_governor()
    yield from check_messages()
    yield check_driver_packages()
    executor = None if found is None else found.executor
    shown = {'safety': SLOW} if executor is None else executor
    yield check_safety({name: shown.get(name) for name in RuleChoice.model_fields})
    yield check_middleware(fail)
    yield from [graph] if isinstance(graph, Finding) else judge_graph(graph, arm)


def _graph(arm: RealArm, on_progress: Callable[[str], None]) -> RobotGraph | Finding:
    """Return what the graph contains, or why it cannot be read."""
    on_progress('trying the middleware')
    if reason := missing_ros() or joins():
        return fail('graph', reason, 'make setup, then . ./activate')
    from bbllm_ros.driver.real_probe import probe

    try:
        return probe(arm.namespace, arm.gripper, on_progress)
    except (BbllmError, RuntimeError, ImportError) as error:  # rcl's own are RuntimeErrors
        return fail('graph', f'cannot be read: {error}', 'bbllm doctor')


def check_messages(prefixes: list[Path] | None = None) -> Iterator[Finding]:
    from bbllm_ros.parameters.real_arguments import package_of

    found = {name: package_of(name, prefixes) for name in MESSAGES}
    missing = [name for name, about in found.items() if about is None]
    if missing:
        yield fail('messages', f'missing: {", ".join(missing)}', 'make setup')
    own = [name for name, about in found.items() if about and 'bbllm' in about[1]]
    others = [f'{name} {about[0]}' for name, about in found.items() if about and name not in own]
    if others:
        yield ok('messages', f"the driver's own: {', '.join(others)}")
    if own:
        text = f'stand-ins of bbllm, field by field the same: {", ".join(own)}'
        if package_of('franka_bringup', prefixes) is not None:
            yield warn('messages', text, 'With the driver sourced: make clean, make setup.')
        else:
            yield ok('messages', text)


def check_driver_packages(prefixes: list[Path] | None = None) -> Finding:
    from bbllm_ros.parameters.real_arguments import package_of

    found = {name: package_of(name, prefixes) for name in DRIVER}
    missing = [name for name, about in found.items() if about is None]
    versions = ', '.join(f'{name} {about[0]}' for name, about in found.items() if about)
    if not missing:
        library = package_of('libfranka', prefixes)
        more = f', libfranka {library[0]}' if library else ''
        return ok('driver', f'installed: {versions}{more}')
    remedy = f'Needed where the driver is started, see {DOCS}; it may run in a container.'
    return warn('driver', f'not in this shell: {", ".join(missing)}', remedy)


def check_safety(values: Mapping[str, object]) -> Finding:
    """Check safety rules, by the names of `RuleChoice`; None for one that was not chosen."""
    try:
        chosen = RuleChoice.of(values)
        rules = chosen.envelope
    except BbllmError as error:
        return fail('safety', str(error), 'Mend the file; see config/safety.yaml.')
    force = rules.contact_force
    stops = f'stops at {force.max_n:g} N from outside' if force else 'contacts as the robot is set'
    text = (
        f'{chosen.safety or "config/safety.yaml"}: tool {rules.tcp_speed.max_m_s:g} m/s, joints '
        f'{rules.joint_speed.max_share * 100:g} %, grip {rules.grip_force.max_n:g} N, '
        f'{stops}, table at {rules.table_height.top_m:g} m'
        + ''.join(f'; {line}' for line in (*rules.boxes(), *rules.never))
    )
    fast = rules.tcp_speed.max_m_s > 0.25
    return ok('safety', text, 'For first days: safety:=safety_slow (0.25 m/s).' if fast else '')


def judge_graph(graph: RobotGraph, arm: RealArm) -> Iterator[Finding]:
    if graph.simulated:
        yield ok('robot', 'simulated: mujoco_sim stands for the driver')
    parts = ('controller_manager/', 'franka/', f'{STATE}/', 'action_server/', 'service_server/')
    named = {*graph.services, *graph.actions, *graph.topics}
    driven = any(name.startswith((*parts, f'{arm.gripper}/')) for name in named)
    yield _manager(graph, arm, driven)
    if driven:
        yield _hardware(graph, arm)
        yield from _controllers(graph, arm)
        yield there('recovery', RECOVERY, named, arm.start_driver)
        yield from _topics(graph, arm)
        yield _joints(graph, arm)
        yield _mode(graph, arm)
        yield from _hand(graph, arm)
    start = arm.start_nodes if driven else 'The line above starts these too.'
    yield there('nodes', NODES, graph.nodes, start)
    if graph.executor is not None or 'fr3_executor' in graph.nodes:
        yield _approval(graph, arm)
    yield from judge_cameras(graph.cameras, fail)


def _manager(graph: RobotGraph, arm: RealArm, driven: bool) -> Finding:
    name = f'/{arm.namespace}/controller_manager'
    if graph.controllers is not None:
        return ok('manager', f'{name} answers')
    text = f'{name} does not answer'
    if not driven:
        text += ', and nothing else of a driver is there: neither arm nor robot state nor hand'
    asked = '/controller_manager/list_controllers'
    found = sorted(name for name in graph.services if name[:1] == '/' and name.endswith(asked))
    if found:
        elsewhere = ', '.join(name.removesuffix('/list_controllers') for name in found)
        text += f'; there is {elsewhere}: --namespace'
    return fail('manager', text, arm.start_driver)


def _hardware(graph: RobotGraph, arm: RealArm) -> Finding:
    states = graph.hardware or {}
    found = {name: state for name, state in states.items() if name.endswith(HARDWARE)}
    if not found:
        return fail('hardware', f'no component {HARDWARE} is known', arm.start_driver)
    text = ', '.join(f'{name} is {state}' for name, state in found.items())
    if set(found.values()) == {'active'}:
        return ok('hardware', text)
    remedy = (
        'The robot has stopped: see its mode below. The next call recovers it, or by hand: '
        'error_recovery, then set_hardware_component_state.'
    )
    return fail('hardware', text, remedy)


def _controllers(graph: RobotGraph, arm: RealArm) -> Iterator[Finding]:
    if graph.controllers is None:
        yield fail('control', f'not known: {", ".join(CONTROLLERS)}', arm.start_driver)
        return
    manager = f'-c /{arm.namespace}/controller_manager'
    for name in CONTROLLERS:
        state = graph.controllers.get(name, 'not loaded')
        start = 'run controller_manager spawner'
        if state != 'not loaded':
            start = 'control switch_controllers --activate'
        judge = ok if state == 'active' else fail
        remedy = '' if state == 'active' else f'ros2 {start} {name} {manager}'
        yield judge('control', f'{name} is {state}', remedy)


def _topics(graph: RobotGraph, arm: RealArm) -> Iterator[Finding]:
    right = 0
    for names, judge in (((*RELIABLE, *LATCHED), fail), (BEST_EFFORT, warn)):
        if missing := [name for name in names if name not in graph.topics]:
            yield judge('topics', f'nobody publishes {", ".join(missing)}', arm.start_driver)
        for name in names:
            for giver in graph.topics.get(name, ()):
                wanted = (name not in BEST_EFFORT, name in LATCHED)
                sent = (giver.reliable, giver.latched and name in LATCHED)
                if sent == wanted:
                    right += 1
                    continue
                text = f'{name}: {_quality(*sent)} from {giver.node}; '
                text += f'franka_ros2 since 3.3.0 sends it {_quality(*wanted)}'
                remedy = 'Another driver? Subscribers may get nothing, or nothing from before.'
                yield judge('qos', text, remedy)
    if right:
        yield ok('qos', f'{right} topics of the driver are sent as expected')


def _quality(reliable: bool, latched: bool) -> str:
    return ('reliable' if reliable else 'best effort') + (', latched' if latched else '')


def _joints(graph: RobotGraph, arm: RealArm) -> Finding:
    from bbllm.robots.fr3 import FR3

    topic, received = 'franka/joint_states', graph.arm
    if received is None:
        return fail('joints', f'nothing came on {topic}', arm.start_driver)
    if missing := [name for name in FR3.joints if name not in received.names]:
        text = f'{topic} lacks {", ".join(missing)}; it has {", ".join(received.names)}'
        remedy = 'Start the driver with robot_type:=fr3 and without a prefix of the arm.'
        return fail('joints', text, remedy)
    text = f'{topic}: {FR3.joints[0]} to {FR3.joints[-1]}, {received.rate_hz:.0f} Hz as heard here'
    if not received.news:
        remedy = 'The driver hangs, or the robot has stopped: start the driver anew.'
        return fail('joints', f'{text}, but their stamps stand still', remedy)
    if received.rate_hz < LEAST_RATE_HZ:
        return warn('joints', f'{text}: slow', 'Is this machine overloaded?')
    return ok('joints', text)


def _mode(graph: RobotGraph, arm: RealArm) -> Finding:
    if graph.robot_mode is None:
        return fail('mode', f'not known: nothing came on {STATE}/robot_state', arm.start_driver)
    found = judge_mode(graph.robot_mode, graph.errors)
    if graph.robot_mode == RobotMode.MOVE:
        text = f'{found.text}; {graph.success_rate * 100:.1f} % of the packets were in time'
        if graph.success_rate < LEAST_SUCCESS:
            return warn('mode', text, 'See network, kernel and governor above.')
        return replace(found, text=text)
    return found


def _hand(graph: RobotGraph, arm: RealArm) -> Iterator[Finding]:
    from bbllm.robots.fr3 import FR3

    gripper, hand = arm.gripper, graph.hand
    served = {*graph.actions, *graph.services}
    found = there('gripper', [f'{gripper}/{name}' for name in HAND], served, arm.start_driver)
    others = [name for name in graph.actions if name.endswith('/grasp')]
    if found.level is not Level.OK and others and f'{gripper}/grasp' not in others:
        found = replace(found, text=f'{found.text}; there is {", ".join(others)}: --gripper')
    yield found
    if hand is None:
        yield fail('gripper', f'nothing came on {gripper}/joint_states', arm.start_driver)
        return
    if missing := [name for name in FR3.hand.joints if name not in hand.names]:
        text = f'{gripper}/joint_states lacks {", ".join(missing)}'
        yield fail('gripper', text, 'Start the driver with robot_type:=fr3.')
        return
    width_mm = sum(hand.position) * 1000
    yield ok('gripper', f'the fingers are {width_mm:.0f} mm apart, {hand.rate_hz:.0f} Hz')
    if not graph.simulated:
        yield warn(
            'homed',
            'no interface reports whether the hand was homed since it was switched on; '
            'before that no width is true, and grasps fail',
            f'Once, with nothing between the fingers: ros2 action send_goal /{arm.namespace}/'
            f'{gripper}/homing franka_msgs/action/Homing "{{}}"',
        )


def _approval(graph: RobotGraph, arm: RealArm) -> Finding:
    if graph.executor is None:
        return fail('approval', 'not known: fr3_executor does not answer', arm.start_nodes)
    mode = graph.executor.get('approval')
    if graph.simulated:
        return ok('approval', f'{mode}; the robot is simulated')
    if graph.executor.get('simulated'):
        text = f'{mode}, but fr3_executor takes the robot for a simulated one'
        remedy = 'Programs may answer in place of a person: start it without simulated:=true.'
        return fail('approval', text, remedy)
    if mode == 'none':
        text = 'none: the arm moves without anybody having allowed it'
        return fail('approval', text, f'{arm.start_nodes} approval:=plan')
    return ok('approval', f'{mode}: a person allows it first')
