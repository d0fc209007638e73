"""A node with one action that ends at once: what a round trip of rclpy costs by itself."""

from bbllm_interfaces.action import ExecuteSkill
from rclpy.action import ActionServer
from rclpy.action.server import ServerGoalHandle

from bbllm_ros.rclpy_support.stack_node import StackNode, run

ACTION = 'bench_echo'


class BenchEcho(StackNode):
    """Succeeds with whatever it is asked."""

    def __init__(self) -> None:
        super().__init__(ACTION)

    def begin(self) -> None:
        self._server = ActionServer(
            self, ExecuteSkill, ACTION, self._execute, callback_group=self.group
        )

    def _execute(self, goal: ServerGoalHandle) -> ExecuteSkill.Result:
        goal.succeed()
        return ExecuteSkill.Result(status=ExecuteSkill.Result.SUCCEEDED)


def main() -> None:
    run(BenchEcho)


if __name__ == '__main__':
    main()
