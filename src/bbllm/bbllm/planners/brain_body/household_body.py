"""A Body in a household: it answers in classes, and a policy chooses the things."""

from __future__ import annotations

from random import Random

from bbllm.core.errors import ParseError
from bbllm.core.protocols import PASS, Body, EpisodeContext, Pass
from bbllm.core.skill_calls import CallError
from bbllm.core.types import PlanStep, Scene, SkillCall
from bbllm.planners.common.grounding import Policy
from bbllm.planners.common.house_actions import MOVES, WORLD_WORDS, shown_to_body
from bbllm.planners.common.program import Call, Referents


class HouseBody:
    """
    Shows another Body classes in place of things, and grounds what it answers.

    What is put somewhere means what is in a hand, else what the policy chooses, so that the world
    refuses it in its own words. What was gone to last is remembered; see `Referents`.
    """

    def __init__(self, body: Body, policy: Policy, rng: Random, context: EpisodeContext):
        """
        Make a Body for one episode.

        Args:
            body: Who answers.
            policy: How one of several things of a class is chosen.
            rng: Decides where chance does.
            context: Is told what was chosen.
        """
        self.name = body.name
        self._body = body
        self._referents = Referents(policy, rng, context, put_unheld=True)
        self._context = context

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        """
        Return a call on things of the scene, or PASS.

        Raises:
            ParseError: The Body's answer was not understood, or names nothing that is there.
            ModelError: The model could not be reached.
        """
        call = self._body.map(step, shown_to_body(scene))
        if call is PASS:
            return PASS
        assert isinstance(call, SkillCall)
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
