"""
`expert` as a model of households: an upper bound for what a planner's loop can reach.

It is handed the start and the goal of a case, and by each episode what was done and how it went.
It keeps a copy of the house up to date, plans from there, and writes the plan in the format that
the request declares. Prompts are not read, so that nothing they lack can fail. Constraints that
no scene shows it learns from the outcomes of failed actions. It names what the planner sees.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from bbllm.bench.optimal.house_state import GOING, HouseState, NoPlanError
from bbllm.bench.oracle.household import reply_format as write
from bbllm.bench.oracle.household.learned_constraints import LearnedConstraints
from bbllm.bench.oracle.household.sub_goal_split import groups_of
from bbllm.bench.oracle.household.subplan import plan_for
from bbllm.bench.oracle.reply_format import numbered
from bbllm.bench.suites.house_goals import HouseholdGoal
from bbllm.bench.suites.house_predicates import goal_of
from bbllm.bench.suites.house_start import HouseStart
from bbllm.core.cancel import CancelToken
from bbllm.core.naming import class_of, id_of
from bbllm.core.protocols import (
    ChatModel,
    JsonSchema,
    Message,
    PromptRequest,
    Reply,
    Situation,
)
from bbllm.core.registry import plain_name
from bbllm.core.types import Outcome, SkillCall
from bbllm.llm.scripted import cut_at_stop
from bbllm.planners.common.belief.grammar import ADD, REASON, UPDATE
from bbllm.planners.common.belief.prompting import PLAN_LIMIT
from bbllm.planners.common.goal_predicates import GoalPredicate, goal_sentence, goal_text
from bbllm.planners.common.scene_graph import scene_graph
from bbllm.planners.common.short_names import ShortNames
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.visibility import visibility_of
from bbllm.worlds.household.world import HouseholdWorld

NAME = 'expert'
PLANNERS = (
    *('prog_prompt', 'lang_prompt', 'huang', 'brain_body', 'base_llm', 'llm_state'),
    *('fltrnn', 'planning_only', 'planning_reasoning', 'inner_monologue'),
)
"""Planners whose requests it answers."""
GIVES_UP_AFTER = 3
"""How often one call may fail before the oracle gives the task up."""


class HouseholdOracle:
    """
    A `SituatedModel` for one case.

    Args:
        start: The house as the trial finds it; None for a model that is asked nothing.
        goal: What the case asks for.
        situation: The episode; None outside of one.
    """

    name = NAME
    supports_schema = False

    def __init__(
        self,
        start: HouseStart | None = None,
        goal: HouseholdGoal | None = None,
        situation: Situation | None = None,
    ):
        self._start = start
        self._goal = goal
        self._replies: _Replies | None = None
        if start is not None and goal is not None and situation is not None:
            self._replies = _Replies(start, goal, situation)

    def in_episode(self, situation: Situation) -> ChatModel:
        """Return the model for one episode; see `SituatedModel`."""
        return HouseholdOracle(self._start, self._goal, situation)

    def refusal(self, planner: str) -> str:
        """Return why it cannot answer a planner; see `SituatedModel`."""
        if plain_name(planner) in PLANNERS:
            return ''
        return (
            f'The planner {planner} cannot work with `{NAME}` in houses: there it answers '
            f'{", ".join(PLANNERS)}. Choose one of these, or name a language model.'
        )

    def complete(
        self,
        messages: Sequence[Message],
        *,
        stop: Sequence[str] = (),
        schema: JsonSchema | None = None,
        cancel: CancelToken | None = None,
    ) -> Reply:
        """Answer the latest request of a conversation; it costs no tokens."""
        begun_s = time.perf_counter()
        requests = [item.request for item in messages if item.request is not None]
        if not requests:
            text = f'cannot: the prompt declares no request, and `{NAME}` reads no prompts.'
        elif self._replies is None:
            text = f'cannot: `{NAME}` has no case here; it works in `bbllm bench` only.'
        else:
            text = self._replies.to(requests[-1])
        text = cut_at_stop(text, stop)
        return Reply(text=text, model=NAME, duration_s=time.perf_counter() - begun_s)


class _Replies:
    """Replies to the requests of one episode."""

    def __init__(self, start: HouseStart, goal: HouseholdGoal, situation: Situation):
        self._goal = goal
        self._situation = situation
        self._sight = visibility_of(start.visibility)
        self._world = HouseholdWorld(start.build(), mode=start.mode, visibility=self._sight)
        self._names = ShortNames()
        self._names.see(self._world.observe())
        self._learned = LearnedConstraints()
        self._failed: Counter[SkillCall] = Counter()
        self._succeeded = 0
        self._touched: dict[str, None] = {}
        self._n_events = 0
        self._plan: tuple[ScriptLine, ...] = ()
        self._groups: dict[str, tuple[GoalPredicate, ...]] = {}
        """Sub-goals that were named in a reply, by their text."""

    def to(self, request: PromptRequest) -> str:
        """Return the reply to a request, or the line with the reason for none."""
        self._keep_up()
        try:
            return self._reply(request)
        except NoPlanError as error:
            return f'cannot: {error}'

    def _reply(self, request: PromptRequest) -> str:
        match request.kind:
            case 'plan' | 'steps':
                return numbered(write.steps(self._planned(by_class=True)))
            case 'next_step':
                if request.start == 0:
                    self._plan = self._planned(by_class=True)
                texts = [*write.steps(self._plan), 'Done']
                return f'{request.start}: {texts[min(request.start, len(texts) - 1)]}'
            case 'repair':
                return write.repair(self._tried_less(self._planned(by_class=True)), request.start)
            case 'calls':
                return write.calls_in_brackets(self._planned(by_class=True))
            case 'call':
                return write.call_of_step(request.text, request.scene)
            case 'program':
                return write.program(self._planned(by_class=True))
            case 'rest':
                lines = self._tried_less(self._planned(by_class=True))
                return write.program(lines) if lines else 'done'
            case 'attention':
                return self._attention()
            case 'estimate':
                return self._estimate(request.text)
            case 'actions':
                seen = self._in_sight(self._tried_less(self._planned()))
                return write.low_level_plan(seen[: PLAN_LIMIT - 1], self._names)
            case 'next_action':
                seen = self._in_sight(self._tried_less(self._planned()))
                return write.next_action(seen, self._names)
            case 'sub_goals':
                return ', '.join(f'subgoal{{{text}}}' for text in self._split(goal_text))
            case 'sub_tasks':
                return '\n'.join(
                    f'{i}. {text}' for i, text in enumerate(self._split(goal_sentence), 1)
                )
            case 'function':
                return write.function_body(self._in_sight(self._for_sub_goal(request.text)))
        return f'cannot: {NAME} has no reply for a request of the kind {request.kind}.'

    # --- what has happened ----------------------------------------------------------------------

    def _keep_up(self) -> None:
        """Repeat in the copy of the house what was done since the last request."""
        events = self._situation.events()
        for event in events[self._n_events :]:
            if isinstance(event.data, Outcome):
                self._repeat(event.data)
        self._n_events = len(events)

    def _repeat(self, outcome: Outcome) -> None:
        if outcome.succeeded:
            self._world.execute(outcome.call)
            self._names.see(self._world.observe())
            self._succeeded += 1
            self._touched.update(dict.fromkeys(outcome.call.args))
        else:
            self._failed[outcome.call] += 1
            self._learned.learn(outcome, self._world.graph)

    def _state(self, *, by_class: bool) -> HouseState:
        world = self._world
        household = Household(world.graph, mode=world.household.mode)
        ways = [line for line in world.lines if line.action in GOING]
        seen = frozenset(n for name in world.observe().names if (n := id_of(name)) is not None)
        whole = self._sight.reach == 'full'
        return HouseState(
            self._learned.applied_to(household),
            world.derived.now,
            found=ways[-1].objects[0][1] if ways else None,
            known=None if whole else seen,
            sight=self._sight,
            by_class=by_class,
        )

    # --- plans ----------------------------------------------------------------------------------

    def _planned(self, *, by_class: bool = False) -> tuple[ScriptLine, ...]:
        """
        Return the lines that lead to the goal.

        Where no plan can be written in classes, it is one of objects: a planner that names classes
        then grounds them as it may.
        """
        state = self._state(by_class=by_class)
        try:
            return plan_for(state, self._goal, shortest=True).lines
        except NoPlanError:
            if not by_class:
                raise
            return plan_for(replace(state, by_class=False), self._goal, shortest=True).lines

    def _tried_less(self, lines: tuple[ScriptLine, ...]) -> tuple[ScriptLine, ...]:
        """Return a plan; raises where its first call has failed too often."""
        if lines and self._failed[call := write.call_of(lines[0])] >= GIVES_UP_AFTER:
            raise NoPlanError(f'{call} failed {GIVES_UP_AFTER} times, and nothing else would do.')
        return lines

    def _in_sight(self, lines: Iterable[ScriptLine]) -> list[ScriptLine]:
        """Return the lines before the first that names what is not seen yet."""
        seen = set(self._world.observe().names)
        kept: list[ScriptLine] = []
        for line in lines:
            if not seen.issuperset(write.call_of(line).args):
                break
            kept.append(line)
        return kept

    # --- sub-goals ------------------------------------------------------------------------------

    def _split(self, text_of: Callable[[Sequence[GoalPredicate]], str]) -> list[str]:
        """Return the parts of the goal as texts, and remember what each of them means."""
        groups = groups_of(self._goal, self._world.graph)
        if not groups:
            return [self._situation.task.instruction]
        self._groups = {text_of(group): group for group in groups}
        return list(self._groups)

    def _for_sub_goal(self, text: str) -> tuple[ScriptLine, ...]:
        """Return the lines for a part of the goal; for the whole goal where it is none."""
        state = self._state(by_class=False)
        group = self._groups.get(text)
        if group is None:
            return plan_for(state, self._goal, shortest=False).lines
        others = [item for part in self._groups.values() for item in part if item not in group]
        keep = [each for each in goal_of(others).all if state.holds([each])] if others else []
        return plan_for(state, goal_of(group), keep=keep, shortest=False).lines

    # --- LLM-State's state ----------------------------------------------------------------------

    def _attention(self) -> str:
        """Name what is seen of the classes of the goal."""
        matters = {name for item in self._goal.all for name in item.classes}
        names = [n for n in self._world.observe().names if class_of(n) in matters]
        new = [name for name in names if name not in self._touched]
        self._touched.update(dict.fromkeys(new))
        return '\n'.join(f'{ADD}("{self._names.short(name)}")' for name in new) or 'none'

    def _estimate(self, functions: str) -> str:
        """Write a summary and the attributes of objects, as far as they are asked for."""
        lines = []
        if REASON in functions:
            n_failed = sum(self._failed.values())
            lines.append(f'{REASON}("{self._succeeded} actions succeeded and {n_failed} failed.")')
        if UPDATE in functions:
            around = scene_graph(self._world.observe())
            for name in self._touched:
                words = list(around.states.get(name, ()))
                words += [
                    f'{how} {self._names.short(place)}'
                    for thing, how, place in around.placed
                    if thing == name
                ]
                words += ['in hand'] if name in around.held else []
                if words:
                    short = self._names.short(name)
                    lines.append(f'{UPDATE}("{short}", "{" | ".join(words)}")')
        return '\n'.join(lines) or 'none'
