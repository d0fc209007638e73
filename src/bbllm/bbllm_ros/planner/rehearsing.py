"""Plans rehearsed over the graph: simulated by the planner, with the rules of the executor."""

from bbllm.core.cancel import CancelToken
from bbllm.core.constants import REHEARSAL_SAMPLES
from bbllm.core.protocols import World
from bbllm_ros.planner.ros_world import RosWorld


def rehearsed(world: RosWorld, samples: int) -> World:
    """
    Return a world whose plans are tried in so many simulations first; itself for none.

    Negative *samples* stand for `REHEARSAL_SAMPLES` where a person approves plans. Raises
    WorldError where the executor does not report its rules in time.
    """
    if samples < 0:
        samples = REHEARSAL_SAMPLES if world.approves_plans() else 0
    if not samples:
        return world
    # Physics takes a second to import, which a planner without rehearsals need not wait for.
    from bbllm.worlds.tabletop.rehearsal import RehearsalSettings, RehearsedWorld

    safety = world.executor_settings.envelope(CancelToken(world.check))
    return RehearsedWorld(world, RehearsalSettings(samples=samples, safety=safety))
