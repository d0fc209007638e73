"""What only a simulator can do: the services under `sim/`."""

from collections.abc import Callable
from typing import Any

from bbllm_interfaces.srv import InjectFault, ResetSim, SetObjectMass, SetObjectPose
from std_srvs.srv import SetBool

from bbllm.core.errors import BbllmError
from bbllm.sim.faults import Fault, fault_named
from bbllm_ros.convert.records import pose_from_msg
from bbllm_ros.rclpy_support.stack_node import StackNode
from bbllm_ros.sim.loop import SimLoop


def serve_sim(node: StackNode, loop: SimLoop) -> None:
    def fault(fault: Fault, clear: bool) -> None:
        (loop.robot.clear if clear else loop.robot.inject)(fault)

    def inject(ask: InjectFault.Request) -> None:
        every = ask.clear and not ask.fault
        for each in list(Fault) if every else [fault_named(ask.fault)]:
            fault(each, ask.clear)

    actions: dict[str, tuple[Any, Callable[[Any], None]]] = {
        'reset': (ResetSim, lambda ask: loop.reset(ask.scene, ask.seed)),
        'set_object_pose': (
            SetObjectPose,
            lambda ask: loop.robot.set_object_pose(ask.name, pose_from_msg(ask.pose)),
        ),
        'set_object_mass': (
            SetObjectMass,
            lambda ask: loop.robot.set_object_mass(ask.name, ask.mass),
        ),
        'set_user_stop': (SetBool, lambda ask: fault(Fault.USER_STOP, not ask.data)),
        'inject_fault': (InjectFault, inject),
    }
    for name, (kind, action) in actions.items():
        node.create_service(kind, f'sim/{name}', _served(action), callback_group=node.group)


def _served(action: Callable[[Any], None]) -> Callable[[Any, Any], Any]:
    """Answer with success, or with the sentence of any error of this project."""

    def serve(request: Any, reply: Any) -> Any:
        try:
            action(request)
            reply.success = True
        except BbllmError as error:
            reply.message = str(error)
        return reply

    return serve
