"""The robot behind the arm: its reports of itself, and the steps of its recovery, over ROS."""

from collections.abc import Callable, Sequence
from typing import Any

from controller_manager_msgs.srv import (
    ListControllers,
    SetHardwareComponentState,
    SwitchController,
)
from franka_msgs.action import ErrorRecovery
from franka_msgs.msg import Errors, FrankaRobotState
from franka_msgs.srv import SetForceTorqueCollisionBehavior
from lifecycle_msgs.msg import State
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node

from bbllm.arm.driver import ContactLimits, GoalStatus, RecoveryError, RobotCondition, RobotMode
from bbllm.arm.stop_causes import hardware_is_up
from bbllm.core.errors import LostNodeError, WorldError
from bbllm.ros.convert.arm import duration_to_msg
from bbllm.ros.driver.activity_feed import JOINT_BROADCASTER, MANAGER, STATE_BROADCASTER
from bbllm.ros.driver.joint_feed import MANAGER_S, JointFeed
from bbllm.ros.rclpy_support import calls
from bbllm.ros.rclpy_support.calls import ActionCall, ServiceCall, need_server, wait_for
from bbllm.ros.rclpy_support.fast_subscription import LatestMessage, Poller

RECOVERY_S = 10.0
STATE_S = 1.0
"""How long the first state of the robot after a recovery may take, wall clock [s]."""
PARAMETERS = 'service_server'
SET_LIMITS = f'{PARAMETERS}/set_force_torque_collision_behavior'
SET_HARDWARE = f'{MANAGER}/set_hardware_component_state'
SWITCH = f'{MANAGER}/switch_controller'
ERRORS = tuple(Errors.get_fields_and_field_types())


class RobotClient:
    """Observes and recovers a robot; `arm.execution.recovery` has the order."""

    def __init__(
        self, node: Node, poller: Poller, group: CallbackGroup, feed: JointFeed, controller: str
    ):
        self._feed = feed
        self._controller = controller
        self._recovery = ActionCall(
            node, ErrorRecovery, 'action_server/error_recovery', 'action_server', group
        )
        self._clients = {
            name: node.create_client(kind, name, callback_group=group)
            for name, kind in (
                (SET_HARDWARE, SetHardwareComponentState),
                (SWITCH, SwitchController),
                (SET_LIMITS, SetForceTorqueCollisionBehavior),
            )
        }
        # The last client that is made here. The driver is one process, and hears of the clients of
        # a process in their order: where it answers this one, its answers to the others arrive.
        self._manager = ServiceCall(
            node, ListControllers, f'{MANAGER}/list_controllers', MANAGER, group
        )
        self._limited: tuple[int, ContactLimits] | None = None
        self.user_stops = 0
        """How often the user stop was pressed."""
        self._user_stopped = False
        topic = f'{STATE_BROADCASTER}/robot_state'
        self._state = LatestMessage(node, poller, FrankaRobotState, topic, take=self._take_state)

    def condition(self, patience_s: float = 0.0) -> RobotCondition:
        """
        Return the condition of the robot.

        Joint states that come are as good as an answer of the controller manager, which is asked
        only where they stay away, or where a stop is expected.
        """
        activity = self._feed.activity
        if patience_s > 0:
            activity.wait_for_stop(self._controller, patience_s)
        elif self._feed.quiet:
            activity.wait_for_answer(MANAGER_S)
            if not activity.states_are_down:
                self._feed.need_news()
        names = (self._controller, JOINT_BROADCASTER)
        answered = True
        if activity.hardware_active and not all(map(activity.is_active, names)):
            # The answer about the hardware comes by itself, maybe later.
            answered = activity.wait_for_answer(MANAGER_S)
        active = all(map(activity.is_active, names))
        state = self._state.message
        return RobotCondition(
            controllers_active=active,
            hardware_active=hardware_is_up(
                shown=activity.hardware_active, answered=answered, controllers_active=active
            ),
            mode=None if state is None else RobotMode(state.robot_mode),
            current_errors=() if state is None else errors_from_msg(state.current_errors),
            last_errors=() if state is None else errors_from_msg(state.last_motion_errors),
        )

    def clear_errors(self) -> None:
        """First step of a recovery."""
        self._step(self._find)
        status, _ = self._step(lambda: self._recovery.run(ErrorRecovery.Goal(), RECOVERY_S))
        if status is not GoalStatus.SUCCEEDED:
            raise RecoveryError("the robot refused it; the driver's log says why.")
        self._state.message = None  # what was heard before tells of what was cleared

    def activate_hardware(self) -> None:
        """Second step."""
        request = SetHardwareComponentState.Request(
            name=self._feed.activity.hardware,
            target_state=State(id=State.PRIMARY_STATE_ACTIVE, label='active'),
        )
        reply = self._step(lambda: self._ask(SET_HARDWARE, request))
        if not reply.ok:
            raise RecoveryError(f'{request.name} stayed {reply.state.label or "as it was"}.')

    def wait_fresh(self, timeout_s: float) -> None:
        """Fourth step: wait for states that come after this was called [s]."""
        self._state.message = None
        # The first one may have been under way before this was called.
        if not self._feed.wait_for_news(timeout_s, n=2):
            raise RecoveryError(f'there were no joint states within {timeout_s:g} s.')
        # Not every driver has this broadcaster.
        self._state.wait_for(lambda: self._state.message is not None, STATE_S)

    def activate(self, *names: str) -> None:
        """Third and fifth step: activate those controllers that are loaded and not active."""
        activity = self._feed.activity
        self._need_answer()
        loaded = [name for name in names if activity.knows(name)]
        asleep = [name for name in loaded if not activity.is_active(name)]
        if not loaded:
            raise RecoveryError(f'{names[0]} is not loaded.')
        if not asleep:
            return
        self._switch_controllers(f'{", ".join(asleep)} did not become active', up=asleep)

    @property
    def contact_limits(self) -> ContactLimits | None:
        """What was set last, where the joint states have gone on without a break since."""
        if self._limited is None or self._limited[0] != self._feed.beginnings:
            return None
        return self._limited[1]

    def limit_contacts(self, limits: ContactLimits) -> None:
        """Set the robot's thresholds; only an idle robot, which nothing controls, takes them."""
        try:  # not to find out with the controller down
            need_server(self._clients[SET_LIMITS].service_is_ready, PARAMETERS)
        except LostNodeError as error:
            raise RecoveryError(f'nobody serves {SET_LIMITS}.') from error
        self._need_answer()
        was_active = self._feed.activity.is_active(self._controller)
        if was_active:
            problem = f'{self._controller} did not become inactive'
            self._switch_controllers(problem, down=[self._controller])
        try:
            beginnings = self._feed.beginnings
            self._send_limits(limits)
            self._limited = (beginnings, limits)
        finally:
            if was_active:
                self.activate(self._controller)

    def _send_limits(self, limits: ContactLimits) -> None:
        request = SetForceTorqueCollisionBehavior.Request(
            lower_torque_thresholds_nominal=limits.contact_joint_nm,
            upper_torque_thresholds_nominal=limits.collision_joint_nm,
            lower_force_thresholds_nominal=limits.contact_wrench,
            upper_force_thresholds_nominal=limits.collision_wrench,
        )
        reply = self._step(lambda: self._ask(SET_LIMITS, request))
        if not reply.success:
            raise RecoveryError(reply.error or 'it refused them and gave no reason.')

    def _switch_controllers(
        self, problem: str, *, up: Sequence[str] = (), down: Sequence[str] = ()
    ) -> None:
        request = SwitchController.Request(
            activate_controllers=up,
            deactivate_controllers=down,
            strictness=SwitchController.Request.STRICT,
            timeout=duration_to_msg(RECOVERY_S),
        )
        reply = self._step(lambda: self._ask(SWITCH, request))
        if not reply.ok:
            told = getattr(reply, 'message', '') or 'no reason was given.'
            raise RecoveryError(f'{problem}: {told}')
        self._need_answer()

    def _need_answer(self) -> None:
        if not self._feed.activity.wait_for_answer(MANAGER_S):
            raise RecoveryError(f'{MANAGER} did not answer within {MANAGER_S:g} s.')

    @staticmethod
    def _step(step: Callable[[], Any]) -> Any:
        """Turn a time-out into a RecoveryError; that a node has gone is no failure of a step."""
        try:
            return step()
        except LostNodeError:
            raise
        except WorldError as error:
            raise RecoveryError(str(error)) from error

    def _find(self) -> None:
        """Wait until no answer of the driver is lost any more; see `ServiceCall`."""
        self._manager.run(ListControllers.Request(), calls.ANSWER_S)

    def _ask(self, name: str, request: Any) -> Any:
        server, _, service = name.partition('/')
        need_server(self._clients[name].service_is_ready, f'{server} ({service})')
        self._find()
        return wait_for(self._clients[name].call_async(request), name, RECOVERY_S)

    def _take_state(self, msg: FrankaRobotState) -> bool:
        was = self._user_stopped
        self._user_stopped = msg.robot_mode == FrankaRobotState.ROBOT_MODE_USER_STOPPED
        self.user_stops += self._user_stopped and not was
        return True


def errors_from_msg(msg: Errors) -> tuple[str, ...]:
    return tuple(name for name in ERRORS if getattr(msg, name))
