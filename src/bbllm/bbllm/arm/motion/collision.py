"""
Collision checks of the arm and the grasped object.

MuJoCo's own collision detection on a model of the robot and the objects around it: forward
kinematics and contacts only, no simulation. Objects are mocap bodies, so that they move without a
new model; for every form of object the hand has a hidden twin, shown while an object of that form
is grasped. A hidden twin of each finger finds what fingers at another width touch in the same
check.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import mujoco
import numpy as np

from bbllm.arm.driver import N_JOINTS, Array, JointTrajectory
from bbllm.arm.motion.trajectory import spline_of
from bbllm.arm.obstacles import Held, Obstacle, ObstacleShape
from bbllm.robots.robot_model import TCP_SITE, RobotModel

TABLE = 'table'
"""Name of everything below z = 0."""
WIDEST_CLEARANCE_M = 0.02
"""Largest distance of a collision check from objects of the world [m]."""
WORLD_BIT = 1
ROBOT_BIT = 2
Size = tuple[float, float, float]
Form = tuple[str, ObstacleShape, Size]
"""What a model is compiled for; size [m]."""

_TWIN = 'twin/'
"""Prefix of the second pair of fingers and its joints."""


@lru_cache(maxsize=16)
def compiled_model(robot: RobotModel, forms: tuple[Form, ...]) -> mujoco.MjModel:
    """Compile a model; to be copied, since the cache keeps it."""
    spec, hand = robot.spec(), robot.hand
    for key in list(spec.keys):
        spec.delete(key)
    for geom in list(spec.geoms):
        if not geom.contype and not geom.conaffinity:
            spec.delete(geom)
    table = spec.worldbody.add_body(name=TABLE)
    table.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0, 0, 1],
        contype=WORLD_BIT,
        margin=WIDEST_CLEARANCE_M,
    )
    # The lower cap of the first link's capsule reaches below the base; the link does not.
    spec.add_exclude(bodyname1=TABLE, bodyname2=robot.links[1])
    fingers = [*hand.fingers, *(_add_twin(spec, hand.body, name) for name in hand.fingers)]
    # A closed hand is no collision, though its fingers touch.
    for one, other in combinations(fingers, 2):
        spec.add_exclude(bodyname1=one, bodyname2=other)
    for name, shape, size_m in forms:
        body = spec.worldbody.add_body(name=f'object/{name}', mocap=True)
        _add_geom(body, shape, size_m, WORLD_BIT, WIDEST_CLEARANCE_M)
    for i, (shape, size_m) in enumerate(twins_of(forms)):
        body = spec.body(hand.body).add_body(name=f'held/{i}')
        _add_geom(body, shape, size_m, WORLD_BIT | ROBOT_BIT, 0.0)
        for finger in fingers:
            spec.add_exclude(bodyname1=body.name, bodyname2=finger)
    return spec.compile()


def _add_twin(spec: mujoco.MjSpec, hand: str, finger: str) -> str:
    """Add a second finger of the same shape to the hand, and return its name."""
    first = spec.body(finger)
    name = f'{_TWIN}{finger}'
    body = spec.body(hand).add_body(name=name, pos=first.pos, quat=first.quat)
    (joint,) = first.joints
    body.add_joint(name=f'{_TWIN}{joint.name}', type=joint.type, axis=joint.axis)
    for geom in first.geoms:
        body.add_geom(
            type=geom.type, size=geom.size, pos=geom.pos, quat=geom.quat,
            contype=geom.contype, conaffinity=geom.conaffinity,
        )  # fmt: skip
    return name


def twins_of(forms: tuple[Form, ...]) -> list[tuple[ObstacleShape, Size]]:
    """Return every form of object once: the hand has a hidden twin of each."""
    return list(dict.fromkeys((shape, size_m) for _, shape, size_m in forms))


def _add_geom(
    body: mujoco.MjsBody, shape: ObstacleShape, size_m: Size, bits: int, margin_m: float
) -> None:
    x, y, z = (extent / 2 for extent in size_m)
    if shape is ObstacleShape.BOX:
        kind, size = mujoco.mjtGeom.mjGEOM_BOX, [x, y, z]
    else:
        kind, size = mujoco.mjtGeom.mjGEOM_CYLINDER, [max(x, y), z, 0.0]
    body.add_geom(type=kind, size=size, contype=bits, conaffinity=bits, margin=margin_m)


CLEARANCE_M = 0.005
"""Default distance that counts as contact; between links of the arm it is 0 [m]."""

_STEP_M = 0.02
_DEEPER_M = 5e-4
"""How much deeper than at the start of a motion counts as deeper, for rounding [m]."""


@dataclass(frozen=True, slots=True)
class Contact:
    """Two objects that touch."""

    first: str
    """Body of the robot, or the grasped object."""
    second: str
    """Scene object, `table`, or another link."""

    def __str__(self) -> str:
        return f'{self.first} and {self.second}'


WORKSPACE = 'workspace/edge'
"""Stands for what is outside of the workspace; no object has such a name."""
OUTSIDE = Contact('the tool', WORKSPACE)


class CollisionChecker:
    """
    Finds contacts at joint positions; keeps its model between calls.

    The table is everything below z = 0. `update` is cheap while the same objects move about; it
    needs a new model when their names, shapes or sizes change (some 10 ms where this process has
    not built that one lately). One thread only.
    """

    def __init__(
        self,
        robot: RobotModel,
        obstacles: Sequence[Obstacle] = (),
        held: Held | None = None,
    ) -> None:
        self.robot = robot
        self.within: Callable[[Array], bool] | None = None
        """Whether a path, shape (n, 7) [rad], stays in the workspace; None where it need not."""
        self._forms: tuple[Form, ...] | None = None
        self.update(obstacles, held)

    def update(
        self,
        obstacles: Sequence[Obstacle],
        held: Held | None = None,
        *,
        width_m: float | None = None,
    ) -> None:
        """
        Set the objects, the grasped one, and the opening of the fingers, by default all [m].

        *obstacles* has all solid objects, the grasped one too (with any pose).
        """
        forms = tuple((item.name, item.shape, item.size_m) for item in obstacles)
        if forms != self._forms:
            self._build(forms)
        for item in obstacles:
            mocap = self._mocap[item.name]
            self._data.mocap_pos[mocap] = item.T_base_obstacle[:3, 3]
            mujoco.mju_mat2Quat(self._data.mocap_quat[mocap], item.T_base_obstacle[:3, :3].ravel())
            self._show(item.name, held is None or held.name != item.name)
        self._hold(held)
        self.open_to(self.robot.hand.max_width_m if width_m is None else width_m)

    def open_to(self, width_m: float) -> None:
        self._data.qpos[self._fingers] = width_m / 2

    def clear(
        self, q: Array, ignore: Collection[str] = (), *, clearance_m: float = CLEARANCE_M
    ) -> list[Contact]:
        """
        Return what touches at a joint position, shape (7,) [rad]; empty where it is clear.

        Names in *ignore* may be touched.
        *clearance_m* is the distance to objects that already counts as contact, at most 0.02 m.
        """
        return self._contacts(ignore, clearance_m) if self._collide(q) else []

    def path_clear(
        self,
        path: JointTrajectory | Array,
        ignore: Collection[str] = (),
        *,
        clearance_m: float = CLEARANCE_M,
    ) -> Contact | None:
        """
        Return the first contact along a motion, None where there is none.

        *path* is a trajectory, or joint positions of shape (n, 7) that are joined by straight
        lines [rad]; it is sampled so densely that no part moves more than 2 cm in between.
        """
        way = _evenly(path, self.robot.lever_m)
        for q in way:
            if self._collide(q) and (contacts := self._contacts(ignore, clearance_m)):
                return contacts[0]
        return None if self.within is None or self.within(way) else OUTSIDE

    def is_clear_at_both(self, path: JointTrajectory | Array, width_m: float) -> bool:
        """
        Return whether a motion touches nothing, neither as the fingers are nor at a width [m].

        What `path_clear` finds at each of the two, for little more than half of the cost.
        """
        if self._data.qpos[self._fingers[0]] == width_m / 2:
            return self.path_clear(path) is None
        self._data.qpos[self._twin_fingers] = width_m / 2
        self._show_twins(shown=True)
        try:
            return self.path_clear(path) is None
        finally:
            self._show_twins(shown=False)

    def first_deeper(
        self, path: Array, ignore: Collection[str] = (), *, itself: bool = True
    ) -> Contact | None:
        """
        Return the first contact along a motion that was not there at its start, or grew deeper.

        What touches at the start must also touch less at the end: such a motion leads out.
        *itself* is whether the robot may not touch itself or the grasped object either.
        """
        start: dict[Contact, float] | None = None
        now: dict[Contact, float] = {}
        for q in _evenly(path, self.robot.lever_m):
            now = self._depths(q, ignore, itself)
            start = now if start is None else start
            if deeper := _deeper(start, now):
                return deeper
        start = start or {}
        for contact, depth_m in now.items():
            if start.get(contact, 0.0) > _DEEPER_M and depth_m >= start[contact]:
                return contact
        return None

    def first_deeper_fingers(
        self, q: Array, widths_m: Array, ignore: Collection[str] = ()
    ) -> Contact | None:
        """
        Return the first contact with the world that fingers make, or deepen, on their way.

        *widths_m* are distances between the fingers, the first one as they are now, shape (n,).
        """
        start: dict[Contact, float] | None = None
        for width_m in widths_m.tolist():
            self.open_to(width_m)
            now = self._depths(q, ignore, itself=False)
            start = now if start is None else start
            if deeper := _deeper(start, now):
                return deeper
        return None

    def _depths(self, q: Array, ignore: Collection[str], itself: bool) -> dict[Contact, float]:
        """Return how deep objects are in each other at a joint position [m]."""
        depths: dict[Contact, float] = {}
        self._collide(q)
        for first, second, distance_m, own in self._near():
            if distance_m < 0 and (itself or not own) and not {first, second} & set(ignore):
                contact = Contact(first, second)
                depths[contact] = max(-distance_m, depths.get(contact, 0.0))
        return depths

    def _collide(self, q: Array) -> bool:
        """Look for contacts at a joint position; returns whether there are any within margins."""
        data = self._data
        self._joints[:] = q
        mujoco.mj_kinematics(self._model, data)
        mujoco.mj_collision(self._model, data)
        return bool(data.ncon)

    def _contacts(self, ignore: Collection[str], clearance_m: float) -> list[Contact]:
        """Return what touches where `_collide` has looked, as `clear`."""
        found: dict[Contact, None] = {}
        for first, second, distance_m, own in self._near():
            limit_m = 0.0 if own else clearance_m
            if distance_m < limit_m and not {first, second} & set(ignore):
                found[Contact(first, second)] = None
        return list(found)

    def _near(self) -> Iterator[tuple[str, str, float, bool]]:
        """Yield what is near each other, how far apart [m], and whether both are the robot's."""
        contact, names = self._data.contact, self._names
        for (i, j), distance_m in zip(contact.geom.tolist(), contact.dist.tolist()):
            first, second = names[i], names[j]
            if not self._own[i]:  # the world's objects come first in the model
                first, second = second, first
            yield first, second, distance_m, self._own[i] and self._own[j]

    def _build(self, forms: tuple[Form, ...]) -> None:
        robot = self.robot
        model = copy(compiled_model(robot, forms))  # whose shown objects and poses are one's own
        self._model, self._data, self._forms = model, mujoco.MjData(model), forms
        twins = twins_of(forms)
        bodies = [model.body(i).name for i in model.geom_bodyid]
        self._names = [name.removeprefix('object/').removeprefix(_TWIN) for name in bodies]
        own = {*robot.bodies}
        self._own = [name.removeprefix(_TWIN) in own for name in bodies]
        self._mocap = {name: int(model.body(f'object/{name}').mocapid[0]) for name, _, _ in forms}
        self._geom = {name: int(model.body(f'object/{name}').geomadr[0]) for name, _, _ in forms}
        self._form = {name: twins.index((shape, size_m)) for name, shape, size_m in forms}
        self._held_body = [model.body(f'held/{i}').id for i in range(len(twins))]
        self._held_geom = [int(model.body_geomadr[body]) for body in self._held_body]
        self._joints = self._data.qpos[:N_JOINTS]
        self._fingers, self._twin_fingers = (
            [int(model.joint(f'{prefix}{name}').qposadr[0]) for name in robot.hand.joints]
            for prefix in ('', _TWIN)
        )
        self._twins = [model.body(f'{_TWIN}{finger}').id for finger in robot.hand.fingers]
        self._show_twins(shown=False)

    def _show_twins(self, *, shown: bool) -> None:
        model, bits = self._model, WORLD_BIT | ROBOT_BIT if shown else 0
        for body in self._twins:
            model.body_contype[body] = model.body_conaffinity[body] = bits
            first = model.body_geomadr[body]
            geoms = slice(first, first + model.body_geomnum[body])
            model.geom_contype[geoms] = model.geom_conaffinity[geoms] = bits

    def _show(self, name: str, shown: bool) -> None:
        geom, bits = self._geom[name], WORLD_BIT if shown else 0
        self._model.geom_contype[geom] = self._model.geom_conaffinity[geom] = bits

    def _hold(self, held: Held | None) -> None:
        for geom in self._held_geom:
            self._model.geom_contype[geom] = self._model.geom_conaffinity[geom] = 0
            self._own[geom] = False
        if held is None:
            return
        form = self._form[held.name]
        body, geom = self._held_body[form], self._held_geom[form]
        bits = WORLD_BIT | ROBOT_BIT
        self._model.geom_contype[geom] = self._model.geom_conaffinity[geom] = bits
        self._names[geom] = held.name
        self._own[geom] = True
        tcp = self._model.site(TCP_SITE).pos  # in the hand, not turned
        self._model.body_pos[body] = tcp + held.T_tcp_object[:3, 3]
        mujoco.mju_mat2Quat(self._model.body_quat[body], held.T_tcp_object[:3, :3].ravel())


def _deeper(start: dict[Contact, float], now: dict[Contact, float]) -> Contact | None:
    """Return the first contact that was not there at the start, or is deeper now."""
    deeper = (c for c, depth_m in now.items() if depth_m > start.get(c, 0.0) + _DEEPER_M)
    return next(deeper, None)


def _evenly(path: JointTrajectory | Array, lever_m: Array) -> Array:
    """Return joint positions along a path, both ends included, shape (n, 7) [rad]."""
    if isinstance(path, JointTrajectory):
        count = max(2, int(np.ceil(path.duration_s / 0.01)))
        path = spline_of(path).positions_at(np.linspace(0.0, path.duration_s, count))
    path = np.asarray(path, dtype=np.float64)
    if len(path) < 2:
        return path
    way = np.concatenate([[0.0], np.cumsum(np.abs(path[1:] - path[:-1]) @ lever_m)])
    stops = np.linspace(0.0, way[-1], max(2, int(np.ceil(way[-1] / _STEP_M)) + 1))
    i = way[1:-1].searchsorted(stops, side='right')
    share = (stops - way[i]) / np.maximum(way[i + 1] - way[i], 1e-12)
    return np.asarray(path[i] + share[:, None] * (path[i + 1] - path[i]))
