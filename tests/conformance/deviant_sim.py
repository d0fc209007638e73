"""
`mujoco_sim` that does many things otherwise than the driver: the test of the checks.

It is bent at the border to ROS, where whoever speaks to it sees it, and nowhere else: what the
simulator is made of does not matter here. Every deviation names the check that has to see it.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rclpy.action import server as action_server
from rclpy.action.server import ActionServer, GoalResponse, ServerGoalHandle
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

DEVIATIONS = {
    'activity-is-kept-for-those-who-come-later': 'activity is not kept',
    'robot-state-is-reliable': 'robot_state is best effort',
    'convenience-topics-are-best-effort': 'current_pose is reliable',
    'hand-is-stopped-by-a-service': 'the service that stops the hand has another name',
    'hand-joint-states-have-no-velocity-or-effort': 'the fingers have velocities',
    'joint-states-contain-the-fingers': 'joint_states has no fingers',
    'controller-state-is-complete': 'controller_state has no efforts',
    'arm-joint-states-name-the-seven-joints': 'joint states come without efforts',
    'arm-that-is-held-by-a-controller-is-in-move': 'robot_mode is always IDLE',
    'healthy-robot-has-no-errors': 'joint_reflex is always set',
    'robot-time-passes': 'time stands still',
    'total-mass-is-tool-and-load': 'a kilogram is missing',
    'convenience-topics-repeat-robot-state': 'desired_joint_states is somewhere else',
    'stiffness-frame-is-the-tool': 'the wrench is in the frame of the flange',
    'transforms-follow-the-description': 'all links are seen from the base',
    'pose-is-that-of-the-joints': 'the tool is 5 cm off',
    'controllers-run-at-a-thousand-hertz': 'controllers run at 500 Hz',
    'arm-controller-claims-efforts': 'no interface is claimed',
    'claimed-efforts-are-marked': 'no interface is claimed',
    'unknown-hardware-is-refused': 'every component can be activated',
    'hardware-component-is-active': 'the hardware component is of another plug-in',
    'strict-switch-refuses-active-controllers': 'every switch is fine',
    'load-is-refused-while-a-controller-is-active': 'the load can be set at any time',
    'six-joints-are-rejected': 'every goal is accepted',
    'speed-at-the-end-is-rejected': 'every goal is accepted',
    'inactive-controller-rejects-goals': 'every goal is accepted',
    'reached-goal-succeeds': 'success has another text',
    'left-path-aborts': 'a path that is left has the code of a goal that is missed',
    'late-goal-aborts': 'the text names the lateness that was too much',
    'feedback-tells-desired-actual-and-error': 'the error in the feedback is made up',
    'nothing-is-known-of-later': 'query_state always knows',
    'cancelled-goal-says-nothing': 'a cancelled goal has a text',
    'new-goal-preempts-the-old': 'a preempted goal has another code',
    'empty-grasp-aborts-without-a-text': 'a grasp that fails has a text',
    'homing-succeeds': 'homing has a text',
    'feedback-is-the-width': 'feedback of the hand stands still',
    'moveit-position-is-that-of-one-finger': 'the result has the position of one finger',
    'cancelled-move-stops': 'a cancelled move has no text',
    'reflex-takes-the-hardware-down': 'hardware that is down is inactive',
    'controllers-need-their-hardware': 'every switch is fine',
}
"""What is done otherwise, by the check that has to see it."""

PREEMPTED = 'Current goal preempted by new incoming action.'
TOO_LATE = 'Aborted due to goal_time_tolerance exceeding by 0.010000 seconds'
Serve = Callable[[Any, Any], Any]


@contextmanager
def deviant_sim(arguments: list[str], environ: dict[str, str]) -> Iterator[None]:
    """Run it as a process of its own."""
    command = [sys.executable, str(Path(__file__).resolve()), *arguments]
    process = subprocess.Popen(command, env=environ, stdin=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(10.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def bend_message(topic: str, message: Any) -> None:
    if topic.endswith('/franka_gripper/joint_states'):
        message.velocity = [0.1, 0.1]
    elif topic.endswith('/franka/joint_states'):
        message.effort = []
    elif topic.endswith('/robot_state'):
        message.robot_mode = 1
        message.current_errors.joint_reflex = True
        message.o_t_ee.pose.position.z += 0.05
        message.inertia_total.inertia.m -= 1.0
        message.k_f_ext_hat_k.header.frame_id = 'fr3_link8'
        message.time = 1.0
    elif topic.endswith('/desired_joint_states'):
        message.position = [0.0] * 7
    elif topic.endswith('/controller_state'):
        message.output.effort = []
    elif topic == '/bbllm/joint_states':
        for field in ('name', 'position', 'velocity', 'effort'):
            setattr(message, field, getattr(message, field)[:7])
    elif topic.endswith('/tf'):
        for transform in message.transforms:
            transform.header.frame_id = 'fr3_link0'


def bend_answer(name: str, reply: Any) -> None:
    if name.endswith('list_controllers'):
        for controller in reply.controller:
            controller.update_rate = 500
            controller.claimed_interfaces = []
    elif name.endswith('list_hardware_components'):
        for component in reply.component:
            for interface in component.command_interfaces:
                interface.is_claimed = False
            component.plugin_name = 'mock_components/GenericSystem'
            if component.state.label == 'unconfigured':
                component.state.id, component.state.label = 2, 'inactive'
    elif name.endswith(('switch_controller', 'set_hardware_component_state')):
        reply.ok = True
    elif name.endswith('query_state'):
        reply.success = True
    elif name.endswith('set_load'):
        reply.success, reply.error = True, ''


def bend_result(name: str, result: Any) -> None:
    if name.endswith('follow_joint_trajectory'):
        if result.error_string.startswith('Goal successfully'):
            result.error_string = 'Done.'
        elif result.error_string == PREEMPTED:
            result.error_code = result.PATH_TOLERANCE_VIOLATED
        elif result.error_code == result.PATH_TOLERANCE_VIOLATED:
            result.error_code = result.GOAL_TOLERANCE_VIOLATED
        elif result.error_code == result.GOAL_TOLERANCE_VIOLATED:
            result.error_string = TOO_LATE
        elif not result.error_string:
            result.error_string = 'Cancelled by the client.'
    elif name.endswith('/gripper_action'):
        result.position /= 2
    elif name.endswith('/move'):
        result.error = ''
    elif name.endswith(('/grasp', '/homing')):
        result.error = 'The width is what it is.'


def bend_all() -> None:
    _bend_publishers()
    _bend_services()
    _bend_actions()


def _bend_publishers() -> None:
    create, publish = Node.create_publisher, Publisher.publish

    def create_bent(self: Node, kind: Any, topic: str, qos: Any, **more: Any) -> Publisher:
        if topic.endswith('controller_manager/activity'):
            qos = QoSProfile(depth=1, durability=DurabilityPolicy.VOLATILE)
        elif topic.endswith('/robot_state'):
            qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        elif topic.endswith('/current_pose'):
            qos = 1
        return create(self, kind, topic, qos, **more)

    def publish_bent(self: Publisher, message: Any) -> None:
        bend_message(self.topic_name, message)
        publish(self, message)

    Node.create_publisher, Publisher.publish = create_bent, publish_bent


def _bend_services() -> None:
    create = Node.create_service

    def create_bent(self: Node, kind: Any, name: str, serve: Serve, **more: Any) -> Any:
        def serve_bent(request: Any, reply: Any) -> Any:
            reply = serve(request, reply)
            bend_answer(name, reply)
            return reply

        return create(self, kind, name.replace('gripper/stop', 'gripper/halt'), serve_bent, **more)

    Node.create_service = create_bent


def _bend_actions() -> None:
    make, send = ActionServer.__init__, ServerGoalHandle.publish_feedback

    def make_bent(self: Any, node: Node, kind: Any, name: str, run: Any, **more: Any) -> None:
        accept = more.get('goal_callback', action_server.default_goal_callback)
        refused: list[Any] = []

        def accept_bent(request: Any) -> GoalResponse:
            if accept(request) is GoalResponse.REJECT:
                refused.append(request)
            return GoalResponse.ACCEPT

        def run_bent(handle: ServerGoalHandle) -> Any:
            if any(handle.request is request for request in refused):
                handle.succeed()
                return kind.Result()
            result = run(handle)
            bend_result(name, result)
            return result

        more['goal_callback'] = accept_bent
        make(self, node, kind, name, run_bent, **more)

    def send_bent(self: ServerGoalHandle, feedback: Any) -> None:
        if hasattr(feedback, 'current_width'):
            feedback.current_width = 0.08
        elif hasattr(feedback, 'desired'):
            feedback.error.positions = [0.1] * 7
        send(self, feedback)

    ActionServer.__init__, ServerGoalHandle.publish_feedback = make_bent, send_bent


if __name__ == '__main__':
    os.environ.setdefault('PYTHONUNBUFFERED', '1')
    bend_all()
    from bbllm_ros.nodes.mujoco_sim import main

    main()
