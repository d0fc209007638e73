"""A robot without physics: the hand goes where it is led, and carries what it closes on."""

from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from bbllm_libero.panda import OPEN, Placement, SiteInfo, State
from bbllm_libero.skills.hand import OPEN_M, PAD_MIDDLE_M, tips
from bbllm_libero.skills.place import descent_m
from bbllm_libero.skills.solids import Array, crossings, matrix, shape_of, surroundings
from tests.libero.skills.still_panda import Part, StillPanda

FOLLOWS = 0.6
"""Share of a commanded motion that one step makes."""
FINGERS_M = 0.01
"""How far the fingers open or close in a step [m]."""


def placement(T: Array) -> Placement:
    return Placement(T[:3, 3], Rotation.from_matrix(T[:3, :3]).as_quat())


class KinematicPanda(StillPanda):
    """The same objects and regions; what is let go of falls straight down."""

    _held: str | None = None
    _in_hand: Array = np.eye(4)

    def step(self, action: ArrayLike) -> State:
        given = np.asarray(action, float)
        moved = given[:6] * self.task.action_scale * FOLLOWS
        tool = matrix(self.state.tool)
        tool[:3, 3] += moved[:3]
        tool[:3, :3] = Rotation.from_rotvec(moved[3:]).as_matrix() @ tool[:3, :3]
        self.state = replace(self.state, steps=self.state.steps + 1, tool=placement(tool))
        if given[6] == OPEN:
            self._let_go()
            width_m = min(self.state.width_m + FINGERS_M, OPEN_M)
        else:
            width_m = self._closed_to()
        self.state = replace(self.state, fingers_m=np.array([width_m, -width_m]) / 2)
        if self._held is not None:
            self._put(self._held, tips(self.state) @ self._in_hand)
        touched = () if self._held is None else (self._held,)
        self.state = replace(self.state, touches={'left': touched, 'right': touched})
        return self.state

    def facts(self) -> tuple[tuple[str, str, str], ...]:
        """Return which objects are in which regions."""
        return tuple(
            (name, 'in', region)
            for name, info in self.task.objects.items()
            for region, at in self.state.sites.items()
            if not info.fixture
            and (
                np.abs(self.state.objects[name].position_m - at.position_m)
                < self.task.sites[region].half_size_m
            ).all()
        )

    def _closed_to(self) -> float:
        """Return how far the fingers get, and take what is between them."""
        T, width_m = tips(self.state), self.state.width_m
        if self._held is not None:
            return width_m
        middle = T[:3, 3] - PAD_MIDDLE_M * T[:3, 2]
        wanted = max(width_m - FINGERS_M, 0.0)
        for name, info in self.task.objects.items():
            body = shape_of(self, name, self.state)
            enter, leave = crossings(middle[None], T[:3, 1], body)
            reach_m = width_m / 2 + 0.001
            between = (enter > -reach_m) & (leave < reach_m)
            if info.fixture or not between.any():
                continue
            thick_m = float(leave[between].max() - enter[between].min())
            if thick_m > wanted:
                self._held = name
                self._in_hand = np.linalg.inv(T) @ matrix(self.state.objects[name])
                return thick_m
        return wanted

    def _let_go(self) -> None:
        if self._held is None:
            return
        name, self._held = self._held, None
        around = surroundings(self, self.state, (name,))
        T = matrix(self.state.objects[name])
        T[2, 3] -= descent_m(shape_of(self, name, self.state), around)
        self._put(name, T)

    def _put(self, name: str, T: Array) -> None:
        poses = {**self.state.objects, name: placement(T)}
        self.state = replace(self.state, objects=poses, bodies=poses)


BOX: tuple[Part, ...] = (((0.0, 0.0, 0.0), (0.02, 0.02, 0.04)),)
WALLS: tuple[Part, ...] = (
    ((0.0, 0.0, 0.003), (0.08, 0.08, 0.003)),
    *(((x, 0.0, 0.02), (0.003, 0.08, 0.02)) for x in (-0.08, 0.08)),
    *(((0.0, y, 0.02), (0.08, 0.003, 0.02)) for y in (-0.08, 0.08)),
)
BASKET, TRAY, OVEN = 'basket_1_contain_region', 'table_front_region', 'oven_1_heating_region'
ROOF: Part = ((0.0, 0.0, 0.15), (0.08, 0.08, 0.003))


AnyPanda = TypeVar('AnyPanda', bound=KinematicPanda)


def with_a_basket(kind: type[AnyPanda]) -> AnyPanda:
    """Return a box, a basket, and a tray with a wall behind it."""
    half = np.array([0.06, 0.06, 0.06])
    return kind(
        {
            'box_1': ((0.5, 0.1, 0.04), BOX),
            'basket_1': ((0.5, -0.15, 0.0), WALLS),
            'oven_1': ((0.4, -0.4, 0.0), (*WALLS, ROOF)),
            'tray_1': ((0.65, 0.15, 0.0), WALLS),
            'wall_1': ((0.65, 0.27, 0.1), (((0.0, 0.0, 0.0), (0.1, 0.02, 0.1)),)),
        },
        fixtures=('basket_1', 'wall_1', 'oven_1'),
        sites={
            BASKET: (
                (0.5, -0.15, 0.05),
                SiteInfo(name=BASKET, parent='basket_1', half_size_m=half),
            ),
            OVEN: (
                (0.4, -0.4, 0.07),
                SiteInfo(name=OVEN, parent='oven_1', half_size_m=half),
            ),
            TRAY: ((0.65, 0.0, 0.0), SiteInfo(name=TRAY, parent='', half_size_m=half)),
        },
    )
