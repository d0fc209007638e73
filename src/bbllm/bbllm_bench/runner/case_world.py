"""What the world of a case is besides its table: remembered beliefs, and rehearsed plans."""

from bbllm.core.protocols import World
from bbllm.planners.common.belief.belief_world import EstimatingWorld
from bbllm.planners.common.belief.rule_state_estimator import RuleEstimator
from bbllm_bench.log.episodes import EpisodeSpec


def remembered(table: World, job: EpisodeSpec) -> World:
    """
    Return the world of a case: where it has earlier episodes, one whose scenes include beliefs.

    As those of the node `state_estimator` with open_state:=rules do, which keeps them over
    episodes just so; who reads them is up to the planner.
    """
    if not job.case.earlier:
        return table
    return EstimatingWorld(table, RuleEstimator)


def rehearsed(world: World, job: EpisodeSpec) -> World:
    """Return a world in which plans are rehearsed, where the run asks for it."""
    if not job.config.rehearse:
        return world
    from bbllm.worlds.tabletop.rehearsal import WRONG_TWINS, RehearsalSettings, RehearsedWorld

    settings = RehearsalSettings(
        samples=job.config.rehearse,
        seed=job.case.noise_seed or 0,
        deviation=WRONG_TWINS[job.config.twin_error],
    )
    return RehearsedWorld(world, settings)
