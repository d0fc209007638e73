"""A Body in a household: it answers in classes, and a policy chooses the objects."""

from random import Random

from bbllm.core.errors import ParseError
from bbllm.core.protocols import PASS, Body, EpisodeContext, Pass, World
from bbllm.core.skill_calls import CallError
from bbllm.core.types import PlanStep, Scene, SkillCall, Task
from bbllm.planners.common.grounding import Policy
from bbllm.planners.common.house_actions import MOVES, WORLD_WORDS, shown_to_body
from bbllm.planners.common.program import Call, Referents
from bbllm.planners.common.scene_graph import HOUSEHOLD


class HouseBody:
    """
    Shows another Body classes in place of objects, and grounds its answers; for one episode.

    An object to put somewhere is one in a hand, else the choice of the policy, so that the world
    refuses it in its own words. The object last gone to is remembered; see `Referents`.
    """

    def __init__(self, body: Body, policy: Policy, task: Task, context: EpisodeContext):
        self.name = body.name
        self._body = body
        # Seeded by the episode, so that a replay makes the same choices.
        self._referents = Referents(policy, Random(task.id), context, put_unheld=True)
        self._context = context

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        """Return a call on objects of the scene, or PASS; see `Body`."""
        call = self._body.map(step, shown_to_body(scene))
        if call is PASS:
            return PASS
        if call.skill in MOVES:
            self._context.warn(
                f'{call.skill} changes nothing in a household, which has no positions; the step '
                f'{step.text[:80]!r} is passed over.'
            )
            return PASS
        try:
            meant = Call(WORLD_WORDS.get(call.skill, call.skill), call.args)
            return self._referents.resolve(meant, scene)
        except CallError as error:
            raise ParseError(str(error)) from error


def body_in(world: World, body: Body, policy: Policy, task: Task, context: EpisodeContext) -> Body:
    """Return the Body for the kind of a world."""
    in_house = world.observe().domain == HOUSEHOLD
    return HouseBody(body, policy, task, context) if in_house else body
