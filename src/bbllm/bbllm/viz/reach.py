"""How far the arm reaches, for the ring that pictures draw."""

from functools import cache

from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.worlds.scene.reaching import ReachCache


@cache
def reach_ring() -> tuple[float, float] | None:
    """
    Return how near and how far from its axis the hand can grasp, straight ahead [m].

    The question is the one that scenes answer with `reachable`, at many distances. The base
    joint turns nearly all the way round, so that the reach is the same all around.
    """
    reach = ReachCache()
    good = [x for x in (0.01 * index for index in range(5, 105)) if reach(_place_at(x))]
    return (good[0], good[-1]) if good else None


def _place_at(x: float) -> SceneObject:
    return SceneObject(name='here', kind=Kind.LOCATION, pose=Pose(position_m=(x, 0.0, 0.0)))
