"""
Simulated RGB-D cameras: what they would see of a simulation, with the noise of a real camera.

The cameras are in a model of their own, which is drawn by another process: the physics
does not contain them. Only the state goes there, and only the picture comes back.
"""

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from bbllm.core.errors import UnknownNameError
from bbllm.core.types import Pose
from bbllm.robots.fr3 import FR3
from bbllm.robots.robot_model import RobotModel
from bbllm.scene.camera import RgbdImage
from bbllm.sim.build import SHAPES, build_spec, rgba_of, wxyz
from bbllm.sim.camera_noise import noisy_colors, noisy_depth
from bbllm.sim.camera_settings import (
    HOUSING_M,
    HOUSING_Y_M,
    NO_TROUBLE,
    T_COLOR_OPTICAL,
    T_LINK_COLOR,
    CameraMount,
    CameraSettings,
    Light,
    Trouble,
    UnknownObject,
    d435,
)
from bbllm.sim.drawing import PICTURE_TIMEOUT_S, DrawingProcess, RenderError
from bbllm.sim.simulation import Simulation

PREFIX = 'fr3_'
"""Of the names of what is added to the model; no scene may use it."""
T_OPTICAL_VIEW = Pose(position_m=(0.0, 0.0, 0.0), quat_xyzw=(1.0, 0.0, 0.0, 0.0))
"""MuJoCo's camera looks along its negative z axis and has y up."""
LIGHT_SHARES = {Light.ROOM: (0.7, 0.7), Light.SIDE: (0.5, 1.0)}
"""
Share of a scene's light around, and of its lamp, which `SIDE` has in another place.

In a room, the scene's light would be overexposed in the brightest places, where a white face and
a beige one were both 255; the exposure of a camera is set so that white is below that.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraState:
    """All that a picture shows of a simulation at one moment."""

    qpos: NDArray[np.float64]
    """Positions, shape (nq,)."""
    stamp_s: float
    """Simulated time [s]."""


def state_of(simulation: Simulation) -> CameraState:
    """Copy the state of a simulation that does not step meanwhile."""
    return CameraState(qpos=simulation.data.qpos.copy(), stamp_s=simulation.time_s)


class SimCameras:
    """
    Takes pictures of a simulation, and of earlier states of it; thread-safe.

    The process that draws starts with the first picture. Equal states give equal pictures: the
    noise depends on *seed*, camera and simulated time alone.
    """

    def __init__(
        self,
        simulation: Simulation,
        settings: CameraSettings | None = None,
        trouble: Trouble = NO_TROUBLE,
        *,
        seed: int = 0,
        timeout_s: float = PICTURE_TIMEOUT_S,
        add: Callable[[mujoco.MjSpec], object] = lambda spec: None,
    ) -> None:
        """
        Prepare the model that is drawn.

        Args:
            simulation: What is seen; it is read and never changed.
            settings: Of all cameras; those of `d435()` by default.
            trouble: What makes the pictures worse.
            seed: Of the noise.
            timeout_s: How long a picture may take [s].
            add: Adds what is drawn and in no scene, such as a board of calibration.
        """
        self.settings = settings or d435()
        self._simulation = simulation
        self._shadows = trouble.light is Light.SIDE
        self._model = _drawn_model(simulation, self.settings, trouble, add)
        self._data = mujoco.MjData(self._model)
        self._seed, self._timeout_s = seed, timeout_s
        self._process: DrawingProcess | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> 'SimCameras':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(mount.name for mount in self.settings.mounts)

    @property
    def pid(self) -> int | None:
        """The process that draws, where there is one."""
        return None if self._process is None else self._process.pid

    def mount(self, name: str) -> CameraMount:
        """Return the camera of a name; raises UnknownNameError."""
        return self.settings.mounts[self._index(name)]

    def take(self, name: str, state: CameraState | None = None) -> RgbdImage:
        """
        Draw what a camera sees, now or at an earlier *state*; the stamp is simulated time.

        Raises:
            RenderError: No graphics library works here, or the process that draws has ended or
                does not answer in time; the next call starts another one.
            UnknownNameError: There is no camera of that name.
        """
        index, state = self._index(name), state or state_of(self._simulation)
        settings = self.settings
        width, height = size_px = settings.width_px, settings.height_px
        camera = int(self._model.camera(PREFIX + name).id)
        with self._lock:
            if self._process is None:
                self._process = DrawingProcess(self._model, timeout_s=self._timeout_s)
            try:
                self._process.ask(state.qpos, camera, size_px, effects=self._shadows, depth=True)
                data = self._process.pixels(7 * width * height)
            except RenderError:
                self._process = None
                raise
        rgb = np.frombuffer(data, np.uint8, 3 * width * height).reshape(height, width, 3)
        depth_m = np.frombuffer(data, np.float32, offset=rgb.nbytes).reshape(height, width)
        dice = np.random.default_rng((self._seed, index, round(state.stamp_s * 1e6)))
        return RgbdImage(
            rgb=noisy_colors(rgb, settings, dice),
            depth_m=noisy_depth(depth_m, settings, dice),
            intrinsics=settings.intrinsics,
            stamp_s=state.stamp_s,
            frame=self.mount(name).optical_frame,
        )

    def pose(self, name: str, state: CameraState | None = None) -> Pose:
        """
        Return T_world_camera, where a camera's optical frame is said to be, now or at a *state*.

        A camera that trouble has moved is elsewhere. Raises UnknownNameError.
        """
        self._index(name)
        state = state or state_of(self._simulation)
        with self._lock:
            self._data.qpos[:] = state.qpos
            mujoco.mj_kinematics(self._model, self._data)
            site = self._data.site(PREFIX + name)
            quat_wxyz = np.empty(4)
            mujoco.mju_mat2Quat(quat_wxyz, site.xmat)
            x, y, z = site.xpos.tolist()
        qw, qx, qy, qz = quat_wxyz.tolist()
        return Pose(position_m=(x, y, z), quat_xyzw=(qx, qy, qz, qw))

    def close(self) -> None:
        """End the process that draws, if there is one; the next picture starts another."""
        with self._lock:
            if self._process is not None:
                self._process.close()
                self._process = None

    def _index(self, name: str) -> int:
        try:
            return self.names.index(name)
        except ValueError:
            raise UnknownNameError('camera', name, self.names) from None


def _drawn_model(
    simulation: Simulation,
    settings: CameraSettings,
    trouble: Trouble,
    add: Callable[[mujoco.MjSpec], object],
) -> mujoco.MjModel:
    """Return the model that is drawn; its states are those of the simulation."""
    spec = build_spec(simulation.scene, simulation.timestep_s, visuals=True)
    spec.visual.global_.offwidth = settings.width_px
    spec.visual.global_.offheight = settings.height_px
    spec.visual.quality.offsamples = 0  # One per pixel: more take twice as long to draw.
    for mount in settings.mounts:
        _add_camera(spec, _body_of(simulation.robot_model, mount), mount, settings, trouble)
    for item in trouble.unknown_objects:
        _add_unknown(spec, item)
    add(spec)
    _set_light(spec, trouble.light)
    return spec.compile()


def _body_of(robot: RobotModel, mount: CameraMount) -> str:
    """Return the body that a camera is fixed to; mounts name those of the FR3."""
    return robot.bodies[FR3.bodies.index(mount.parent)]


def _add_camera(
    spec: mujoco.MjSpec,
    body: str,
    mount: CameraMount,
    settings: CameraSettings,
    trouble: Trouble,
) -> None:
    """Add the housing, a site where the camera is said to be, and the camera where it is."""
    parent = spec.body(body)
    link = parent.add_frame(**_placed(mount.T_parent_link))
    housing = parent.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=np.divide(HOUSING_M, 2),
        # behind the lens, which would else be inside of it
        pos=[-HOUSING_M[0] / 2 - 0.001, HOUSING_Y_M, 0.0],
        rgba=[0.7, 0.71, 0.72, 1.0],
        group=2,
        mass=0.0,
        contype=0,
        conaffinity=0,
    )
    housing.set_frame(link)
    color = parent.add_frame(**_placed(T_LINK_COLOR))
    color.set_frame(link)
    optical = parent.add_frame(**_placed(T_COLOR_OPTICAL))
    optical.set_frame(color)
    parent.add_site(name=PREFIX + mount.name, group=5).set_frame(optical)
    view = parent.add_camera(
        name=PREFIX + mount.name,
        fovy=2 * math.degrees(math.atan(settings.height_px / 2 / settings.focal_px)),
        pos=trouble.camera_offset_m,
        quat=wxyz(T_OPTICAL_VIEW.quat_xyzw),
    )
    view.set_frame(optical)


def _add_unknown(spec: mujoco.MjSpec, item: UnknownObject) -> None:
    body = spec.worldbody.add_body(**_placed(item.pose))
    for part in item.parts:
        body.add_geom(
            type=SHAPES[part.shape],
            size=part.half_m,
            pos=part.at_m,
            quat=wxyz(part.quat_xyzw),
            rgba=rgba_of(part.color),
            mass=0.0,
            contype=0,
            conaffinity=0,
        )


def _set_light(spec: mujoco.MjSpec, light: Light) -> None:
    lamp, headlight = spec.lights[0], spec.visual.headlight
    around, lamp_share = LIGHT_SHARES[light]
    headlight.ambient, headlight.diffuse = headlight.ambient * around, headlight.diffuse * around
    lamp.diffuse = lamp.diffuse * lamp_share
    if light is Light.SIDE:
        lamp.pos, lamp.dir = [0.5, -2.2, 1.0], [0.0, 2.2, -1.0]
        lamp.diffuse = [0.95, 0.9, 0.8]


def _placed(pose: Pose) -> dict[str, tuple[float, ...]]:
    return {'pos': pose.position_m, 'quat': wxyz(pose.quat_xyzw)}
