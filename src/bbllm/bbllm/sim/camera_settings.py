"""
What simulated cameras are like, where they are, and what may trouble them.

The model is Intel's RealSense D435 with its depth registered to the colour picture. Frames and
their names are those of realsense2_camera: `<name>_link` is at the left imager, with x along the
optical axis, y to the left and z up; the colour sensor is beside it.
"""

import math
from dataclasses import dataclass, field
from enum import StrEnum

from bbllm.core.errors import UnknownNameError
from bbllm.core.types import Pose
from bbllm.scene.camera import Intrinsics
from bbllm.scene.object_models import ObjectPart
from bbllm.skills.shapes import Vector

T_LINK_COLOR = Pose(position_m=(0.0, 0.015, 0.0))
"""`<name>_color_frame` in `<name>_link`: the nominal offset of realsense2_description."""
T_COLOR_OPTICAL = Pose(position_m=(0.0, 0.0, 0.0), quat_xyzw=(-0.5, 0.5, -0.5, 0.5))
"""`<name>_color_optical_frame` in `<name>_color_frame` (REP 103)."""
HOUSING_M = (0.02505, 0.090, 0.025)
"""Depth, width and height of the D435 (realsense2_description) [m]."""
HOUSING_Y_M = -0.0175
"""Middle of the housing, in `<name>_link` [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraMount:
    """A camera and what it is fixed to."""

    name: str
    parent: str
    """Frame and body that it is fixed to: `fr3_link0`, which lies in the world's origin, or
    `fr3_hand`."""
    T_parent_link: Pose

    @property
    def optical_frame(self) -> str:
        return f'{self.name}_color_optical_frame'


def pitched(pitch_rad: float) -> tuple[float, float, float, float]:
    """Return the orientation of a link that looks down by an angle, 0 along x (x, y, z, w)."""
    return (0.0, math.sin(pitch_rad / 2), 0.0, math.cos(pitch_rad / 2))


TABLE_CAMERA = CameraMount(
    name='table_camera',
    parent='fr3_link0',
    T_parent_link=Pose(position_m=(0.75, -0.015, 1.40), quat_xyzw=pitched(math.radians(95.0))),
)
"""Over the table, on a stand out of the arm's reach; design/cameras.md has the reasons."""
HAND_CAMERA = CameraMount(
    name='hand_camera',
    parent='fr3_hand',
    T_parent_link=Pose(
        position_m=(0.0464982, -0.0200011, 0.0360011),
        quat_xyzw=(math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0),
    ),
)
"""In front of the hand, along its fingers, as ManiSkill has the camera of its agent `panda`;
franka_description 1.0.1 has no camera."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraSettings:
    """
    Size, lenses and noise of the cameras; see `d435` for the sizes that the camera has.

    The depth noise is that of Intel's white paper on tuning depth cameras: an rms of
    z^2 subpixel / (f baseline), with the focal length f of the imagers [px].
    """

    width_px: int
    height_px: int
    focal_px: float
    """Of the colour sensor, whose pixels are square [px]."""
    depth_focal_px: float
    """Of the imagers at their own size [px]."""
    least_depth_m: float
    """Nearer than this there is no depth [m]."""
    most_depth_m: float = 3.0
    """The same of what is further away: the D435's range is given as 0.3 m to 3 m [m]."""
    depth_step_m: float = 0.001
    """The unit of the 16-bit depth picture [m]."""
    baseline_m: float = 0.050
    subpixel_px: float = 0.08
    """Rms of the disparity, of a well textured target [px]."""
    window_px: int = 7
    """Neighbours within a window of the imagers share their error, since they are matched by it:
    7 x 7 in the D4 chip (Keselman and others, 2017) [px]."""
    edge_m: float = 0.05
    """Beside a step of depth of more than this there is no depth; 0 for no such gaps [m]."""
    color_noise: float = 2.0
    """Standard deviation of each colour of each pixel, of 255."""
    mounts: tuple[CameraMount, ...] = (TABLE_CAMERA, HAND_CAMERA)

    @property
    def intrinsics(self) -> Intrinsics:
        return Intrinsics(
            width_px=self.width_px,
            height_px=self.height_px,
            fx_px=self.focal_px,
            fy_px=self.focal_px,
            cx_px=(self.width_px - 1) / 2,
            cy_px=(self.height_px - 1) / 2,
        )


D435_MODES = {
    (640, 480): (615.0, 384.0, 0.175),
    (848, 480): (615.0, 424.0, 0.195),
    (1280, 720): (922.5, 640.0, 0.28),
}
"""
Focal lengths of colour sensor and imagers [px], and least depth [m], by width and height.

The colour sensor's field of view is 69 x 42 degrees in 16:9, the imagers' 90 degrees across (a
picture of 640 x 480 is cut from their 1280 x 800); least depths are those of Intel's data sheet
of the D400 family (337029).
"""


def d435(width_px: int = 848, height_px: int = 480) -> CameraSettings:
    """Return the settings of a D435 at a size of `D435_MODES`; raises KeyError for another."""
    focal_px, depth_focal_px, least_depth_m = D435_MODES[width_px, height_px]
    return CameraSettings(
        width_px=width_px,
        height_px=height_px,
        focal_px=focal_px,
        depth_focal_px=depth_focal_px,
        least_depth_m=least_depth_m,
    )


def d435_of(size: str) -> CameraSettings:
    """Return the settings of a size such as `848x480`; raises UnknownNameError for another."""
    sizes = {f'{width}x{height}': (width, height) for width, height in D435_MODES}
    if size not in sizes:
        raise UnknownNameError('size of pictures', size, sizes)
    return d435(*sizes[size])


class Light(StrEnum):
    """How the room is lit."""

    ROOM = 'room'
    SIDE = 'side'
    """From one side, low, and with shadows, which take several times as long to draw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownObject:
    """Something that is drawn and in no scene; nothing collides with it."""

    pose: Pose
    parts: tuple[ObjectPart, ...]
    """Each with a colour of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What makes the pictures worse than perception takes them to be."""

    light: Light = Light.ROOM
    camera_offset_m: Vector = (0.0, 0.0, 0.0)
    """Where each camera is beside its reported pose, in its own optical frame [m]."""
    unknown_objects: tuple[UnknownObject, ...] = field(default=())


NO_TROUBLE = Trouble()
