"""From the pictures of several cameras to named detections, or to why a picture is not used."""

import math
from collections.abc import Callable

from bbllm.arm.driver import JointState
from bbllm.core.errors import BbllmError
from bbllm.scene.camera import RgbdImage
from bbllm.scene.detections import WORLD_FRAME, Detection
from bbllm.scene.transforms import FrameError, TransformTree
from bbllm_vision.detectors.detector import Detector
from bbllm_vision.detectors.sight import Naming, find_named
from bbllm_vision.picture_health import HealthLimits, PictureFault, PictureHealth

RobotAt = Callable[[float], JointState | None]
"""Returns the state of the robot at a time on the world's clock [s]; None where not known."""


class PictureReader:
    """
    Judges each picture, finds its camera in the world, and its objects.

    Args:
        detector: Finds objects in a picture.
        name_objects: Gives them names that stay the same.
        tree: Transforms from cameras to the world.
        robot_at: Where the robot is, whose pixels show no objects.
        limits: From when on pictures count as unusable.
        max_delay_s: Pictures whose stamps are further from the world's clock are not used [s].
    """

    def __init__(
        self,
        detector: Detector,
        name_objects: Naming,
        tree: TransformTree,
        robot_at: RobotAt,
        limits: HealthLimits,
        max_delay_s: float,
    ) -> None:
        self._detector = detector
        self._name_objects = name_objects
        self._tree = tree
        self._robot_at = robot_at
        self._limits = limits
        self._max_delay_s = max_delay_s
        self._health: dict[str, PictureHealth] = {}

    def read(
        self, camera: str, image: RgbdImage, now_s: float | None
    ) -> tuple[Detection, ...] | PictureFault:
        """
        Return what a picture shows, in its optical frame, or why it is not used.

        Args:
            camera: Name of the camera that took it.
            image: The picture.
            now_s: The world's clock, None where it is not known [s].
        """
        health = self._health.setdefault(camera, PictureHealth(self._limits))
        fault = health.judge(image) or self._fault_of_stamp(image.stamp_s, now_s)
        if fault is not None:
            return fault
        try:
            T_world_camera = self._tree.lookup(WORLD_FRAME, image.frame, image.stamp_s)
        except FrameError as error:
            text = f'has no known pose: {error} Publish its calibrated pose on /tf_static'
            return PictureFault(reason='frame', text=text)
        try:
            robot = self._robot_at(image.stamp_s)
            found, _ = find_named(self._detector, self._name_objects, image, T_world_camera, robot)
            return found
        except BbllmError as error:
            text = f'sends pictures that the detector {self._detector.name} cannot use: {error}'
            return PictureFault(reason='detector', text=text.rstrip('.'))

    def _fault_of_stamp(self, stamp_s: float, now_s: float | None) -> PictureFault | None:
        if stamp_s <= 0.0:
            text = 'sends pictures without a stamp. Start its driver again'
            return PictureFault(reason='stamp', text=text)
        behind_s = 0.0 if now_s is None else now_s - stamp_s
        # Transforms may come four times a second only, so pictures are ahead of them as a rule.
        if abs(behind_s) <= self._max_delay_s:
            return None
        off = f'{abs(behind_s):.1f} s {"late" if behind_s > 0 else "ahead"}'
        return PictureFault(
            reason='stamp',
            text=f'sends pictures whose stamps are {off} on the clock of the robot, and at most '
            f'{self._max_delay_s:g} s will do. Synchronize the clocks of both machines (chrony or '
            'NTP)',
        )


class RobotClock:
    """
    The world's clock, by the stamps of what the robot measures.

    It is known while stamps grow: those of a robot that has stopped stay, and its cameras go on.
    """

    def __init__(self, forget_after_s: float = 0.5) -> None:
        """Start without a time; *forget_after_s* is how long a stamp counts as now [s]."""
        self._forget_after_s = forget_after_s
        self._stamp_s = -math.inf
        self._moved_s = -math.inf

    def take(self, stamp_s: float, now_s: float) -> None:
        """Take in the newest stamp [s], and the monotonic time [s]."""
        if stamp_s != self._stamp_s:
            self._stamp_s, self._moved_s = stamp_s, now_s

    def now_s(self, now_s: float) -> float | None:
        """Return the world's clock at a monotonic time [s]; None where it is not known."""
        if math.isinf(self._stamp_s) or now_s - self._moved_s > self._forget_after_s:
            return None
        return self._stamp_s
