"""Planning-only: FLTRNN's baseline that is asked once, for the plan of the whole goal."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from bbllm.core.events import SubGoalBegun
from bbllm.core.instance_names import class_of
from bbllm.core.protocols import Body, ChatModel, EpisodeContext, PromptRequest, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.types import Task
from bbllm.planners.common.goal_predicates import goal_sentence, parse_goal
from bbllm.planners.common.low_level_hands import CallRunner
from bbllm.planners.common.plan_grammar import parse_plan
from bbllm.planners.common.prompting import ask
from bbllm.planners.common.scene_graph import HOUSEHOLD
from bbllm.planners.fltrnn.context_selection import LONGEST_IN_WORDS, ContextSelector
from bbllm.planners.fltrnn.demonstrations import Demonstration, household_demonstrations
from bbllm.planners.fltrnn.grammar import ParsedPlan, ask_plan
from bbllm.planners.fltrnn.memory_graph import MemoryGraph
from bbllm.planners.fltrnn.prompting import FLTRNNPrompts, ShortTerm
from bbllm.planners.fltrnn.sub_goals import DEMONSTRATIONS, embedder_of, read_goal


class PlanningOnly:
    """
    The paper's first baseline: rules, three demonstrations, the whole goal; no feedback.

    Source: Zhang et al., FLTRNN, appendix, listing 6. A call that fails is skipped.
    """

    def __init__(self, brain: ChatModel, body: Body, *, k: int = 3):
        """
        Make a planner.

        Args:
            brain: The one model.
            body: Only lends its embedder, where it has one.
            k: Not used: there are no feedback loops.
        """
        self._model = brain
        self._prompts = FLTRNNPrompts(rule_thoughts=False, long_memory=False)
        self._telling = ContextSelector(embedder_of(body), longest=LONGEST_IN_WORDS)

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """
        Work on the task until the plan is through.

        Raises:
            GaveUpError: The goal cannot be reached, or the model says so.
            ParseError: The model gave no plan that can be read.
            BbllmError: Whatever world or model raised.
        """
        scene = world.observe()
        goal = read_goal(task, scene, context)
        told = ShortTerm(
            goal.text,
            self._telling.of(MemoryGraph(scene), goal.text, goal.predicates),
            household_demonstrations()[:DEMONSTRATIONS],
        )
        prompt = self._prompts.whole(scene, told)
        request = PromptRequest(kind='function', scene=scene, text=goal.text)
        plan = ask_plan(self._model, prompt, context, request=request)
        carry_out_plan(plan, CallRunner(world, context))


def carry_out_plan(plan: ParsedPlan, runner: CallRunner) -> None:
    """Do all calls of a plan, whether those before them worked or not."""
    for _ in runner.run(plan.calls):
        pass


PLANNING_ONLY = PlannerSpec(
    factory=PlanningOnly,
    uses_feedback=False,
    asks_body=False,
    domains=frozenset({HOUSEHOLD}),
)


class PlanningReasoning:
    """
    The paper's second baseline: two roles of one model, and no memory between them.

    Source: Zhang et al., FLTRNN, appendix, listings 7 to 9. The reasoner is told the goal alone.
    For each of its sub-tasks the planner is told where the key things of the whole goal are now;
    nothing says what was done before. A call that fails is skipped.
    """

    def __init__(self, brain: ChatModel, body: Body, *, k: int = 3):
        """
        Make a planner.

        Args:
            brain: The one model, in both roles.
            body: Only lends its embedder, where it has one.
            k: Not used: there are no feedback loops.
        """
        self._model = brain
        self._prompts = FLTRNNPrompts(rule_thoughts=False, long_memory=False)
        self._telling = ContextSelector(embedder_of(body), longest=LONGEST_IN_WORDS)

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """
        Work on the task until all sub-tasks are through.

        Raises:
            GaveUpError: The goal cannot be reached, or the model says so.
            ParseError: The model gave no sub-tasks or no plan that can be read.
            BbllmError: Whatever world or model raised.
        """
        scene = world.observe()
        goal = read_goal(task, scene, context)
        prompt = self._prompts.reason(goal.text, scene)
        read = partial(parse_plan, start=1)
        request = PromptRequest(kind='sub_tasks', scene=scene)
        sub_tasks = ask(self._model, prompt, read, request=request, on_retry=context.warn)
        runner = CallRunner(world, context)
        shown = [_in_words(item) for item in household_demonstrations()[:DEMONSTRATIONS]]
        for i, sub_task in enumerate(sub_tasks):
            context.emit(SubGoalBegun(sub_task.text, index=i, of=len(sub_tasks)))
            seen = world.observe()
            told = ShortTerm(
                sub_task.text,
                self._telling.of(MemoryGraph(seen), goal.text, goal.predicates),
                shown,
            )
            prompt = self._prompts.act(seen, told)
            request = PromptRequest(kind='function', scene=seen, text=sub_task.text)
            plan = ask_plan(self._model, prompt, context, request=request)
            carry_out_plan(plan, runner)


def _in_words(item: Demonstration) -> Demonstration:
    """Return a demonstration whose goal is said as the reasoner says its sub-tasks."""
    classes = {class_of(name) for thing, _, place in item.things for name in (thing, place)}
    predicates = parse_goal(item.goal, classes)
    return replace(item, goal=goal_sentence(predicates)) if predicates else item


PLANNING_REASONING = PlannerSpec(
    factory=PlanningReasoning,
    uses_feedback=False,
    asks_body=False,
    domains=frozenset({HOUSEHOLD}),
)
