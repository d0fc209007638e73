"""The Body in a household, where it answers in classes."""

from random import Random

from bbllm.core.errors import ParseError
from bbllm.core.protocols import Body, EpisodeContext, Pass, World
from bbllm.core.skill_calls import CallError
from bbllm.core.types import PlanStep, Scene, SkillCall, Task
from bbllm.planners.common.grounding import Policy, Referents
from bbllm.planners.domains.household.actions import MOVES, WORLD_WORDS, shown_to_body


class HouseBody:
    """
    Shows another Body classes in place of objects, and grounds its answers; for one episode.

    An object to put somewhere is one in a hand, else the choice of the policy.
    """

    def __init__(self, body: Body, policy: Policy, task: Task, context: EpisodeContext):
        self.name, self.reads_calls = body.name, body.reads_calls
        self._body = body
        # Seeded by the episode, so that a replay makes the same choices.
        self._referents = Referents(policy, Random(task.id), context, put_unheld=True)

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        """Return a call on objects of the scene, or a pass; see `Body`."""
        call = self._body.map(step, shown_to_body(scene))
        if isinstance(call, Pass):
            return call
        if call.skill in MOVES:
            return Pass(f'{call.skill} changes nothing in a household, which has no positions.')
        try:
            meant = SkillCall(WORLD_WORDS.get(call.skill, call.skill), call.args)
            return self._referents.resolve(meant, scene)
        except CallError as error:
            raise ParseError(str(error)) from error


def body_in(world: World, body: Body, policy: Policy, task: Task, context: EpisodeContext) -> Body:
    in_house = world.observe().is_symbolic
    return HouseBody(body, policy, task, context) if in_house else body
