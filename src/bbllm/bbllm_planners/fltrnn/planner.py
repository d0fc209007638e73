"""FLTRNN: a goal is split into sub-goals, and a language RNN with two memories plans each."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Literal

from bbllm import EpisodeContext, SkillCall, Task, World, errors, events
from bbllm.planning import Code, LostReplyError, ModelPlanner, PlannerSpec, PromptRequest
from bbllm_planners.fltrnn.context_selection import ContextSelector
from bbllm_planners.fltrnn.grammar import ParsedPlan, ask_plan, shown_call
from bbllm_planners.fltrnn.memory_graph import MemoryGraph
from bbllm_planners.fltrnn.prompting import Demonstration, FLTRNNPrompts, ShortTerm, chooser
from bbllm_planners.fltrnn.sub_goals import Goal, ask_sub_goals, embedder_of, read_goal
from bbllm_planners.goal_predicates import GoalPredicate, goal_text
from bbllm_planners.hands import CallRunner

ROUNDS = 3
"""How often a sub-goal is worked on: a later one can undo it. More rounds only repeat failures."""
MAX_PLANS = 8
"""How many plans in a row a sub-goal may have while they succeed: to look around, or in words."""
CANNOT = 'the model replied that it cannot be done: '
NOTHING_DONE = 'no call was carried out for it'
"""Why a goal in words, which no graph can check, does not count without a call."""


@dataclass(frozen=True, slots=True)
class FLTRNNOptions:
    """Options of the planner."""

    rule_cot: bool = True
    """Whether the model states the rules before the calls."""
    long_memory: bool = True
    """Whether each prompt has the rules, the goal and the completed sub-goals."""
    demos: Literal['similar', 'random', 'fixed'] = 'similar'
    """Which three demonstrations the prompt shows."""
    verify: bool = True
    """Whether a sub-goal is completed only if the memory graph confirms it; else it is planned
    again."""


@dataclass(frozen=True)
class FLTRNN(ModelPlanner):
    """
    The planning method of the paper.

    Source: Zhang et al.; docs/planners/fltrnn.md lists departures from the published program. A
    Body that matches by embedding lends its embedder to the choice of demonstrations.
    """

    options: FLTRNNOptions = FLTRNNOptions()

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """Work on all sub-goals; raise GaveUpError if some are not reached; see `Planner`."""
        options = self.options
        prompts = FLTRNNPrompts(rule_thoughts=options.rule_cot, long_memory=options.long_memory)
        scene = world.observe()
        goal = read_goal(task, scene)
        prompt = prompts.split(goal.text, scene)
        sub_goals = ask_sub_goals(self.brain, prompt, goal, scene, context)
        embedder = embedder_of(self.body)
        rnn = LanguageRNN(
            self,
            prompts,
            chooser(options.demos, embedder, Random(task.id)),
            ContextSelector(embedder),
            MemoryGraph(scene),
            world,
            context,
        )
        rnn.run(goal.text, sub_goals)


@dataclass
class LanguageRNN:
    """
    Works on sub-goals one by one, each with one cell of the language RNN.

    The hidden state is the long-term memory and a memory graph; the input is a short-term memory.
    """

    planner: FLTRNN
    prompts: FLTRNNPrompts
    choose: Callable[[str], Sequence[Demonstration]]
    selector: ContextSelector
    memory: MemoryGraph
    world: World
    context: EpisodeContext

    def __post_init__(self) -> None:
        options = self.planner.options
        self._verify = options.verify
        # Without rules in the prompts, a refusal by a rule would restore them.
        self._explain = options.rule_cot and options.long_memory
        self._runner = CallRunner(self.world, self.context, for_good=not self._verify)
        self._problems: dict[int, str] = {}
        """Why the last plan of a sub-goal failed, by the sub-goal's index."""
        self._done: dict[int, list[str]] = {}
        """The calls that were carried out for a sub-goal in words, by its index."""

    def run(self, goal: str, sub_goals: Sequence[Goal]) -> None:
        """Work on all sub-goals, and again on those not reached or undone; see `FLTRNN.run`."""
        completed: dict[str, None] = {}
        waiting = list(range(len(sub_goals)))
        for _ in range(ROUNDS):
            for index in waiting:
                sub_goal = sub_goals[index]
                self.context.emit(
                    events.SubGoalBegun(sub_goal.text, index=index, of=len(sub_goals))
                )
                if not self._counts(index, sub_goal, at_first=True):
                    self._work_on(index, sub_goal, goal, [*completed])
                if self._counts(index, sub_goal):
                    completed.setdefault(sub_goal.text)
            waiting = [i for i, item in enumerate(sub_goals) if not self._counts(i, item)]
            if not waiting:
                if self._verify:
                    self.context.report_done()
                return
            for i in waiting:
                completed.pop(sub_goals[i].text, None)
        lacks = '; '.join(f'{sub_goals[i].text} ({self._lack(i, sub_goals[i])})' for i in waiting)
        reached = f' Reached: {"; ".join(completed)}.' if completed else ''
        raise errors.GaveUpError(f'Not reached, although tried {ROUNDS} times: {lacks}.{reached}')

    def _counts(self, index: int, sub_goal: Goal, *, at_first: bool = False) -> bool:
        """Return whether a sub-goal counts as completed; `at_first`: before the first plan."""
        if not self._verify or not sub_goal.predicates:
            return not at_first and index not in self._problems
        return not self._unmet(sub_goal)

    def _lack(self, index: int, sub_goal: Goal) -> str:
        lacks = [
            f'of {item} there are {self.memory.n_satisfying(item)}'
            for item in self._unmet(sub_goal)
        ]
        return '; '.join(filter(None, [*lacks, self._problems.get(index, '')]))

    def _unmet(self, sub_goal: Goal) -> list[GoalPredicate]:
        return [item for item in sub_goal.predicates if not self.memory.is_satisfied(item)]

    def _work_on(self, index: int, sub_goal: Goal, goal: str, completed: Sequence[str]) -> None:
        """
        Plan a sub-goal until it is reached, a plan fails, or brings nothing new into sight.

        Without predicates the model decides when it is reached, by a plan without calls.
        """
        for _ in range(MAX_PLANS if self._verify else 1):
            if not self._work_on_once(index, sub_goal, goal, completed):
                return
        what = 'did not reach it' if sub_goal.predicates else 'had no `# done` alone after them'
        self._problems[index] = f'{MAX_PLANS} plans in a row {what}'

    def _work_on_once(
        self, index: int, sub_goal: Goal, goal: str, completed: Sequence[str]
    ) -> bool:
        """Ask for one plan and execute it; return whether another should follow at once."""
        again = index in self._problems
        done = self._done.setdefault(index, [])
        short_term = ShortTerm(
            sub_goal.text,
            self.selector.of(self.memory, sub_goal.text, sub_goal.predicates),
            self.choose(sub_goal.text),
            self._lack(index, sub_goal) if again else '',
            done,
            checked=self._verify and bool(sub_goal.predicates),
            confirmed=self._verify and not sub_goal.predicates,
        )
        scene = self.world.observe()
        prompt = self.prompts.cell(scene, goal, completed, short_term)
        request = PromptRequest(kind='function', scene=scene, text=sub_goal.text)
        calls, problem = self._planned(prompt, request)
        if self._verify and not (calls or problem or done or sub_goal.predicates):
            self.context.emit(events.LineDiscarded('# done', NOTHING_DONE, refused=True))
        n_seen = len(self.memory.names)
        n_done = 0
        for outcome in self._runner.run(calls):
            if outcome.succeeded:
                self.memory.apply(outcome.call)
                n_done += 1
            else:
                # The following calls assume that it succeeded.
                problem = f'{outcome.call} failed: {outcome.message or outcome.code.name}'
                break
        self.memory.see(self.world.observe())
        self._problems.pop(index, None)
        if not self._verify:
            return False
        if not sub_goal.predicates:
            done += map(shown_call, calls[:n_done])
            if problem := problem or ('' if done else NOTHING_DONE):
                self._problems[index] = problem
            return bool(calls) and not problem
        unmet = self._unmet(sub_goal)
        self.context.emit(events.ConditionChecked(sub_goal.text, not unmet, by='graph'))
        found_more = bool(unmet) and not problem and len(self.memory.names) > n_seen
        if unmet and not found_more:
            self._problems[index] = problem or f'the plan ended without {goal_text(unmet)}'
        return found_more

    def _planned(self, prompt: str, request: PromptRequest) -> tuple[Sequence[SkillCall], str]:
        """
        Ask for a plan; return its possible calls, and why the rest is impossible.

        Calls that the memory graph refuses twice are dropped.
        """

        def judge(plan: ParsedPlan) -> tuple[Sequence[events.LineDiscarded], str]:
            _, refused = self._tried(plan)
            if not refused:
                return (), ''
            more = len(refused) - 1
            others = f' {more} more calls cannot be done either.' if more else ''
            rules = ' Write a plan that keeps all rules.' if self._explain else ''
            return refused, f'{self._refusal(refused[0])}.{others}{rules}'

        try:
            plan = ask_plan(self.planner.brain, prompt, self.context, request, judge)
        except LostReplyError as error:
            if not self._verify:
                raise
            return [], f'none of its {len(error.discarded)} lines can be read as a call'
        except errors.GaveUpError as error:
            if not self._verify:
                raise
            return [], f'{CANNOT}{error}'
        calls, refused = self._tried(plan)
        return calls, self._refusal(refused[0]) if refused else ''

    def _refusal(self, refused: events.LineDiscarded) -> str:
        if self._explain or refused.code is not Code.PRECONDITION:
            return f'{refused.text} was refused: {refused.why}'
        return f'{refused.text} was refused'

    def _tried(self, plan: ParsedPlan) -> tuple[list[SkillCall], list[events.LineDiscarded]]:
        """Return the calls of a plan that are possible in order, and the refused ones."""
        memory = deepcopy(self.memory)
        calls: list[SkillCall] = []
        refused: list[events.LineDiscarded] = []
        for call in plan.calls:
            if fault := memory.refusal(call):
                refused.append(fault)
            else:
                memory.apply(call)
                calls.append(call)
        return calls, refused


FLTRNN_SPEC = PlannerSpec(
    factory=FLTRNN,
    options=FLTRNNOptions(),
    uses_feedback=False,
    asks_body=False,
    domains=frozenset({'household'}),
)
