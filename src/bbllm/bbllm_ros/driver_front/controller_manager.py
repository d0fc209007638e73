"""The controller manager over ROS: `controller_manager`."""

from typing import Any

from controller_manager_msgs import msg as msgs
from controller_manager_msgs import srv as srvs
from lifecycle_msgs.msg import State

from bbllm.arm.controllers.manager import (
    COMMAND_INTERFACES,
    HARDWARE,
    KINDS,
    STATE_INTERFACES,
    ControllerManager,
    LifeCycle,
)
from bbllm_ros.convert.records import LATCHED, header
from bbllm_ros.driver_front.backend import Backend, ControlledRobot
from bbllm_ros.rclpy_support.entities import serve_services
from bbllm_ros.rclpy_support.stack_node import StackNode

NAME = 'controller_manager'
RATE_HZ = 1000
BASE_CLASS = 'controller_interface::ControllerInterface'


class ManagerServer:
    """Serves what clients use of `controller_manager`; left out: cleanup, reloading libraries."""

    def __init__(self, node: StackNode, backend: Backend):
        self._backend = backend
        self._log = node.get_logger()
        self._activity = node.create_publisher(
            msgs.ControllerManagerActivity, f'{NAME}/activity', LATCHED
        )
        self._reported: tuple[ControlledRobot, int] | None = None
        manager = ControllerManager
        serve_services(
            node,
            node.group,
            NAME,
            {
                srvs.ListControllers: self._list,
                srvs.ListControllerTypes: self._types,
                srvs.ListHardwareComponents: self._components,
                srvs.ListHardwareInterfaces: self._interfaces,
                srvs.SwitchController: self._switch,
                srvs.SetHardwareComponentState: self._set_hardware,
                srvs.LoadController: self._changes(manager.load),
                srvs.ConfigureController: self._changes(manager.configure),
                srvs.UnloadController: self._changes(manager.unload),
            },
        )

    def publish_changes(self, now_s: float) -> None:
        robot = self._backend.robot
        now = (robot, robot.controllers.revision)
        if now == self._reported or robot.hangs:
            return
        self._reported = now
        with robot.paused():
            states, component = robot.controllers.states, robot.controllers.component
        self._activity.publish(
            msgs.ControllerManagerActivity(
                header=header(now_s, ''),
                controllers=[
                    msgs.NamedLifecycleState(name=name, state=_state(state))
                    for name, state in states.items()
                ],
                hardware_components=[
                    msgs.NamedLifecycleState(name=HARDWARE, state=_state(component))
                ],
            )
        )

    def _list(self, _: Any, reply: Any) -> Any:
        with self._backend.robot.paused():
            states = self._backend.robot.controllers.states
        reply.controller = [_controller(name, state) for name, state in states.items()]
        return reply

    def _types(self, _: Any, reply: Any) -> Any:
        reply.types = [kind.type for kind in KINDS.values()]
        reply.base_classes = [BASE_CLASS] * len(KINDS)
        return reply

    def _components(self, _: Any, reply: Any) -> Any:
        manager = self._backend.robot.controllers
        with self._backend.robot.paused():
            commands, states = _hardware_interfaces(manager)
            component = manager.component
        reply.component = [
            msgs.HardwareComponentState(
                name=HARDWARE,
                type='system',
                rw_rate=RATE_HZ,
                plugin_name='franka_hardware/FrankaHardwareInterface',
                state=_state(component),
                command_interfaces=commands,
                state_interfaces=states,
            )
        ]
        return reply

    def _interfaces(self, _: Any, reply: Any) -> Any:
        with self._backend.robot.paused():
            commands, states = _hardware_interfaces(self._backend.robot.controllers)
        reply.command_interfaces, reply.state_interfaces = commands, states
        return reply

    def _switch(self, request: Any, reply: Any) -> Any:
        strict = request.strictness == srvs.SwitchController.Request.STRICT
        switched = self._backend.robot.switch_controllers(
            request.activate_controllers,
            request.deactivate_controllers,
            strict=strict,
        )
        reply.ok, reply.message = switched.ok, switched.message
        if not switched.ok:
            self._log.error(switched.message)
        return reply

    def _set_hardware(self, request: Any, reply: Any) -> Any:
        if request.name != HARDWARE:
            self._log.error(f'There is no hardware component {request.name!r}, only {HARDWARE}.')
            return reply
        robot = self._backend.robot
        reply.ok = robot.set_hardware(_life_cycle(request.target_state))
        reply.state = _state(robot.controllers.component)
        return reply

    def _changes(self, change: Any) -> Any:
        def serve(request: Any, reply: Any) -> Any:
            with self._backend.robot.paused():
                reply.ok = change(self._backend.robot.controllers, request.name)
            return reply

        return serve


def _state(state: LifeCycle) -> State:
    return State(id=int(state), label=state.label)


def _life_cycle(wanted: State) -> LifeCycle | None:
    """Read a state by its number, or by its label where there is none."""
    return next(
        (x for x in LifeCycle if wanted.id == x or (wanted.id == 0 and wanted.label == x.label)),
        None,
    )


def _controller(name: str, state: LifeCycle) -> msgs.ControllerState:
    kind = KINDS[name]
    configured = state in (LifeCycle.INACTIVE, LifeCycle.ACTIVE)
    return msgs.ControllerState(
        name=name,
        state=state.label,
        type=kind.type,
        update_rate=RATE_HZ,
        claimed_interfaces=kind.command_interfaces if state is LifeCycle.ACTIVE else (),
        required_command_interfaces=kind.command_interfaces if configured else (),
        required_state_interfaces=kind.state_interfaces if configured else (),
    )


def _hardware_interfaces(
    manager: ControllerManager,
) -> tuple[list[msgs.HardwareInterface], list[msgs.HardwareInterface]]:
    there = manager.component in (LifeCycle.INACTIVE, LifeCycle.ACTIVE)
    claimed = {
        interface
        for name, kind in KINDS.items()
        if manager.is_active(name)
        for interface in kind.command_interfaces
    }

    def described(names: tuple[str, ...]) -> list[msgs.HardwareInterface]:
        return [
            msgs.HardwareInterface(
                name=name, data_type='double', is_available=there, is_claimed=name in claimed
            )
            for name in names
        ]

    return described(COMMAND_INTERFACES), [
        msgs.HardwareInterface(name=item.name, data_type='double', is_available=there)
        for item in described(STATE_INTERFACES)
    ]
