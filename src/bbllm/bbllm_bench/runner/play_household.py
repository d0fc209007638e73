"""Plays one episode in a household of symbols, in this process, and judges the household."""

from bbllm.core.protocols import EventSink
from bbllm.llm.models.factory import Models
from bbllm.worlds.household.world import HouseholdWorld
from bbllm_bench.log.episodes import EpisodeSpec
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.runner.episode_setup import Alone, begin_episode
from bbllm_bench.scorers.scoring import score
from bbllm_bench.suites.house_goals import HouseGoal
from bbllm_bench.suites.household import judge_household
from bbllm_bench.suites.scores import Score


def play_with(job: EpisodeSpec, models: Models, sink: EventSink, around: Alone) -> EpisodeResult:
    """Play an episode to its end and judge it; see `play_tabletop.play_with`."""
    house, goal = job.case.house, job.case.house_goal
    world = HouseholdWorld(
        house.build(),
        mode=house.mode,
        visibility=house.sight,
        constraints=house.constraints,
    )
    rules = {'mode': house.mode.value, 'visibility': house.visibility}
    _, execute = begin_episode(job, models, sink, around, house=house.name, **rules)
    before, start = world.observe(), _judged(world, goal)
    episode = execute(world)
    return score(
        job,
        episode,
        before=before,
        after=world.observe(),
        robot_s=world.time_s,
        unsafe=None,  # nothing here can be unsafe
        judged=(start, _judged(world, goal)),
    )


def _judged(world: HouseholdWorld, goal: HouseGoal) -> Score:
    return judge_household(
        goal,
        world.graph,
        world.derived.now,
        seat=world.seat,
        done=[line.action for line in world.lines],
    )
