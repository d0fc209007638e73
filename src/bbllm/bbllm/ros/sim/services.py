"""What only a simulator can do: the services under `sim/`."""

from collections.abc import Callable
from typing import Any

from bbllm_interfaces.srv import InjectFault, ResetSim, SetObjectMass, SetObjectPose
from std_srvs.srv import SetBool

from bbllm.core.errors import BbllmError
from bbllm.ros.convert.records import pose_from_msg
from bbllm.ros.rclpy_support.stack_node import StackNode
from bbllm.ros.sim.loop import SimLoop
from bbllm.sim.faults import Fault, fault_named


class SimServices:
    """Serves sim/reset, set_object_pose, set_object_mass, set_user_stop and inject_fault."""

    def __init__(self, node: StackNode, loop: SimLoop):
        self._loop = loop
        for kind, name, action in (
            (ResetSim, 'reset', self._reset),
            (SetObjectPose, 'set_object_pose', self._set_pose),
            (SetObjectMass, 'set_object_mass', self._set_mass),
            (SetBool, 'set_user_stop', self._user_stop),
            (InjectFault, 'inject_fault', self._inject),
        ):
            node.create_service(kind, f'sim/{name}', _served(action), callback_group=node.group)

    def _reset(self, request: ResetSim.Request) -> None:
        self._loop.reset(request.scene, request.seed)

    def _set_pose(self, request: SetObjectPose.Request) -> None:
        self._loop.robot.set_object_pose(request.name, pose_from_msg(request.pose))

    def _set_mass(self, request: SetObjectMass.Request) -> None:
        self._loop.robot.set_object_mass(request.name, request.mass)

    def _user_stop(self, request: SetBool.Request) -> None:
        self._fault(Fault.USER_STOP, clear=not request.data)

    def _inject(self, request: InjectFault.Request) -> None:
        every = request.clear and not request.fault
        for fault in list(Fault) if every else [fault_named(request.fault)]:
            self._fault(fault, clear=request.clear)

    def _fault(self, fault: Fault, *, clear: bool) -> None:
        robot = self._loop.robot
        (robot.clear if clear else robot.inject)(fault)


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
