"""The node `franka_direct`: a Franka Research 3 over libfranka behind franka_ros2's interfaces."""

from bbllm_ros.direct.loop import FrankaLoop
from bbllm_ros.driver_front.front import DriverFront
from bbllm_ros.parameters.node_params import FrankaDirectParams
from bbllm_ros.rclpy_support.stack_node import StackNode, run


class FrankaDirect(StackNode):
    """Serves what franka_ros2 serves; the only client of the robot's control."""

    def __init__(self) -> None:
        super().__init__('franka_direct', FrankaDirectParams)

    def build(self) -> None:
        params = self.params
        self._loop = FrankaLoop(params, hand=params.load_gripper, log=self.get_logger().error)
        self._front = DriverFront(self, self._loop)
        self._loop.on_advance = self._front.publish
        self._loop.on_fault = self.fail

    def begin(self) -> None:
        self._front.serve()
        self._loop.start()

    @property
    def busy(self) -> str:
        return 'a goal runs' if self._loop.busy else ''

    def come_to_rest(self) -> None:
        self._loop.end()


def main() -> None:
    run(FrankaDirect, threads=12)


if __name__ == '__main__':
    main()
