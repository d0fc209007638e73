"""What the simulated robot has beside arm and hand: recovery, controllers, thresholds, load."""

from __future__ import annotations

from typing import Any

import numpy as np
from controller_manager_msgs.msg import (
    ControllerManagerActivity,
    ControllerState,
    HardwareComponentState,
    NamedLifecycleState,
)
from controller_manager_msgs.srv import (
    ListControllers,
    ListHardwareComponents,
    SetHardwareComponentState,
    SwitchController,
)
from franka_msgs.action import ErrorRecovery
from franka_msgs.srv import SetForceTorqueCollisionBehavior, SetFullCollisionBehavior, SetLoad
from lifecycle_msgs.msg import State
from rclpy.action import ActionServer
from rclpy.action.server import ServerGoalHandle

from bbllm.nodes.convert import header
from bbllm.nodes.process import StackNode
from bbllm.nodes.qos import LATCHED
from bbllm.nodes.sim_arm import CONTROLLER
from bbllm.nodes.sim_loop import SimLoop

HARDWARE = 'FrankaHardwareInterface'
TYPES = {
    'joint_state_broadcaster': 'joint_state_broadcaster/JointStateBroadcaster',
    'franka_robot_state_broadcaster': 'franka_robot_state_broadcaster/FrankaRobotStateBroadcaster',
    CONTROLLER: 'joint_trajectory_controller/JointTrajectoryController',
}
NOT_IDLE = 'The robot is not idle: a controller holds it. Deactivate it first.'
ACTIVE = State(id=State.PRIMARY_STATE_ACTIVE, label='active')
INACTIVE = State(id=State.PRIMARY_STATE_INACTIVE, label='inactive')
UNCONFIGURED = State(id=State.PRIMARY_STATE_UNCONFIGURED, label='unconfigured')


class SimManager:
    """Serves `action_server`, `controller_manager` and `service_server`, as far as is used."""

    def __init__(self, node: StackNode, loop: SimLoop):
        self._loop = loop
        self._log = node.get_logger()
        self._server = ActionServer(
            node,
            ErrorRecovery,
            'action_server/error_recovery',
            self._recover,
            callback_group=node.group,
        )
        self._activity = node.create_publisher(
            ControllerManagerActivity, 'controller_manager/activity', LATCHED
        )
        self._told: bool | None = None
        for kind, name, serve in (
            (ListControllers, 'controller_manager/list_controllers', self._list),
            (ListHardwareComponents, 'controller_manager/list_hardware_components', self._parts),
            (SwitchController, 'controller_manager/switch_controller', self._switch),
            (
                SetHardwareComponentState,
                'controller_manager/set_hardware_component_state',
                self._set_hardware,
            ),
            (
                SetForceTorqueCollisionBehavior,
                'service_server/set_force_torque_collision_behavior',
                self._set_thresholds,
            ),
            (
                SetFullCollisionBehavior,
                'service_server/set_full_collision_behavior',
                self._set_thresholds,
            ),
            (SetLoad, 'service_server/set_load', self._set_load),
        ):
            node.create_service(kind, name, serve, callback_group=node.group)

    def tell_changes(self, now_s: float) -> None:
        """Publish `controller_manager/activity` when something went up or down."""
        active = self._loop.robot.controllers_active
        if active != self._told:
            self._told = active
            self._activity.publish(
                ControllerManagerActivity(
                    header=header(now_s, ''),
                    controllers=[
                        NamedLifecycleState(name=name, state=ACTIVE if active else INACTIVE)
                        for name in TYPES
                    ],
                    hardware_components=[NamedLifecycleState(name=HARDWARE, state=self._state())],
                )
            )

    def _recover(self, handle: ServerGoalHandle) -> ErrorRecovery.Result:
        """As with the real driver, the reason of a failure is only in the log."""
        reason = self._loop.robot.recover_errors()
        if reason is None:
            handle.succeed()
        else:
            self._log.error(reason)
            handle.abort()
        return ErrorRecovery.Result()

    def _list(self, _: Any, reply: Any) -> Any:
        state = 'active' if self._loop.robot.controllers_active else 'inactive'
        reply.controller = [
            ControllerState(name=name, state=state, type=kind, update_rate=1000)
            for name, kind in TYPES.items()
        ]
        return reply

    def _parts(self, _: Any, reply: Any) -> Any:
        reply.component = [
            HardwareComponentState(
                name=HARDWARE,
                type='system',
                plugin_name='franka_hardware/FrankaHardwareInterface',
                state=self._state(),
            )
        ]
        return reply

    def _switch(self, request: Any, reply: Any) -> Any:
        asked = {*request.activate_controllers, *request.deactivate_controllers}
        unknown = sorted(asked - set(TYPES))
        if unknown:
            reply.message = f'There is no controller {unknown[0]!r}. Known: {", ".join(TYPES)}.'
            return reply
        reply.ok = True
        if CONTROLLER in request.deactivate_controllers:
            self._loop.robot.deactivate_controllers()
        if CONTROLLER in request.activate_controllers:
            reply.ok = self._loop.robot.activate_controllers()
            if not reply.ok:
                reply.message = f'{HARDWARE} is not active; activate it first.'
        return reply

    def _set_hardware(self, request: Any, reply: Any) -> Any:
        wanted = request.target_state
        if request.name == HARDWARE and State.PRIMARY_STATE_ACTIVE in (
            wanted.id,
            State.PRIMARY_STATE_ACTIVE if wanted.label == 'active' else 0,
        ):
            reply.ok = self._loop.robot.activate_hardware()
        reply.state = self._state()
        return reply

    def _set_thresholds(self, request: Any, reply: Any) -> Any:
        upper = np.concatenate(
            [request.upper_torque_thresholds_nominal, request.upper_force_thresholds_nominal]
        )
        with self._loop.robot.paused():
            if self._loop.robot.controllers_active:
                reply.error = NOT_IDLE
            elif not np.all(upper > 0):
                reply.error = 'All upper thresholds must be above zero.'
            else:
                self._loop.robot.monitor.upper[:] = upper
                reply.success = True
        return reply

    def _set_load(self, request: Any, reply: Any) -> Any:
        centre = np.array(request.center_of_mass, dtype=float)
        reply.success = self._loop.robot.set_load(request.mass, centre)
        reply.error = '' if reply.success else NOT_IDLE
        return reply

    def _state(self) -> State:
        return ACTIVE if self._loop.robot.monitor.hardware_active else UNCONFIGURED
