"""FLTRNN's baselines: a plan of the whole goal at once, and a reasoner with a planner."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from bbllm import EpisodeContext, Scene, Task, World, events
from bbllm.planning import ModelPlanner, PlannerSpec, PromptRequest, parse_plan
from bbllm_planners.fltrnn.context_selection import LONGEST_IN_WORDS, ContextSelector
from bbllm_planners.fltrnn.grammar import ask_plan
from bbllm_planners.fltrnn.memory_graph import MemoryGraph
from bbllm_planners.fltrnn.prompting import (
    DEMONSTRATIONS,
    Demonstration,
    FLTRNNPrompts,
    ShortTerm,
    household_demonstrations,
)
from bbllm_planners.fltrnn.sub_goals import Goal, embedder_of, read_goal
from bbllm_planners.hands import CallRunner

PROMPTS = FLTRNNPrompts(rule_thoughts=False, long_memory=False)


@dataclass(frozen=True)
class PlanningOnly(ModelPlanner):
    """
    The paper's first baseline: rules, three demonstrations, the whole goal; no feedback.

    Source: Zhang et al., FLTRNN, appendix, listing 6. A call that fails is skipped.
    """

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        scene = world.observe()
        goal = read_goal(task, scene)
        _warn_if_unseen(scene, context)
        shown = household_demonstrations()[:DEMONSTRATIONS]
        _Worker(self, goal, world, context).work_on(goal.text, scene, shown, PROMPTS.whole)


@dataclass(frozen=True)
class PlanningReasoning(ModelPlanner):
    """
    The paper's second baseline: two roles of one model, and no memory between them.

    Source: Zhang et al., FLTRNN, appendix, listings 7 to 9. For each of the reasoner's sub-tasks,
    the planner's prompt has the current places of the key objects of the whole goal.
    """

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        scene = world.observe()
        goal = read_goal(task, scene)
        _warn_if_unseen(scene, context)
        request = PromptRequest(kind='sub_tasks', scene=scene)
        prompt = PROMPTS.reason(goal.text, scene)
        sub_tasks = self.ask(prompt, partial(parse_plan, start=1), request, context)
        worker = _Worker(self, goal, world, context)
        shown = [item.in_words for item in household_demonstrations()[:DEMONSTRATIONS]]
        for i, sub_task in enumerate(sub_tasks):
            context.emit(events.SubGoalBegun(sub_task.text, index=i, of=len(sub_tasks)))
            worker.work_on(sub_task.text, world.observe(), shown, PROMPTS.act)


def _warn_if_unseen(scene: Scene, context: EpisodeContext) -> None:
    if not scene.whole:
        context.warn(
            'Only a part of the house is in sight, and this method does not search: it plans '
            'once, as in its paper, where the whole house is visible. `visibility: full` in the '
            'suite shows it all; `fltrnn` searches.'
        )


class _Worker:
    """Asks for plans and executes all their calls, whether those before succeeded or not."""

    def __init__(self, planner: ModelPlanner, goal: Goal, world: World, context: EpisodeContext):
        self._model = planner.brain
        self._goal = goal
        self._context = context
        self._selector = ContextSelector(embedder_of(planner.body), longest=LONGEST_IN_WORDS)
        self._runner = CallRunner(world, context)

    def work_on(
        self,
        text: str,
        scene: Scene,
        shown: Sequence[Demonstration],
        write: Callable[[Scene, ShortTerm], str],
    ) -> None:
        """Plan and execute a goal or sub-task, with the prompt that `write` returns."""
        memory = self._selector.of(MemoryGraph(scene), self._goal.text, self._goal.predicates)
        prompt = write(scene, ShortTerm(text, memory, shown))
        request = PromptRequest(kind='function', scene=scene, text=text)
        plan = ask_plan(self._model, prompt, self._context, request)
        for _ in self._runner.run(plan.calls):
            pass


PLANNING_ONLY = PlannerSpec(
    factory=PlanningOnly,
    uses_feedback=False,
    asks_body=False,
    domains=frozenset({'household'}),
)
PLANNING_REASONING = replace(PLANNING_ONLY, factory=PlanningReasoning)
