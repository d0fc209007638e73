"""`fr3_executor` with a callback that raises when it is told to."""

from std_msgs.msg import Empty

from bbllm_ros.nodes.fr3_executor import Fr3Executor
from bbllm_ros.rclpy_support.stack_node import run

TOPIC = 'fault'


class FaultyExecutor(Fr3Executor):
    """Fails as a node does whose callback has a fault."""

    def begin(self) -> None:
        self.create_subscription(Empty, TOPIC, self._fail, 1, callback_group=self.group)
        super().begin()

    def _fail(self, _: Empty) -> None:
        raise RuntimeError('told to fail')


if __name__ == '__main__':
    run(FaultyExecutor)
