"""`expert` as a ChatModel, for planners of households."""

from __future__ import annotations

from collections.abc import Sequence

from bbllm.bench.household_expert.conclusions import refused_in
from bbllm.bench.household_expert.lessons import NOTHING
from bbllm.bench.household_expert.moves import Said, Standing
from bbllm.bench.household_expert.prompts import COMMENT, Asked, Prompt, read_prompt, verdict
from bbllm.bench.household_expert.search import NoPlanError, search
from bbllm.bench.household_expert.voices import VOICES
from bbllm.bench.household_expert.wording import (
    bracketed,
    program,
    read_step,
    said,
    step_text,
)
from bbllm.bench.suites.house_goals import HouseholdGoal
from bbllm.bench.suites.house_start import HouseStart
from bbllm.core.errors import ParseError
from bbllm.core.protocols import Message
from bbllm.llm.stand_in import StandIn, numbered
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.visibility import FULL, Visibility, visibility_of
from bbllm.worlds.household.vocabulary import Action

NAME = 'expert'
PLANNERS = (
    *('prog_prompt', 'lang_prompt', 'huang', 'brain_body', 'base_llm', 'llm_state'),
    *('fltrnn', 'planning_only', 'planning_reasoning', 'inner_monologue'),
)
"""Planners whose prompts it reads."""
PASS = '<pass>'
NO_CASE = f'{NAME} was told no case; it works in `bbllm bench` only.'


class HouseholdExpert(StandIn):
    """
    A deterministic stand-in that is told the start and the goal of a case.

    All that it knows beside these it reads in the prompt: how far a plan has come, and which step
    failed. What no scene tells of a house (`worlds.household.constraints`) it is not told either.
    It takes each class for what it would mean to a planner that grounds by `nearest`; with
    another policy things can turn out otherwise than it believes.

    Args:
        start: The house as the trial finds it; None for one that is asked nothing.
        goal: What the case asks for.
    """

    name = NAME

    def __init__(self, start: HouseStart | None = None, goal: HouseholdGoal | None = None):
        self._start = start
        self._goal = goal
        self._plan: list[Said] | None = None

    def _answer(self, messages: Sequence[Message]) -> str:
        texts = [message.content for message in messages if message.role == 'user']
        try:
            # The last message may only say why a reply to the one before cannot be used.
            answers = (voice(text, self) for text in reversed(texts) for voice in VOICES)
            if answer := next(filter(None, answers), None):
                return answer
            prompts = [prompt for text in texts if (prompt := read_prompt(text))]
            if not prompts:
                return f'cannot: {NAME} reads only the prompts of {", ".join(PLANNERS)} in houses.'
            return self._reply(prompts[-1])
        except (NoPlanError, ParseError) as error:
            return f'cannot: {error}'

    def _reply(self, prompt: Prompt) -> str:
        if prompt.asked is Asked.VERDICT:
            return str(verdict(prompt.text))
        if prompt.asked is Asked.CALL:
            step = read_step(prompt.step)
            return PASS if step is None else bracketed(step, prompt.actions)
        if prompt.asked is Asked.REPAIR:
            return self._repair(prompt)
        plan = self._planned()
        if prompt.asked is Asked.PROGRAM:
            return program(
                plan,
                # What the prompt's own functions have; an ablation leaves it out.
                comments=COMMENT in prompt.text,
                assertions='\tassert(' in prompt.text,
                rooms=self._rooms(),
            )
        if prompt.asked is Asked.CALLS:
            return numbered([bracketed(item, prompt.actions) for item in plan])
        texts = [step_text(item) for item in plan]
        if prompt.asked is Asked.NEXT_STEP:
            return f'{prompt.start}: {[*texts, "Done"][min(prompt.start, len(texts))]}'
        return numbered(texts)

    def _planned(self) -> list[Said]:
        """Return the plan from the start of the case; searched for once."""
        if self._plan is None:
            household, goal = self.case()
            self._plan = said(search(household, goal, sight=self._sight()))
        return self._plan

    def _repair(self, prompt: Prompt) -> str:
        """Go through the steps that are done, and search on from there."""
        household, goal = self.case()
        standing = Standing.beginning(household, sight=self._sight())
        lessons = NOTHING
        for i, text in enumerate(prompt.plan[: prompt.start + 1]):
            for why in prompt.refused(i):
                lessons |= refused_in(why, standing.household.graph)
            step = read_step(text) if i < prompt.start else None
            after = standing.after(step) if step is not None else None
            standing = after or standing  # what cannot be done has changed nothing
        lines = search(
            standing.household,
            goal,
            seen=standing.derived,
            found=standing.found,
            sight=standing.sight,
            lessons=lessons,
        )
        texts = [step_text(item) for item in said(lines)]
        failed = prompt.plan[prompt.start] if prompt.start < len(prompt.plan) else ''
        step = read_step(failed)
        if texts and texts[0] == failed and step is not None and step[1]:
            # By its own account it should have worked; to go there is all that could help.
            texts.insert(0, step_text((Action.WALK, step[1][-1:])))
        return (
            f'Explanation: the steps before step {prompt.start} have led to where the new plan '
            f'begins.\nNew plan:\n{numbered(texts, prompt.start)}'
        )

    def case(self) -> tuple[Household, HouseholdGoal]:
        """Return the household as it is seen at the start, and the goal; see `told.Told`."""
        if self._start is None or self._goal is None:
            raise NoPlanError(NO_CASE)
        return Household(self._start.build(), mode=self._start.mode), self._goal

    def visibility(self) -> Visibility:
        """Return how much of the household the planner is told; see `told.Told`."""
        if self._start is None:
            raise NoPlanError(NO_CASE)
        return visibility_of(self._start.visibility)

    def _sight(self) -> Visibility:
        """Return how much a planner can name."""
        return FULL if self._start is None else visibility_of(self._start.visibility)

    def _rooms(self) -> set[str]:
        household, _ = self.case()
        return {node.class_name for node in household.graph.nodes.values() if node.is_room}
