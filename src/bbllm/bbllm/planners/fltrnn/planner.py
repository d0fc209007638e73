"""FLTRNN: a goal is split into sub-goals, and a language RNN with two memories plans each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import MappingProxyType

from bbllm.core.errors import ParseError
from bbllm.core.protocols import Body, ChatModel, EpisodeContext, World
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


class FLTRNN:
    """
    The planning method of the paper.

    Source: Zhang et al., FLTRNN: Faithful Long-Horizon Task Planning for Robotics with Large
    Language Models. Where it departs from the published program, and why, is in
    docs/design/fltrnn.md. There are no feedback loops, and the Body is not asked: a plan has
    calls on things already. A Body that matches by embedding lends its embedder to the choice of
    demonstrations.
    """

    uses_feedback = False
    asks_body = False
    stand_ins = frozenset({'expert'})
    plays_in = frozenset({HOUSEHOLD})
    options: Mapping[str, tuple[str, ...]] = MappingProxyType(
        {
            'rule_cot': ('yes', 'no'),
            'long_memory': ('yes', 'no'),
            'demos': ('similar', 'random', 'fixed'),
            'verify': ('yes', 'no'),
            'paper_code': ('no', 'yes'),
        }
    )
    excluding = (MappingProxyType({'verify': 'yes', 'paper_code': 'yes'}),)
    """These: see `core.registry.PlannerFactory`."""

    def __init__(
        self,
        brain: ChatModel,
        body: Body,
        *,
        k: int = 3,
        rule_cot: str = 'yes',
        long_memory: str = 'yes',
        demos: str = 'similar',
        verify: str = 'yes',
        paper_code: str = 'no',
    ):
        """
        Make a planner; `options` lists what each of the words can be.

        Args:
            brain: The one model.
            body: Only lends its embedder, where it has one.
            k: Not used: there are no feedback loops.
            rule_cot: Whether the model is to think of the rules before the calls.
            long_memory: Whether rules, goal and completed sub-goals are told with each sub-goal.
            demos: Which three demonstrations are shown.
            verify: Whether a sub-goal is completed only when the memory graph says so; if it does
                not, it is planned anew.
            paper_code: Whether memory graph and completion are those of the published program,
                faults included; then nothing is verified.
        """
        self._model = brain
        embedder = embedder_of(body)
        self._chooser = Chooser(household_demonstrations(), embedder)
        self._telling = Telling(embedder)
        self._demos = demos
        self._paper_code = paper_code == 'yes'
        self._settings = Settings(
            verify=verify == 'yes' and not self._paper_code,
            paper_code=self._paper_code,
            tell_rules=rule_cot == 'yes' and long_memory == 'yes',
        )
        self._prompts = FLTRNNPrompts(
            rule_thoughts=rule_cot == 'yes', long_memory=long_memory == 'yes'
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
