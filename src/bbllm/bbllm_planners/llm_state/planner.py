"""LLM-State: the model keeps a state of the relevant objects, and plans on by it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from bbllm import EpisodeContext, Task, World, errors, events
from bbllm.planning import (
    ModelPlanner,
    OpenState,
    PlannerSpec,
    PromptRequest,
    language_of,
)
from bbllm_planners.hands import Hands
from bbllm_planners.llm_state.grammar import (
    ADD,
    REASON,
    UPDATE,
    parse_attention,
    parse_estimate,
)
from bbllm_planners.llm_state.prompting import PLAN_LIMIT, PlanPrompts
from bbllm_planners.low_level_plan import LowLevelPlan, parse_low_level_plan

MAX_STATE_LENGTH = 8000
"""Maximum length of all attributes together, which every prompt of the policy contains: 40
characters for each of some 200 objects [characters]."""
LISTED = re.compile(
    r'(?:not )?(?:open(?:ed)?|closed?|shut|on|off|in|inside|held)\b', re.IGNORECASE
)
"""Begins an attribute of a kind that scenes list: a state of a door or switch, or a place."""
MAX_ROUNDS = 150
"""How many plans an episode may have; the paper limits steps only, to at most 150."""


@dataclass(frozen=True, slots=True)
class LLMStateOptions:
    """Options of the planner."""

    states: bool = True
    """Whether a state is kept at all; without, there is only the policy."""
    summary: bool = True
    """Whether the state has a summary of what has happened."""
    objects: bool = True
    """Whether the state has objects with attributes."""
    estimate: Literal['listed', 'model'] = 'listed'
    """What the attributes are by: what scenes list, and the model where a call failed or did what
    no scene lists; or the model alone, as in the paper."""
    messages: bool = False
    """Whether the history has the reason of a failure; in the paper it has only the failure."""


@dataclass(frozen=True)
class LLMState(ModelPlanner):
    """
    The planning method of the paper, its Algorithm 1.

    Source: Chen et al., LLM-State; docs/planners/llm-state.md lists departures. After each plan,
    and after each failed step, the model plans anew until it reports the end.
    """

    options: LLMStateOptions = LLMStateOptions()

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """Work on the task until the model's plan is empty, or raise GaveUpError."""
        with context.taking_remarks():
            self._run(task, world, context)

    def _run(self, task: Task, world: World, context: EpisodeContext) -> None:
        hands = Hands(world, context)
        options = self.options
        objects = options.states and options.objects
        summary = options.states and options.summary
        prompts = PlanPrompts(hands.names, messages=options.messages)
        state = OpenState()
        n_estimated = 0
        unread: events.LineDiscarded | None = None
        attended: frozenset[str] = frozenset()
        for _ in range(MAX_ROUNDS):
            try:
                if context.take_human_feedback():
                    attended = frozenset()  # other objects may matter now
                now = context.current(task)
                # Each role is asked only when there is something new for it.
                if objects and not attended.issuperset(hands.scene.names):
                    prompt = prompts.attention(now, state, hands.history, hands.scene)
                    state = self._attend(state, prompt, hands, context)
                    attended |= {*hands.scene.names}
                if (objects or summary) and self._asks_estimator(hands, n_estimated):
                    prompt = prompts.estimator(
                        now, state, hands.history, hands.scene, summary=summary, objects=objects
                    )
                    asked = [REASON] * summary + [UPDATE] * objects
                    state = self._estimated(state, prompt, asked, hands, context)
                    n_estimated = len(hands.history)
                shown = None
                if objects or summary:
                    shown = self._with_listed(state, n_estimated, hands)
                    if hands.history:
                        context.emit(events.BeliefsEstimated(shown.attributes, shown.summary))
                prompt = prompts.policy(now, shown, hands.history, hands.scene, unread)
                plan = self._plan(prompt, hands, context)
            except errors.SpokenError:
                continue
            if not plan.calls:
                context.report_done()
                return
            hands.carry_out(plan.calls)
            unread = plan.unread
        raise errors.GaveUpError(
            f'After {MAX_ROUNDS} plans the model has not replied that it is done. A plan of '
            'several steps at a time would have come further.'
        )

    def _attend(
        self, state: OpenState, prompt: str, hands: Hands, context: EpisodeContext
    ) -> OpenState:
        known = []
        request = PromptRequest(kind='attention', scene=hands.scene)
        for word in self.ask(prompt, parse_attention, request, context).objects:
            if (name := hands.names.name(word)) is None:
                why = f'There is nothing named {word[:60]}.'
                context.emit(events.LineDiscarded(f'{ADD}("{word[:60]}")', why, refused=True))
            else:
                known.append(name)
        return state.with_objects(known)

    def _asks_estimator(self, hands: Hands, n_estimated: int) -> bool:
        """Return whether calls after the first `n_estimated` need the model's estimate."""
        history = hands.history
        if self.options.estimate == 'model':
            return bool(history)
        lists_effects = language_of(hands.scene).lists_effects
        return any(
            not outcome.succeeded or not lists_effects(history[:end])
            for end, outcome in enumerate(history, 1)
            if end > n_estimated
        )

    def _with_listed(self, state: OpenState, n_estimated: int, hands: Hands) -> OpenState:
        """Return the state of now: what the scene lists, and the model's estimate of the rest."""
        if self.options.estimate == 'model':
            return state
        scene, history, summary = hands.scene, hands.history, state.summary
        if summary and n_estimated < len(history):
            summary = f'(up to action {n_estimated}) {summary}'
        attributes: dict[str, tuple[str, ...]] = {}
        named = [name for outcome in history for name in outcome.call.args]
        for name in dict.fromkeys([*state.attributes, *named] if self.options.objects else []):
            listed = language_of(scene).attributes(name, scene, hands.names)
            believed = [w for w in state.attributes.get(name, ()) if not LISTED.match(w)]
            if name in state.attributes or listed:
                attributes[name] = tuple(dict.fromkeys([*listed, *believed]))
        return OpenState(attributes, summary)

    def _estimated(
        self,
        state: OpenState,
        prompt: str,
        asked: Sequence[str],
        hands: Hands,
        context: EpisodeContext,
    ) -> OpenState:
        """
        Return the state that the model derives from the first step on each time.

        Source: section IV-C2: the prompt omits previous beliefs, so that a mistake does not
        persist.
        """
        read = partial(parse_estimate, functions=asked)
        request = PromptRequest(kind='estimate', scene=hands.scene, text=' '.join(asked))
        found = self.ask(prompt, read, request, context)
        new = OpenState(state.blank().attributes, found.summary)
        room = MAX_STATE_LENGTH
        for word, attributes in found.attributes:
            name = hands.names.name(word)
            length = sum(map(len, attributes))
            if name is not None and length <= room:
                room -= length
                new = new.with_attributes(name, attributes)
                continue
            why = f'There is nothing named {word[:60]}.'
            if name is not None:
                why = f'All attributes together have at most {MAX_STATE_LENGTH} characters.'
            line = f'{UPDATE}("{word[:60]}", ...)'
            context.emit(events.LineDiscarded(line, why, refused=True))
        return new

    def _plan(self, prompt: str, hands: Hands, context: EpisodeContext) -> LowLevelPlan:
        read = partial(parse_low_level_plan, actions=hands.actions)
        request = PromptRequest(kind='actions', scene=hands.scene)
        plan = self.ask(prompt, read, request, context)
        for call in plan.calls[PLAN_LIMIT - 1 :]:
            why = f'A plan has fewer than {PLAN_LIMIT} steps; more can be planned afterwards.'
            context.emit(events.LineDiscarded(str(call), why, refused=True))
        return replace(plan, calls=plan.calls[: PLAN_LIMIT - 1])


LLM_STATE = PlannerSpec(
    factory=LLMState, options=LLMStateOptions(), uses_feedback=False, asks_body=False
)
