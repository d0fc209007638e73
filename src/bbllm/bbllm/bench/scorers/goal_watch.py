"""A household that is compared with its goal after each step, and not only at the end."""

from bbllm.bench.suites.house_goals import FinalStateGoal, HouseholdGoal
from bbllm.bench.suites.household import judge_household
from bbllm.bench.suites.scores import Score
from bbllm.core.types import Outcome, Scene, Skill, SkillCall
from bbllm.worlds.household.world import HouseholdWorld


class WatchedHousehold:
    """
    A world that remembers whether its goal was ever reached.

    FLTRNN ends an episode with success as soon as all predicates of a goal are met after a step,
    so that what is spoilt later, or left undone after a last check, does not count there.
    """

    def __init__(self, world: HouseholdWorld, goal: HouseholdGoal | FinalStateGoal):
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
        return judge_household(self._goal, world.graph, world.derived.now, seat=world.seat)
