"""The node `mujoco_sim`: the FR3 in MuJoCo behind the real driver's own ROS interfaces."""

from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped

from bbllm.sim.camera_settings import d435_of
from bbllm_ros.convert.records import stamp_from_msg
from bbllm_ros.driver_front.front import DriverFront
from bbllm_ros.parameters.node_params import MujocoSimParams
from bbllm_ros.rclpy_support.stack_node import StackNode, run
from bbllm_ros.sim.cameras import SimCameraTopics, camera_frames
from bbllm_ros.sim.loop import SimLoop
from bbllm_ros.sim.services import serve_sim
from bbllm_ros.sim.topics import ObjectPublisher, WorldClock, publish_goals
from bbllm_ros.stack.stack import AWAITED


class MujocoSim(StackNode):
    """Serves what franka_ros2 serves, with the physics in a thread."""

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
        self._cameras: SimCameraTopics | None = None
        frames: list[TransformStamped] = []
        if params.cameras:
            settings = d435_of(params.camera_size)
            self._cameras = SimCameraTopics(
                self, self._loop, settings, rate_hz=params.camera_rate_hz, seed=params.seed
            )
            frames = camera_frames(settings.mounts, self._loop.now_s)
        objects = ObjectPublisher(self, self._loop)
        self._front = DriverFront(self, self._loop, frames, objects.publish)
        publish_goals(self, self._loop)
        self._world_clock = WorldClock(self) if params.clock else None
        self._loop.on_advance = self._advanced
        self._loop.on_fault = self.fail
        self._viewer = None
        if params.viewer:
            from bbllm_ros.sim.viewer import Viewer

            self._viewer = Viewer(self._loop)

    def begin(self) -> None:
        self._front.serve()
        serve_sim(self, self._loop)
        self.create_subscription(
            Time,
            AWAITED,
            lambda stamp: self._loop.hurry_until(stamp_from_msg(stamp)),
            10,
            callback_group=self.group,
        )
        if self._cameras is not None:
            self._cameras.start()
        self._loop.start()

    def take(self, params: MujocoSimParams) -> None:
        self._loop.speed = params.speed

    @property
    def busy(self) -> str:
        return 'a goal runs' if self._loop.busy else ''

    def come_to_rest(self) -> None:
        self._loop.end()
        if self._cameras is not None:
            self._cameras.end()
        if self._viewer is not None:
            self._viewer.close()

    def _advanced(self, now_s: float) -> None:
        if self._world_clock is not None:
            self._world_clock.publish(now_s)
        self._front.publish(now_s)
        if self._cameras is not None:
            self._cameras.advanced(now_s)
        if self._viewer is not None:
            self._viewer.show()


def main() -> None:
    run(MujocoSim, threads=12)


if __name__ == '__main__':
    main()
