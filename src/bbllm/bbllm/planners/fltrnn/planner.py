"""FLTRNN: a goal is split into sub-goals, and a language RNN with two memories plans each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from bbllm.core.errors import ParseError
from bbllm.core.protocols import Body, ChatModel, EpisodeContext, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.types import Scene, Task
from bbllm.planners.common.impossible_goals import all_in_sight
from bbllm.planners.common.prompting import ask
from bbllm.planners.common.reply_diagnostics import LeftOut
from bbllm.planners.common.scene_graph import HOUSEHOLD, classes
from bbllm.planners.fltrnn.context_selection import Telling
from bbllm.planners.fltrnn.demonstrations import Chooser, Demonstration, household_demonstrations
from bbllm.planners.fltrnn.goal_text import DEMONSTRATIONS, Goal, embedder_of, read_goal
from bbllm.planners.fltrnn.grammar import parse_sub_goals
from bbllm.planners.fltrnn.language_rnn import LanguageRNN, Settings
from bbllm.planners.fltrnn.memory_graph import MemoryGraph
from bbllm.planners.fltrnn.paper_memory_graph import PaperMemoryGraph
from bbllm.planners.fltrnn.prompting import FLTRNNPrompts
from bbllm.planners.fltrnn.sub_goals import Decomposition, SubGoal, decompose


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
        self._telling = Telling(embedder)
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
        left_out = LeftOut(lambda line: line.tell(context))
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
            found = ask(self._model, prompt, read, on_retry=context.warn)
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
    stand_ins=frozenset({'expert'}),
)
