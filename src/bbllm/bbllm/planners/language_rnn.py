"""
The language RNN of FLTRNN: one cell after the other, each plans one sub-goal.

Its hidden state is the long-term memory (rules, goal, what is completed) and a memory graph; its
input is a short-term memory that is put together for the sub-goal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.protocols import ChatModel, EpisodeContext, World
from bbllm.core.types import SkillCall
from bbllm.planners.call_runner import CallRunner
from bbllm.planners.demonstrations import Demonstration
from bbllm.planners.fltrnn_goal import Goal
from bbllm.planners.fltrnn_parsing import ParsedPlan, parse_calls
from bbllm.planners.fltrnn_prompting import FLTRNNPrompts, LongTerm, ShortTerm
from bbllm.planners.fltrnn_wording import remembered
from bbllm.planners.goal_predicates import goal_text
from bbllm.planners.memory_graph import MemoryGraph
from bbllm.planners.prompting import ask
from bbllm.planners.sub_goals import SubGoal

ROUNDS = 3
"""How often a sub-goal may be worked on: a call can fail for a reason that no graph knows, and a
later sub-goal can undo it. More only repeats what failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What of the cells is varied."""

    verify: bool
    """Whether a sub-goal counts as completed only when the memory graph says so."""
    paper_code: bool
    """Whether nothing is refused, and each call is believed to have worked, as in the program."""


class LanguageRNN:
    """
    Works on sub-goals one by one.

    Args:
        model: Who plans.
        prompts: How it is asked.
        choose: Chooses the demonstrations for a sub-goal.
        world: Where it is done.
        context: Is told of it.
        memory: What is believed; changed by what is done.
        settings: See there.
    """

    def __init__(
        self,
        model: ChatModel,
        prompts: FLTRNNPrompts,
        choose: Callable[[str], Sequence[Demonstration]],
        world: World,
        context: EpisodeContext,
        memory: MemoryGraph,
        settings: Settings,
    ):
        self._model = model
        self._prompts = prompts
        self._choose = choose
        self._world = world
        self._context = context
        self._memory = memory
        self._settings = settings
        self._runner = CallRunner(world, context, for_good=not settings.verify)
        self._problems: dict[int, str] = {}
        """Why the last plan of a sub-goal did not go through, by the sub-goal's index."""

    def run(self, goal: Goal, sub_goals: Sequence[SubGoal]) -> None:
        """
        Work on all sub-goals, and again on those that were not reached or were undone.

        Raises:
            GaveUpError: Some are still not reached; says which and why.
            BbllmError: Whatever world or model raised.
        """
        long_term = LongTerm(goal.text)
        waiting = list(range(len(sub_goals)))
        for _ in range(ROUNDS):
            for index in waiting:
                sub_goal = sub_goals[index]
                self._context.tell_sub_goal(sub_goal.text, index=index, of=len(sub_goals))
                if not self._counts(index, sub_goal, at_first=True):
                    self._work_on(index, sub_goal, long_term)
                if self._counts(index, sub_goal):
                    completed = (*long_term.completed, sub_goal.text)
                    long_term = replace(long_term, completed=tuple(dict.fromkeys(completed)))
            waiting = [i for i, item in enumerate(sub_goals) if not self._counts(i, item)]
            if not waiting:
                if self._settings.verify:
                    self._context.tell_done()
                return
            undone = {sub_goals[i].text for i in waiting}
            kept = tuple(text for text in long_term.completed if text not in undone)
            long_term = replace(long_term, completed=kept)
        raise GaveUpError(
            f'Not reached after {ROUNDS} plans each: '
            + '; '.join(f'{sub_goals[i].text} ({self._lack(i, sub_goals[i])})' for i in waiting)
        )

    def _counts(self, index: int, sub_goal: SubGoal, *, at_first: bool = False) -> bool:
        """Tell whether a sub-goal counts as completed; `at_first`: before it is worked on."""
        if not self._settings.verify or not sub_goal.predicates:
            return not at_first and index not in self._problems
        return all(map(self._memory.holds, sub_goal.predicates))

    def _lack(self, index: int, sub_goal: SubGoal) -> str:
        """Say why a sub-goal does not count."""
        unmet = [item for item in sub_goal.predicates if not self._memory.holds(item)]
        lacks = [f'of {item} there are {self._memory.n_holding(item)}' for item in unmet]
        return '; '.join([*lacks, *([self._problems[index]] if index in self._problems else [])])

    def _work_on(self, index: int, sub_goal: SubGoal, long_term: LongTerm) -> None:
        again = index in self._problems
        short_term = ShortTerm(
            sub_goal.text,
            remembered(self._memory, sub_goal.predicates),
            self._choose(sub_goal.text),
            self._lack(index, sub_goal) if again else '',
        )
        prompt = self._prompts.cell(self._world.observe(), long_term, short_term)
        calls, problem = self._planned(prompt)
        for outcome in self._runner.run(calls):
            if outcome.succeeded or self._settings.paper_code:
                self._memory.apply(outcome.call)
            else:
                # What comes after was planned for a call that worked.
                problem = f'{outcome.call} failed: {outcome.message or outcome.code.name}'
                break
        self._memory.see(self._world.observe())
        self._judge(index, sub_goal, problem)

    def _judge(self, index: int, sub_goal: SubGoal, problem: str) -> None:
        """Remember why a sub-goal was not reached, where that is asked at all."""
        self._problems.pop(index, None)
        if not self._settings.verify:
            return
        unmet = [item for item in sub_goal.predicates if not self._memory.holds(item)]
        by_graph = bool(sub_goal.predicates)
        if by_graph:
            self._context.tell_checked(sub_goal.text, not unmet, by='graph')
        if unmet or (problem and not by_graph):
            default = f'the plan ended without {goal_text(unmet)}'
            self._problems[index] = problem or default

    def _planned(self, prompt: str) -> tuple[Sequence[SkillCall], str]:
        """Ask for a plan; what the memory graph refuses is told once, and then left out."""
        latest: list[ParsedPlan] = []

        def read(text: str) -> ParsedPlan:
            plan = parse_calls(text)
            latest.append(plan)
            refused = self._tried(plan)[1]
            if refused and not self._settings.paper_code:
                raise ParseError(_told(refused[0], len(refused)))
            return plan

        try:
            plan = ask(self._model, prompt, read, on_retry=self._context.warn)
        except ParseError:
            if not latest:
                raise
            plan = latest[-1]
        calls, refused = self._tried(plan)
        for text, why in (*plan.left_out, *((str(call), why) for call, why in refused)):
            self._context.tell_discarded(text, why)
        problem = f'{refused[0][0]} was refused: {refused[0][1]}' if refused else ''
        return calls, problem

    def _tried(self, plan: ParsedPlan) -> tuple[list[SkillCall], list[tuple[SkillCall, str]]]:
        """Return which calls of a plan can be done one after the other, and which are refused."""
        memory = self._memory.copy()
        calls: list[SkillCall] = []
        refused: list[tuple[SkillCall, str]] = []
        for call in plan.calls:
            if (why := memory.refusal(call)) is None:
                memory.apply(call)
                calls.append(call)
            else:
                refused.append((call, why))
        return calls, refused


def _told(refused: tuple[SkillCall, str], n_refused: int) -> str:
    call, why = refused
    more = f' {n_refused - 1} more calls cannot be done either.' if n_refused > 1 else ''
    return f'{call} cannot be done: {why}.{more} Write a plan that keeps all rules.'
