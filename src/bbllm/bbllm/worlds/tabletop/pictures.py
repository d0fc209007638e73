"""Pictures of the simulated table for models."""

from bbllm.core.protocols import ScenePicture
from bbllm.scene.picture_files import jpeg_of
from bbllm.scene.views import view_of
from bbllm.sim.camera_settings import TABLE_CAMERA
from bbllm.sim.cameras import SimCameras, state_of
from bbllm.sim.robot import SimulatedRobot

CAMERA = TABLE_CAMERA.name


class TablePictures:
    """What the simulated camera over the table sees; it costs nothing before the first picture."""

    def __init__(self, robot: SimulatedRobot):
        self._robot = robot
        self._cameras: SimCameras | None = None

    def take(self) -> ScenePicture:
        """Return a JPEG; raises RenderError where nothing can be drawn on this machine."""
        if self._cameras is None:
            self._cameras = SimCameras(self._robot.simulation)
        with self._robot.paused() as simulation:
            state = state_of(simulation)
        image = self._cameras.take(CAMERA, state)
        view = view_of(CAMERA, self._cameras.pose(CAMERA, state))
        return ScenePicture(data=jpeg_of(image.rgb), view=view)

    def close(self) -> None:
        """End the process that draws, if there is one."""
        if self._cameras is not None:
            self._cameras.close()
