"""Planning-only: FLTRNN's baseline that is asked once, for the plan of the whole goal."""

from __future__ import annotations

from bbllm.core.protocols import Body, ChatModel, EpisodeContext, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.types import Task
from bbllm.planners.common.call_runner import CallRunner
from bbllm.planners.common.scene_graph import HOUSEHOLD
from bbllm.planners.fltrnn.context_selection import LONGEST_IN_WORDS, Telling
from bbllm.planners.fltrnn.demonstrations import household_demonstrations
from bbllm.planners.fltrnn.goal_text import DEMONSTRATIONS, embedder_of, read_goal
from bbllm.planners.fltrnn.grammar import ParsedPlan
from bbllm.planners.fltrnn.memory_graph import MemoryGraph
from bbllm.planners.fltrnn.plan_request import ask_plan
from bbllm.planners.fltrnn.prompting import FLTRNNPrompts, ShortTerm


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
        self._telling = Telling(embedder_of(body), longest=LONGEST_IN_WORDS)

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
        plan = ask_plan(self._model, prompt, context)
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
    stand_ins=frozenset({'expert'}),
)
