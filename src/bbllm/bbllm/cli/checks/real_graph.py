"""What `bbllm doctor --real` makes of the graph: of the driver, the hand and fr3_executor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bbllm.api.ros_environment import missing_ros
from bbllm.arm.model import ARM_JOINTS, FINGER_JOINTS
from bbllm.cli.checks.machine import Finding, Level, joins
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
    from bbllm.ros.driver.robot_graph import Heard, RobotGraph


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
SERVICES = (
    'set_force_torque_collision_behavior',
    'set_full_collision_behavior',
    'set_load',
)
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


@dataclass(frozen=True, slots=True)
class Starts:
    """What to type where something is missing."""

    driver: str
    nodes: str

    @classmethod
    def of(cls, robot_ip: str, namespace: str) -> Starts:
        """Return the lines for one robot."""
        space = '' if namespace == REAL_NAMESPACE else f' namespace:={namespace}'
        return cls(
            f'ros2 launch bbllm franka_real.launch.py robot_ip:={robot_ip}{space}',
            f'ros2 launch bbllm franka_nodes.launch.py{space}',
        )


def judge_graph(
    graph: RobotGraph, *, namespace: str, gripper: str, starts: Starts
) -> Iterator[Finding]:
    """Yield the findings about a graph."""
    if graph.simulated:
        yield Finding('robot', Level.OK, 'simulated: mujoco_sim stands for the driver')
    yield from _manager(graph, namespace, gripper, starts)
    driven = _driven(graph, gripper)
    if driven:
        yield from _driver(graph, namespace, gripper, starts)
    yield _nodes(graph, starts.nodes if driven else 'The line above starts these too.')
    if graph.executor is not None or 'fr3_executor' in graph.nodes:
        yield _approval(graph, starts)


def _driven(graph: RobotGraph, gripper: str) -> bool:
    """Whether any part of a driver is there."""
    named = {*graph.services, *graph.actions, *graph.topics}
    parts = ('controller_manager/', 'franka/', f'{STATE}/', 'action_server/', 'service_server/')
    return any(name.startswith((*parts, f'{gripper}/')) for name in named)


def _driver(graph: RobotGraph, namespace: str, gripper: str, starts: Starts) -> Iterator[Finding]:
    yield _hardware(graph, starts)
    yield from _controllers(graph, namespace, starts)
    yield _recovery(graph, starts)
    yield from _topics(graph, starts)
    yield _arm(graph.arm, starts)
    yield _mode(graph, starts)
    yield from _hand(graph, namespace, gripper, starts)


def _manager(graph: RobotGraph, namespace: str, gripper: str, starts: Starts) -> Iterator[Finding]:
    if graph.controllers is not None:
        text = f'/{namespace}/controller_manager answers'
        yield Finding('manager', Level.OK, text)
        return
    asked = '/controller_manager/list_controllers'
    elsewhere = [
        name.removesuffix('/list_controllers')
        for name in sorted(graph.services)
        if name.startswith('/') and name.endswith(asked)
    ]
    text = f'/{namespace}/controller_manager does not answer'
    if not _driven(graph, gripper):
        text += ', and nothing else of a driver is there: neither arm nor robot state nor hand'
    if elsewhere:
        text += f'; there is {", ".join(elsewhere)}: --namespace'
    yield Finding('manager', Level.FAIL, text, starts.driver)


def _hardware(graph: RobotGraph, starts: Starts) -> Finding:
    found = {
        name: state for name, state in (graph.hardware or {}).items() if name.endswith(HARDWARE)
    }
    if not found:
        return Finding('hardware', Level.FAIL, f'no component {HARDWARE} is known', starts.driver)
    text = ', '.join(f'{name} is {state}' for name, state in found.items())
    if all(state == 'active' for state in found.values()):
        return Finding('hardware', Level.OK, text)
    remedy = (
        'The robot has stopped: see its mode below. The next call recovers it, or by hand: '
        'error_recovery, then set_hardware_component_state.'
    )
    return Finding('hardware', Level.FAIL, text, remedy)


def _controllers(graph: RobotGraph, namespace: str, starts: Starts) -> Iterator[Finding]:
    if graph.controllers is None:
        text = f'not known: {", ".join(CONTROLLERS)}'
        yield Finding('control', Level.FAIL, text, starts.driver)
        return
    manager = f'-c /{namespace}/controller_manager'
    for name in CONTROLLERS:
        state = graph.controllers.get(name)
        if state == 'active':
            yield Finding('control', Level.OK, f'{name} is active')
        elif state is None:
            remedy = f'ros2 run controller_manager spawner {name} {manager}'
            yield Finding('control', Level.FAIL, f'{name} is not loaded', remedy)
        else:
            remedy = f'ros2 control switch_controllers --activate {name} {manager}'
            yield Finding('control', Level.FAIL, f'{name} is {state}', remedy)


def _recovery(graph: RobotGraph, starts: Starts) -> Finding:
    missing = [] if 'action_server/error_recovery' in graph.actions else ['error_recovery']
    missing += [name for name in SERVICES if f'service_server/{name}' not in graph.services]
    if missing:
        text = f'not served: {", ".join(missing)}'
        return Finding('recovery', Level.FAIL, text, starts.driver)
    return Finding('recovery', Level.OK, 'error_recovery, thresholds and load are served')


def _topics(graph: RobotGraph, starts: Starts) -> Iterator[Finding]:
    wanted = [(name, True, False) for name in RELIABLE]
    wanted += [(name, True, True) for name in LATCHED]
    wanted += [(name, False, False) for name in BEST_EFFORT]
    missing = [name for name, *_ in wanted if name not in graph.topics]
    needed = [name for name in missing if name not in BEST_EFFORT]
    if needed:
        yield Finding('topics', Level.FAIL, f'nobody publishes {", ".join(needed)}', starts.driver)
    if len(missing) > len(needed):
        names = ', '.join(name for name in missing if name in BEST_EFFORT)
        yield Finding('topics', Level.WARN, f'nobody publishes {names}', starts.driver)
    right = 0
    for name, reliable, latched in wanted:
        for giver in graph.topics.get(name, ()):
            said = 'reliable' if giver.reliable else 'best effort'
            if reliable and not giver.reliable:
                text = f'{name}: {said} from {giver.node}; reliable was expected'
                yield Finding('qos', Level.FAIL, text, 'Reliable subscribers hear nothing of it.')
            elif latched and not giver.latched:
                text = f'{name}: volatile from {giver.node}; latched was expected'
                yield Finding('qos', Level.FAIL, text, 'Who joins later hears nothing of it.')
            elif giver.reliable and not reliable:
                text = f'{name}: {said} from {giver.node}; best effort since franka_ros2 3.3.0'
                yield Finding('qos', Level.WARN, text, 'An older driver? bbllm hears it anyway.')
            else:
                right += 1
    if right:
        yield Finding('qos', Level.OK, f'{right} topics of the driver are sent as expected')


def _arm(heard: Heard | None, starts: Starts) -> Finding:
    topic = 'franka/joint_states'
    if heard is None:
        return Finding('joints', Level.FAIL, f'nothing came on {topic}', starts.driver)
    if missing := [name for name in ARM_JOINTS if name not in heard.names]:
        text = f'{topic} lacks {", ".join(missing)}; it has {", ".join(heard.names)}'
        remedy = 'Start the driver with robot_type:=fr3 and without a prefix of the arm.'
        return Finding('joints', Level.FAIL, text, remedy)
    text = f'{topic}: {ARM_JOINTS[0]} to {ARM_JOINTS[-1]}, {heard.rate_hz:.0f} Hz as heard here'
    if not heard.news:
        remedy = 'The driver hangs, or the robot has stopped: start the driver anew.'
        return Finding('joints', Level.FAIL, f'{text}, but their stamps stand still', remedy)
    if heard.rate_hz < LEAST_RATE_HZ:
        return Finding('joints', Level.WARN, f'{text}: slow', 'Is this machine overloaded?')
    return Finding('joints', Level.OK, text)


def _mode(graph: RobotGraph, starts: Starts) -> Finding:
    if graph.robot_mode is None:
        text = f'not known: nothing came on {STATE}/robot_state'
        return Finding('mode', Level.FAIL, text, starts.driver)
    name, level, remedy = MODES.get(
        graph.robot_mode, (f'unknown ({graph.robot_mode})', Level.WARN, 'A newer driver?')
    )
    text = f'the robot is in mode {name}'
    if graph.errors:
        text += f'; errors: {", ".join(graph.errors)}'
    if name == 'move':
        text += f'; {graph.success_rate * 100:.1f} % of the packets were in time'
        if graph.success_rate < LEAST_SUCCESS:
            return Finding('mode', Level.WARN, text, 'See network, kernel and governor above.')
    return Finding('mode', level, text, remedy)


def _hand(graph: RobotGraph, namespace: str, gripper: str, starts: Starts) -> Iterator[Finding]:
    served = [name for name in HAND_ACTIONS if f'{gripper}/{name}' in graph.actions]
    missing = [name for name in HAND_ACTIONS if name not in served]
    if f'{gripper}/stop' not in graph.services:
        missing.append('stop')
    if missing:
        other = [name for name in graph.actions if name.endswith('/grasp')]
        text = f'{gripper} does not serve {", ".join(missing)}'
        if not served and other:
            text += f'; there is {", ".join(other)}: --gripper'
        yield Finding('gripper', Level.FAIL, text, starts.driver)
    else:
        yield Finding('gripper', Level.OK, f'{gripper} serves {", ".join(served)}, stop')
    if graph.hand is None:
        text = f'nothing came on {gripper}/joint_states'
        yield Finding('gripper', Level.FAIL, text, starts.driver)
    elif missing := [name for name in FINGER_JOINTS if name not in graph.hand.names]:
        text = f'{gripper}/joint_states lacks {", ".join(missing)}'
        yield Finding('gripper', Level.FAIL, text, 'Start the driver with robot_type:=fr3.')
    else:
        width_m = sum(graph.hand.position)
        text = f'the fingers are {width_m * 1000:.0f} mm apart, {graph.hand.rate_hz:.0f} Hz'
        yield Finding('gripper', Level.OK, text)
    if not missing and not graph.simulated:
        yield Finding(
            'homed',
            Level.WARN,
            'whether the hand was homed since it was switched on is told by no interface; '
            'before that no width is true, and grasps fail',
            f'Once, with nothing between the fingers: ros2 action send_goal /{namespace}/'
            f'{gripper}/homing franka_msgs/action/Homing "{{}}"',
        )


def _nodes(graph: RobotGraph, start: str) -> Finding:
    missing = [name for name in NODES if name not in graph.nodes]
    if missing:
        return Finding('nodes', Level.FAIL, f'not running: {", ".join(missing)}', start)
    return Finding('nodes', Level.OK, f'running: {", ".join(NODES)}')


def _approval(graph: RobotGraph, starts: Starts) -> Finding:
    if graph.executor is None:
        text = 'not known: fr3_executor does not answer'
        return Finding('approval', Level.FAIL, text, starts.nodes)
    mode = graph.executor.get('approval')
    if graph.simulated:
        return Finding('approval', Level.OK, f'{mode}; the robot is simulated')
    if graph.executor.get('simulated'):
        text = f'{mode}, but fr3_executor takes the robot for a simulated one'
        remedy = 'Programs may answer in place of a person: start it without simulated:=true.'
        return Finding('approval', Level.FAIL, text, remedy)
    if mode == 'none':
        text = 'none: the arm moves without anybody having allowed it'
        return Finding('approval', Level.FAIL, text, f'{starts.nodes} approval:=plan')
    return Finding('approval', Level.OK, f'{mode}: a person allows it first')


ROBOT_IP = '172.16.0.2'
"""As in franka.config.yaml of franka_bringup, and in our pages. Its franka.launch.py alone has
172.16.0.3, which is never used here: our launch files require the address."""
SAFETY = 'safety_slow'
"""The default of launches of a real arm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RealArm:
    """The robot to check."""

    robot_ip: str = ROBOT_IP
    namespace: str = REAL_NAMESPACE
    gripper: str = 'franka_gripper'


def check_real_arm(arm: RealArm, on_progress: Callable[[str], None]) -> Iterator[Finding]:
    """
    Yield the findings as they are made.

    Args:
        arm: The robot.
        on_progress: Called with what is checked next.
    """
    graph = _graph(arm, on_progress)
    if not isinstance(graph, Finding) and graph.simulated:
        yield Finding('network', Level.OK, 'not measured: mujoco_sim stands for the robot')
    else:
        yield from check_network(arm.robot_ip, on_progress)
    yield check_kernel()
    yield check_limits()
    yield check_governor()
    yield from check_messages()
    yield check_driver_packages()
    if isinstance(graph, Finding):
        yield check_safety(SAFETY)
        yield check_middleware()
        yield graph
        return
    asked = graph.executor
    yield check_safety(SAFETY if asked is None else str(asked.get('safety') or ''))
    yield check_middleware()
    starts = Starts.of(arm.robot_ip, arm.namespace)
    yield from judge_graph(graph, namespace=arm.namespace, gripper=arm.gripper, starts=starts)


def _graph(arm: RealArm, on_progress: Callable[[str], None]) -> RobotGraph | Finding:
    """Return what the graph contains, or why it cannot be read."""
    on_progress('trying the middleware')
    if reason := missing_ros() or joins():
        return Finding('graph', Level.FAIL, reason, 'make setup, then . ./activate')
    from bbllm.ros.driver.real_probe import probe

    try:
        return probe(arm.namespace, arm.gripper, on_progress)
    except (BbllmError, RuntimeError, ImportError) as error:  # rcl's own are RuntimeErrors
        return Finding('graph', Level.FAIL, f'cannot be looked at: {error}', 'bbllm doctor')
