"""How near the hand and what it carries come to what a call is not about, in a simulation."""

from collections.abc import Collection

import mujoco
import numpy as np

from bbllm.core.types import Scene, SkillCall
from bbllm.sim.simulation import Simulation

NEAR_M = 0.05
"""Distances beyond this are not measured [m]."""
AROUND_M = 0.25
"""Objects whose middle is farther from the hand than this are not near [m]."""


class NearestApproach:
    """
    The least distance of one simulation so far; `sample` is called while time passes.

    By `mj_geomDistance` of MuJoCo, between the shapes that collide.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        hand = simulation.robot_model.hand
        self._hand = _shapes(simulation, (hand.body, *hand.fingers))
        names = (item.name for item in simulation.scene.movables)
        self._objects = {name: _shapes(simulation, (name,)) for name in names}
        self._about: frozenset[str] = frozenset()
        self._carried: str | None = None
        self.distance_m: float | None = None
        """None where nothing came nearer than `NEAR_M` [m]."""
        self.name = ''
        """The object of that distance."""

    def begin(self, call: SkillCall, scene: Scene) -> None:
        """Measure for a call from now on: not to its objects, nor to what these stand on."""
        about = {*call.args, *([scene.held] if scene.held else [])}
        below = {fact.object for fact in scene.facts if fact.predicate in ('on', 'in')}
        self._about = frozenset(about | {name for name in below if _carries(name, about, scene)})
        self._carried = scene.held

    def sample(self) -> None:
        """Measure the distances as they are now."""
        model, data = self._simulation.model, self._simulation.data
        hand_m = data.geom_xpos[self._hand[0]]
        movers = [*self._hand, *self._objects.get(self._carried or '', ())]
        for name, shapes in self._objects.items():
            if name in self._about or not shapes:
                continue
            if np.linalg.norm(data.geom_xpos[shapes[0]] - hand_m) > AROUND_M:
                continue
            for one in movers:
                for other in shapes:
                    found = mujoco.mj_geomDistance(model, data, one, other, NEAR_M, None)
                    if found < (NEAR_M if self.distance_m is None else self.distance_m):
                        self.distance_m, self.name = max(found, 0.0), name


def _carries(name: str, above: Collection[str], scene: Scene) -> bool:
    return any(fact.object == name and fact.subject in above for fact in scene.facts)


def _shapes(simulation: Simulation, bodies: Collection[str]) -> list[int]:
    model = simulation.model
    ids = {int(model.body(name).id) for name in bodies}
    return [
        geom
        for geom in range(model.ngeom)
        if int(model.geom_bodyid[geom]) in ids and model.geom_contype[geom]
    ]
