"""What `bbllm doctor --real` makes of the graph: of the driver, the hand and fr3_executor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bbllm.api.ros_environment import missing_ros
from bbllm.arm.model import ARM_JOINTS, FINGER_JOINTS
from bbllm.cli.checks.machine import Finding, Level, fail, joins, ok, warn
from bbllm.cli.checks.real_machine import (
    check_driver_packages,
    check_governor,
    check_kernel,
    check_limits,
    check_messages,
    check_middleware,
    check_network,
    check_safety,
)
from bbllm.core.constants import REAL_NAMESPACE
from bbllm.core.errors import BbllmError

if TYPE_CHECKING:
    from bbllm.ros.driver.robot_graph import RobotGraph


ROBOT_IP = '172.16.0.2'
"""As in franka.config.yaml of franka_bringup, and in our pages. Its franka.launch.py alone has
172.16.0.3, which is never used here: our launch files require the address."""
SAFETY = 'safety_slow'
"""The default of launches of a real arm."""
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
HAND_ACTIONS = ('homing', 'move', 'grasp', 'gripper_action')
SERVICES = ('set_force_torque_collision_behavior', 'set_full_collision_behavior', 'set_load')
MODES = {
    0: ('other', Level.FAIL, 'Unlock the joints in Desk, and activate FCI.'),
    1: ('idle', Level.OK, ''),
    2: ('move', Level.OK, ''),
    3: ('guiding', Level.WARN, 'Let go of the guiding buttons.'),
    4: ('reflex', Level.FAIL, 'See what it met; the next call recovers it, or error_recovery.'),
    5: ('user stopped', Level.FAIL, 'Release the user stop.'),
    6: ('recovering from an error', Level.WARN, 'Look again in a moment.'),
}
"""Of FrankaRobotState: name, how that is, what to do."""
LEAST_RATE_HZ = 20.0
LEAST_SUCCESS = 0.95
NODES = ('brain_planner', 'body_mapper', 'state_estimator', 'fr3_executor')


@dataclass(frozen=True, slots=True, kw_only=True)
class RealArm:
    """The robot to check."""

    robot_ip: str = ROBOT_IP
    namespace: str = REAL_NAMESPACE
    gripper: str = 'franka_gripper'

    @property
    def start_driver(self) -> str:
        """The line that starts the driver."""
        return self._launch(f'franka_real.launch.py robot_ip:={self.robot_ip}')

    @property
    def start_nodes(self) -> str:
        """The line that starts the nodes."""
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
        yield from check_network(arm.robot_ip, on_progress)
    yield check_kernel()
    yield check_limits()
    yield check_governor()
    yield from check_messages()
    yield check_driver_packages()
    asked = found.executor if found is not None else None
    yield check_safety(SAFETY if asked is None else str(asked.get('safety') or ''))
    yield check_middleware()
    if isinstance(graph, Finding):
        yield graph
    else:
        yield from judge_graph(graph, arm)


def _graph(arm: RealArm, on_progress: Callable[[str], None]) -> RobotGraph | Finding:
    """Return what the graph contains, or why it cannot be read."""
    on_progress('trying the middleware')
    if reason := missing_ros() or joins():
        return fail('graph', reason, 'make setup, then . ./activate')
    from bbllm.ros.driver.real_probe import probe

    try:
        return probe(arm.namespace, arm.gripper, on_progress)
    except (BbllmError, RuntimeError, ImportError) as error:  # rcl's own are RuntimeErrors
        return fail('graph', f'cannot be looked at: {error}', 'bbllm doctor')


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
        yield _recovery(graph, arm)
        yield from _topics(graph, arm)
        yield _joints(graph, arm)
        yield _mode(graph, arm)
        yield from _hand(graph, arm)
    if missing := [name for name in NODES if name not in graph.nodes]:
        start = arm.start_nodes if driven else 'The line above starts these too.'
        yield fail('nodes', f'not running: {", ".join(missing)}', start)
    else:
        yield ok('nodes', f'running: {", ".join(NODES)}')
    if graph.executor is not None or 'fr3_executor' in graph.nodes:
        yield _approval(graph, arm)


def _manager(graph: RobotGraph, arm: RealArm, driven: bool) -> Finding:
    name = f'/{arm.namespace}/controller_manager'
    if graph.controllers is not None:
        return ok('manager', f'{name} answers')
    asked = '/controller_manager/list_controllers'
    elsewhere = [
        name.removesuffix('/list_controllers')
        for name in sorted(graph.services)
        if name.startswith('/') and name.endswith(asked)
    ]
    text = f'{name} does not answer'
    if not driven:
        text += ', and nothing else of a driver is there: neither arm nor robot state nor hand'
    if elsewhere:
        text += f'; there is {", ".join(elsewhere)}: --namespace'
    return fail('manager', text, arm.start_driver)


def _hardware(graph: RobotGraph, arm: RealArm) -> Finding:
    found = {
        name: state for name, state in (graph.hardware or {}).items() if name.endswith(HARDWARE)
    }
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
        state = graph.controllers.get(name)
        if state == 'active':
            yield ok('control', f'{name} is active')
        elif state is None:
            remedy = f'ros2 run controller_manager spawner {name} {manager}'
            yield fail('control', f'{name} is not loaded', remedy)
        else:
            remedy = f'ros2 control switch_controllers --activate {name} {manager}'
            yield fail('control', f'{name} is {state}', remedy)


def _recovery(graph: RobotGraph, arm: RealArm) -> Finding:
    missing = [] if 'action_server/error_recovery' in graph.actions else ['error_recovery']
    missing += [name for name in SERVICES if f'service_server/{name}' not in graph.services]
    if missing:
        return fail('recovery', f'not served: {", ".join(missing)}', arm.start_driver)
    return ok('recovery', 'error_recovery, thresholds and load are served')


def _topics(graph: RobotGraph, arm: RealArm) -> Iterator[Finding]:
    for wanted, judge in (((*RELIABLE, *LATCHED), fail), (BEST_EFFORT, warn)):
        if missing := [name for name in wanted if name not in graph.topics]:
            yield judge('topics', f'nobody publishes {", ".join(missing)}', arm.start_driver)
    right = 0
    for name in (*RELIABLE, *LATCHED, *BEST_EFFORT):
        reliable = name not in BEST_EFFORT
        for giver in graph.topics.get(name, ()):
            if reliable and not giver.reliable:
                text = f'{name}: best effort from {giver.node}; reliable was expected'
                yield fail('qos', text, 'Reliable subscribers hear nothing of it.')
            elif name in LATCHED and not giver.latched:
                text = f'{name}: volatile from {giver.node}; latched was expected'
                yield fail('qos', text, 'Who joins later hears nothing of it.')
            elif giver.reliable and not reliable:
                text = f'{name}: reliable from {giver.node}; best effort since franka_ros2 3.3.0'
                yield warn('qos', text, 'An older driver? bbllm hears it anyway.')
            else:
                right += 1
    if right:
        yield ok('qos', f'{right} topics of the driver are sent as expected')


def _joints(graph: RobotGraph, arm: RealArm) -> Finding:
    topic, heard = 'franka/joint_states', graph.arm
    if heard is None:
        return fail('joints', f'nothing came on {topic}', arm.start_driver)
    if missing := [name for name in ARM_JOINTS if name not in heard.names]:
        text = f'{topic} lacks {", ".join(missing)}; it has {", ".join(heard.names)}'
        remedy = 'Start the driver with robot_type:=fr3 and without a prefix of the arm.'
        return fail('joints', text, remedy)
    text = f'{topic}: {ARM_JOINTS[0]} to {ARM_JOINTS[-1]}, {heard.rate_hz:.0f} Hz as heard here'
    if not heard.news:
        remedy = 'The driver hangs, or the robot has stopped: start the driver anew.'
        return fail('joints', f'{text}, but their stamps stand still', remedy)
    if heard.rate_hz < LEAST_RATE_HZ:
        return warn('joints', f'{text}: slow', 'Is this machine overloaded?')
    return ok('joints', text)


def _mode(graph: RobotGraph, arm: RealArm) -> Finding:
    if graph.robot_mode is None:
        return fail('mode', f'not known: nothing came on {STATE}/robot_state', arm.start_driver)
    unknown = (f'unknown ({graph.robot_mode})', Level.WARN, 'A newer driver?')
    name, level, remedy = MODES.get(graph.robot_mode, unknown)
    text = f'the robot is in mode {name}'
    if graph.errors:
        text += f'; errors: {", ".join(graph.errors)}'
    if name == 'move':
        text += f'; {graph.success_rate * 100:.1f} % of the packets were in time'
        if graph.success_rate < LEAST_SUCCESS:
            return warn('mode', text, 'See network, kernel and governor above.')
    return Finding('mode', level, text, remedy)


def _hand(graph: RobotGraph, arm: RealArm) -> Iterator[Finding]:
    gripper = arm.gripper
    served = [name for name in HAND_ACTIONS if f'{gripper}/{name}' in graph.actions]
    missing = [name for name in HAND_ACTIONS if name not in served]
    if f'{gripper}/stop' not in graph.services:
        missing.append('stop')
    if missing:
        other = [name for name in graph.actions if name.endswith('/grasp')]
        text = f'{gripper} does not serve {", ".join(missing)}'
        if not served and other:
            text += f'; there is {", ".join(other)}: --gripper'
        yield fail('gripper', text, arm.start_driver)
    else:
        yield ok('gripper', f'{gripper} serves {", ".join(served)}, stop')
    if graph.hand is None:
        yield fail('gripper', f'nothing came on {gripper}/joint_states', arm.start_driver)
    elif missing := [name for name in FINGER_JOINTS if name not in graph.hand.names]:
        text = f'{gripper}/joint_states lacks {", ".join(missing)}'
        yield fail('gripper', text, 'Start the driver with robot_type:=fr3.')
    else:
        width_m = sum(graph.hand.position)
        text = f'the fingers are {width_m * 1000:.0f} mm apart, {graph.hand.rate_hz:.0f} Hz'
        yield ok('gripper', text)
    if not missing and not graph.simulated:
        yield warn(
            'homed',
            'whether the hand was homed since it was switched on is told by no interface; '
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
