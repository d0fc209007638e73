"""Plays one episode in a household of symbols, in this process, and judges the household."""

from bbllm.core.protocols import EventSink
from bbllm.core.types import Outcome, Scene, Skill, SkillCall
from bbllm.llm.models.factory import Models
from bbllm.worlds.household.derived import DerivedStates
from bbllm.worlds.household.world import HouseholdWorld
from bbllm_bench.log.episodes import EpisodeSpec
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.runner.episode_setup import Alone, begin_episode
from bbllm_bench.scorers.scoring import score
from bbllm_bench.suites.house_goals import FinalStateGoal, HouseGoal
from bbllm_bench.suites.household import judge_household
from bbllm_bench.suites.published_states import add_published
from bbllm_bench.suites.scores import Score


def play_with(job: EpisodeSpec, models: Models, sink: EventSink, around: Alone) -> EpisodeResult:
    """Play an episode to its end and judge it; see `play_tabletop.play_with`."""
    house, goal = job.case.house, job.case.house_goal
    world = HouseholdWorld(
        house.build(),
        mode=house.mode,
        visibility=house.sight,
        # Who scores as the published program does counts what that counts.
        derived=DerivedStates(add_published) if isinstance(goal, FinalStateGoal) else None,
        seed=job.case.noise_seed,
        constraints=house.constraints,
    )
    rules = {'mode': house.mode.value, 'visibility': house.visibility}
    _, execute = begin_episode(job, models, sink, around, house=house.name, **rules)
    watch = WatchedHousehold(world, goal)
    before, start = world.observe(), watch.judge()
    episode = execute(watch)
    end = watch.judge()
    return score(
        job,
        episode,
        before=before,
        after=world.observe(),
        robot_s=world.time_s,
        unsafe=None,  # nothing here can be unsafe
        judged=(start, end),
        # Where nothing is left to do, no step is needed, whatever is spoilt later.
        held_once=watch.held_once or start.passed or end.passed,
    )


class WatchedHousehold:
    """
    A world that remembers whether its goal was ever reached.

    FLTRNN ends an episode with success as soon as all predicates of a goal are met after a step,
    so that what is spoilt later, or left undone after a last check, does not count there.
    """

    def __init__(self, world: HouseholdWorld, goal: HouseGoal):
        self._world = world
        self._goal = goal
        self.held_once = False
        """Whether all of the goal was so at once after some step."""

    @property
    def skills(self) -> tuple[Skill, ...]:
        return self._world.skills

    def observe(self) -> Scene:
        return self._world.observe()

    def execute(self, call: SkillCall) -> Outcome:
        outcome = self._world.execute(call)
        self.held_once = self.held_once or (outcome.succeeded and self.judge().passed)
        return outcome

    def stop(self) -> None:
        self._world.stop()

    def judge(self) -> Score:
        world = self._world
        return judge_household(
            self._goal,
            world.graph,
            world.derived.now,
            seat=world.seat,
            done=[line.action for line in world.lines],
        )
