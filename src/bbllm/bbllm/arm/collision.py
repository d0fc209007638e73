"""What the arm, and what it holds, would touch."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from bbllm.arm.driver import JointTrajectory
from bbllm.core.types import Scene

Array = NDArray[np.float64]

Ignore = Collection[str | tuple[str, str]]
"""What may be touched: a name (by anything), or a pair of names (by each other only)."""


class Shape(Enum):
    """Form of an obstacle."""

    BOX = 'box'
    CYLINDER = 'cylinder'


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """A solid thing in the base frame."""

    name: str
    shape: Shape
    size_m: tuple[float, float, float]
    """Full extent along its own axes; a cylinder stands along its z axis [m]."""
    T_base_obstacle: Array
    """Pose of its centre, shape (4, 4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The obstacle that is in the hand and moves with it."""

    name: str
    """Name of an obstacle that the checker knows."""
    T_tcp_object: Array
    """Pose of its centre in the tool frame, shape (4, 4)."""


@dataclass(frozen=True, slots=True)
class Contact:
    """Two things that touch."""

    first: str
    """Link of the arm (`fr3_link3`, `fr3_hand`, `fr3_leftfinger` ...), or the held object."""
    second: str
    """Scene object, `table`, or another link."""


def obstacles_from_scene(scene: Scene) -> tuple[Obstacle, ...]:
    """Return the solid objects of a scene: cubes, cylinders, fixtures; no locations."""
    raise NotImplementedError


class CollisionChecker:
    """
    Says what touches at a joint position; keeps its model between calls.

    The table is everything below z = 0. `update` is cheap while the same objects move about;
    it builds a new model (some 10 ms) when their names, shapes or sizes change.
    """

    def __init__(self, obstacles: Sequence[Obstacle] = (), held: Held | None = None) -> None:
        raise NotImplementedError

    def update(
        self,
        obstacles: Sequence[Obstacle],
        held: Held | None = None,
        *,
        width_m: float = 0.08,
    ) -> None:
        """Set where things are, what is held, and how far the fingers are open [m]."""
        raise NotImplementedError

    def clear(self, q: Array, ignore: Ignore = ()) -> list[Contact]:
        """Return what touches at a joint position, shape (7,); empty where it is clear."""
        raise NotImplementedError

    def path_clear(
        self, path: JointTrajectory | Array, ignore: Ignore = ()
    ) -> Contact | None:
        """
        Return the first contact along a motion, None where there is none.

        Args:
            path: A trajectory, or joint positions of shape (n, 7) that are joined by straight
                lines [rad]. Looked at in steps of a few centimetres at most.
            ignore: What may be touched.
        """
        raise NotImplementedError


def finger_clearance(
    T_base_tcp: Array, width_m: float, obstacles: Sequence[Obstacle]
) -> tuple[float, str]:
    """
    Return how near the open fingers come to neighbours at a top-down grasp pose.

    Args:
        T_base_tcp: Grasp pose, shape (4, 4), the tool's z axis pointing down.
        width_m: Distance between the fingers [m].
        obstacles: The neighbours, without the object that is grasped.

    Returns:
        Smallest horizontal gap, negative where they overlap [m], and whose it is
        (infinity and '' where nothing stands at that height).
    """
    raise NotImplementedError
