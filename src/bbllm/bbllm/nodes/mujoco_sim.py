"""The node `mujoco_sim`: the FR3 in MuJoCo behind the real driver's own ROS interfaces."""

from __future__ import annotations

from bbllm.nodes.params import MujocoSimParams
from bbllm.nodes.process import StackNode, run
from bbllm.nodes.sim_arm import SimArm
from bbllm.nodes.sim_base import SimBase
from bbllm.nodes.sim_goals import SimGoals
from bbllm.nodes.sim_hand import SimHand
from bbllm.nodes.sim_loop import SimLoop
from bbllm.nodes.sim_manager import SimManager
from bbllm.nodes.sim_services import SimServices
from bbllm.nodes.sim_topics import SimTopics
from bbllm.nodes.world_clock import WorldClock


class MujocoSim(StackNode):
    """Serves what franka_ros2 serves, from physics in a thread of its own."""

    def __init__(self) -> None:
        super().__init__('mujoco_sim', MujocoSimParams)

    def build(self) -> None:
        params = self.params
        self._loop = SimLoop(
            params.scene,
            speed=params.speed,
            seed=params.seed,
            force_noise_n=params.force_noise_n,
            homed=params.homed,
        )
        self._topics = SimTopics(self, self._loop)
        self._goals = SimGoals(self)
        self._world_clock = WorldClock(self) if params.clock else None
        self._loop.on_advance = self._advanced
        self._loop.on_goal = self._goals.publish
        self._loop.on_fault = self.fail
        self._viewer = None
        if params.viewer:
            from bbllm.nodes.sim_viewer import Viewer

            self._viewer = Viewer(self._loop)

    def begin(self) -> None:
        self._manager = SimManager(self, self._loop)
        self._parts = (
            SimArm(self, self._loop),
            SimBase(self, self._loop),
            SimHand(self, self._loop),
            SimServices(self, self._loop),
        )
        self._loop.start()

    def take(self, params: MujocoSimParams) -> None:
        self._loop.speed = params.speed

    @property
    def busy(self) -> str:
        return 'a goal runs' if self._loop.busy else ''

    def come_to_rest(self) -> None:
        self._loop.end()
        if self._viewer is not None:
            self._viewer.close()

    def _advanced(self, now_s: float) -> None:
        if self._world_clock is not None:
            self._world_clock.publish(now_s)
        self._topics.publish(now_s)
        self._manager.tell_changes(now_s)
        if self._viewer is not None:
            self._viewer.show()


def main() -> None:
    """Run the node until it is told to end."""
    run(MujocoSim, threads=12)


if __name__ == '__main__':
    main()
