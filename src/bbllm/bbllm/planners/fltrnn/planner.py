"""FLTRNN: a goal is split into sub-goals, and a language RNN with two memories plans each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.events import ConditionChecked, SubGoalBegun
from bbllm.core.protocols import Body, ChatModel, EpisodeContext, PromptRequest, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.types import Code, Scene, SkillCall, Task
from bbllm.planners.common.goal_predicates import all_in_sight, goal_text
from bbllm.planners.common.low_level_hands import CallRunner
from bbllm.planners.common.prompting import ask
from bbllm.planners.common.reply_diagnostics import RejectedLine, ReplyDiagnostics
from bbllm.planners.common.scene_graph import HOUSEHOLD, classes
from bbllm.planners.fltrnn.context_selection import ContextSelector
from bbllm.planners.fltrnn.demonstrations import Chooser, Demonstration, household_demonstrations
from bbllm.planners.fltrnn.grammar import LostPlanError, ParsedPlan, ask_plan, parse_sub_goals
from bbllm.planners.fltrnn.memory_graph import MemoryGraph, PaperMemoryGraph, fault_of
from bbllm.planners.fltrnn.prompting import FLTRNNPrompts, LongTerm, ShortTerm
from bbllm.planners.fltrnn.sub_goals import (
    DEMONSTRATIONS,
    Decomposition,
    Goal,
    SubGoal,
    decompose,
    embedder_of,
    read_goal,
)

ROUNDS = 3
"""How often a sub-goal may be worked on: a call can fail for a reason that no graph knows, and a
later sub-goal can undo it. More only repeats what failed."""
NOTHING_DONE = 'no call was carried out for it'
"""Why a goal in words does not count that no graph can look at, and for which nothing was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What of the cells is varied."""

    verify: bool
    """Whether a sub-goal counts as completed only when the memory graph says so."""
    paper_code: bool
    """Whether nothing is refused, and each call is believed to have worked, as in the program."""
    tell_rules: bool = True
    """Whether the model is told which rule a refused call breaks. Where the rules are left out of
    the prompts this would bring them back, and the ablation would not be one."""


class LanguageRNN:
    """
    Works on sub-goals one by one, each with one cell of the language RNN.

    The hidden state is the long-term memory (rules, goal, completed sub-goals) and a memory
    graph; the input is a short-term memory that is composed for the sub-goal.

    Args:
        model: Who plans.
        prompts: How it is asked.
        choose: Chooses the demonstrations for a sub-goal.
        telling: Chooses the things that are told of.
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
        telling: ContextSelector,
        world: World,
        context: EpisodeContext,
        memory: MemoryGraph,
        settings: Settings,
    ):
        self._model = model
        self._prompts = prompts
        self._choose = choose
        self._telling = telling
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
                self._context.emit(SubGoalBegun(sub_goal.text, index=index, of=len(sub_goals)))
                if not self._counts(index, sub_goal, at_first=True):
                    self._work_on(index, sub_goal, long_term)
                if self._counts(index, sub_goal):
                    completed = (*long_term.completed, sub_goal.text)
                    long_term = replace(long_term, completed=tuple(dict.fromkeys(completed)))
            waiting = [i for i, item in enumerate(sub_goals) if not self._counts(i, item)]
            if not waiting:
                if self._settings.verify:
                    self._context.report_done()
                return
            undone = {sub_goals[i].text for i in waiting}
            kept = tuple(text for text in long_term.completed if text not in undone)
            long_term = replace(long_term, completed=kept)
        raise GaveUpError(
            f'Not reached after {ROUNDS} plans each: '
            + '; '.join(f'{sub_goals[i].text} ({self._lack(i, sub_goals[i])})' for i in waiting)
        )

    def _counts(self, index: int, sub_goal: SubGoal, *, at_first: bool = False) -> bool:
        """Return whether a sub-goal counts as completed; `at_first`: before it is worked on."""
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
            self._telling.of(self._memory, sub_goal.text, sub_goal.predicates),
            self._choose(sub_goal.text),
            self._lack(index, sub_goal) if again else '',
        )
        scene = self._world.observe()
        prompt = self._prompts.cell(scene, long_term, short_term)
        request = PromptRequest(kind='function', scene=scene, text=sub_goal.text)
        calls, problem = self._planned(prompt, request, sub_goal)
        n_done = 0
        for outcome in self._runner.run(calls):
            if outcome.succeeded or self._settings.paper_code:
                self._memory.apply(outcome.call)
                n_done += outcome.succeeded
            else:
                # What comes after was planned for a call that worked.
                problem = f'{outcome.call} failed: {outcome.message or outcome.code.name}'
                break
        self._memory.see(self._world.observe())
        if not n_done and not sub_goal.predicates:
            problem = problem or NOTHING_DONE
        self._judge(index, sub_goal, problem)

    def _judge(self, index: int, sub_goal: SubGoal, problem: str) -> None:
        """Remember why a sub-goal was not reached, where that is asked at all."""
        self._problems.pop(index, None)
        if not self._settings.verify:
            return
        unmet = [item for item in sub_goal.predicates if not self._memory.holds(item)]
        by_graph = bool(sub_goal.predicates)
        if by_graph:
            self._context.emit(ConditionChecked(sub_goal.text, not unmet, by='graph'))
        if unmet or (problem and not by_graph):
            default = f'the plan ended without {goal_text(unmet)}'
            self._problems[index] = problem or default

    def _planned(
        self, prompt: str, request: PromptRequest, sub_goal: SubGoal
    ) -> tuple[Sequence[SkillCall], str]:
        """
        Ask for a plan, and return what can be done of it, and why the rest cannot.

        What the memory graph refuses is told once, and then left out. Each plan is judged by it,
        the one that is mended too: it is what the model wrote.
        """

        def refusals(plan: ParsedPlan) -> Sequence[RejectedLine]:
            return self._tried(plan)[1]

        def against(refused: Sequence[RejectedLine]) -> str:
            if not refused or self._settings.paper_code:
                return ''
            more = len(refused) - 1
            others = f' {more} more calls cannot be done either.' if more else ''
            rules = ' Write a plan that keeps all rules.' if self._settings.tell_rules else ''
            return f'{self._said(refused[0])}.{others}{rules}'

        try:
            plan = ask_plan(
                self._model,
                prompt,
                self._context,
                request=request,
                refusals=refusals,
                against=against,
            )
        except LostPlanError as error:
            if not self._settings.verify:
                raise
            return [], f'none of its {len(error.left_out)} lines can be read as a call'
        if not plan.calls and not sub_goal.predicates and self._settings.verify:
            RejectedLine('# done', NOTHING_DONE, refused=True).tell(self._context)
        calls, refused = self._tried(plan)
        return calls, self._said(refused[0]) if refused else ''

    def _said(self, refused: RejectedLine) -> str:
        """Say to the model that a call was refused, and why, unless that is an ablated rule."""
        if self._settings.tell_rules or refused.code is not Code.PRECONDITION:
            return f'{refused.text} was refused: {refused.why}'
        return f'{refused.text} was refused'

    def _tried(self, plan: ParsedPlan) -> tuple[list[SkillCall], list[RejectedLine]]:
        """Return which calls of a plan can be done one after the other, and which are refused."""
        memory = self._memory.copy()
        calls: list[SkillCall] = []
        refused: list[RejectedLine] = []
        for call in plan.calls:
            if (why := memory.refusal(call)) is None:
                memory.apply(call)
                calls.append(call)
            else:
                code, rules = fault_of(memory, call)
                refused.append(RejectedLine(str(call), why, code, refused=True, rules=rules))
        return calls, refused


@dataclass(frozen=True, slots=True)
class FLTRNNOptions:
    """What of the planner can be varied."""

    rule_cot: bool = True
    """Whether the model is to think of the rules before the calls."""
    long_memory: bool = True
    """Whether each prompt has the rules, the goal and the completed sub-goals."""
    demos: Literal['similar', 'random', 'fixed'] = 'similar'
    """Which three demonstrations are shown."""
    verify: bool = True
    """Whether a sub-goal is completed only if the memory graph confirms it; else it is planned
    again."""
    paper_code: bool = False
    """Whether memory graph and completion are those of the published program, with its faults;
    then nothing is verified."""


class FLTRNN:
    """
    The planning method of the paper.

    Source: Zhang et al., FLTRNN: Faithful Long-Horizon Task Planning for Robotics with Large
    Language Models. Where it departs from the published program, and why, is in
    docs/design/fltrnn.md. There are no feedback loops, and the Body is not asked: a plan has
    calls on things already. A Body that matches by embedding lends its embedder to the choice of
    demonstrations.
    """

    def __init__(
        self,
        brain: ChatModel,
        body: Body,
        *,
        k: int = 3,
        options: FLTRNNOptions | None = None,
    ):
        """
        Make a planner.

        Args:
            brain: The one model.
            body: Only lends its embedder, where it has one.
            k: Not used: there are no feedback loops.
            options: What is varied.
        """
        self._model = brain
        embedder = embedder_of(body)
        self._chooser = Chooser(household_demonstrations(), embedder)
        self._telling = ContextSelector(embedder)
        options = options or FLTRNNOptions()
        self._demos = options.demos
        self._paper_code = options.paper_code
        self._settings = Settings(
            verify=options.verify and not options.paper_code,
            paper_code=options.paper_code,
            tell_rules=options.rule_cot and options.long_memory,
        )
        self._prompts = FLTRNNPrompts(
            rule_thoughts=options.rule_cot, long_memory=options.long_memory
        )

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """
        Work on the task until all sub-goals are through.

        Raises:
            GaveUpError: The goal cannot be reached or was not, or the model says so.
            ParseError: The model gave no sub-goals or no plan that can be read.
            BbllmError: Whatever world, model or embedder raised.
        """
        scene = world.observe()
        goal = read_goal(task, scene, context)
        sub_goals = self._split(goal, scene, context)
        memory = PaperMemoryGraph(scene) if self._paper_code else MemoryGraph(scene)
        choose = self._chosen(Random(task.id))
        LanguageRNN(
            self._model,
            self._prompts,
            choose,
            self._telling,
            world,
            context,
            memory,
            self._settings,
        ).run(goal, sub_goals)

    def _split(self, goal: Goal, scene: Scene, context: EpisodeContext) -> Sequence[SubGoal]:
        """Ask for sub-goals; what they omit or invent is told once, and then mended."""
        latest: list[Decomposition] = []
        left_out = ReplyDiagnostics(lambda line: line.tell(context))
        known = classes(scene) if all_in_sight(scene) else None

        def read(text: str) -> Decomposition:
            found = decompose(parse_sub_goals(text), goal.text, goal.predicates, known)
            latest.append(found)
            left_out.of_reply(fault.discarded for fault in found.faults)
            if found.faults:
                raise ParseError(
                    f'{"; ".join(map(str, found.faults))}. The sub-goals have to be all of the '
                    'goal, and nothing else.'
                )
            return found

        prompt = self._prompts.split(goal.text, scene)
        try:
            request = PromptRequest(kind='sub_goals', scene=scene)
            found = ask(self._model, prompt, read, request=request, on_retry=context.warn)
        except ParseError:
            if not latest:
                raise
            found = latest[-1]
        return found.sub_goals

    def _chosen(self, rng: Random) -> Callable[[str], Sequence[Demonstration]]:
        """Return what chooses demonstrations for a sub-goal."""
        if self._demos == 'similar':
            return lambda goal: self._chooser.similar(goal, DEMONSTRATIONS)
        if self._demos == 'random':
            return lambda _: self._chooser.random(rng, DEMONSTRATIONS)
        return lambda _: self._chooser.fixed(DEMONSTRATIONS)


FLTRNN_SPEC = PlannerSpec(
    factory=FLTRNN,
    options=FLTRNNOptions(),
    excluding=(frozenset({'verify=yes', 'paper_code=yes'}),),
    uses_feedback=False,
    asks_body=False,
    domains=frozenset({HOUSEHOLD}),
)
