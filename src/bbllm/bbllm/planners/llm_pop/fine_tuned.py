"""FT-CoT and FT-Vanilla: a small model, tuned to these prompts, finds out and then acts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from bbllm.core.errors import GaveUpError
from bbllm.core.events import RepairBegun
from bbllm.core.protocols import EpisodeContext, PromptRequest, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.skill_calls import plain
from bbllm.core.types import PlanStep, Task
from bbllm.planners.common.low_level_hands import GrowingPlan
from bbllm.planners.common.model_planner import ModelPlanner
from bbllm.planners.common.prompt_history import PromptHistory, ask_shorter, budget_for
from bbllm.planners.llm_pop.fine_tuned_grammar import (
    FtAction,
    FtReply,
    parse_enough,
    parse_reply,
    parse_some,
)
from bbllm.planners.llm_pop.fine_tuned_prompting import (
    HISTORY,
    FtRound,
    Question,
    ft_prompt,
    round_words,
)
from bbllm.planners.llm_pop.grammar import Verb
from bbllm.planners.llm_pop.planner import attempt_all


@dataclass(frozen=True)
class FTCoT(ModelPlanner):
    """
    The paper's host of a fine-tuned model, with its flow of three questions.

    Is enough known? If not, the model lists actions that find out more, and the first question is
    repeated. If so, it lists actions that solve the task, and the episode ends.

    Source: Sun et al., section 4.2. Departure: if an action fails, or a person speaks between two
    actions, the rest is dropped and the first question is repeated, within the feedback loops: `k`
    lists of actions may follow the first, including those that only find out.
    """

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """Work until the actions that solve the task are executed, or raise GaveUpError."""
        flow = _Flow(self, task, world, context)
        while True:
            found = flow.ask(Question.ENOUGH, parse_enough)
            flow.note(found.explanation)
            if found.enough:
                reply = flow.ask(Question.SOLVE, parse_reply)
                if flow.carry_out(reply, found.explanation):
                    return
            else:
                # The last list is for the solution; without one, finding out is useless.
                flow.need_loop(found.explanation, left=1)
                flow.carry_out(flow.ask(Question.GATHER, parse_some), found.explanation)


@dataclass(frozen=True)
class FTVanilla(ModelPlanner):
    """
    The paper's baseline: the same host with one question, until a reply has no actions.

    The paper does not define its end; here it is the reply `<nooutput>`.
    """

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        flow = _Flow(self, task, world, context)
        while (reply := flow.ask(Question.NEXT, parse_reply)).actions:
            flow.carry_out(reply, reply.explanation)
        context.report_done()


class _Flow:
    """The dialogue with the model in one episode, and the execution of its actions."""

    def __init__(self, planner: ModelPlanner, task: Task, world: World, context: EpisodeContext):
        self._brain = planner.brain
        self._k = planner.k
        self._task = task
        self._world = world
        self._context = context
        self._history = PromptHistory(HISTORY, budget_for(self._brain), on_short=context.warn)
        self._plan = GrowingPlan(context)
        self._n_lists = 0
        self._cause = ''
        """Why the latest list of actions was interrupted; empty if it was not."""

    def ask(self, question: Question, read: Callable[[str], FtReply]) -> FtReply:
        self._hear(self._context.take_human_feedback())
        scene = self._world.observe()
        return ask_shorter(
            self._brain,
            partial(ft_prompt, question, self._task, scene),
            self._history,
            read,
            request=PromptRequest(kind=question.name.lower(), scene=scene),
            on_retry=self._context.warn,
        )

    def note(self, words: str) -> None:
        self._history.add(FtRound(round_words(words)))

    def need_loop(self, reason: str, *, left: int = 0) -> None:
        """Give up unless one more list of actions is allowed, and `left` more after it."""
        if self._n_lists + left > self._k:
            used = f'the {self._k} feedback loops do not do for it' if self._k else 'K is 0'
            raise GaveUpError(f'The task is not solved, and {used}: {self._cause or reason}')

    def carry_out(self, reply: FtReply, reason: str) -> bool:
        """Execute actions until one fails or a person speaks; return whether all succeeded."""
        if not reply.actions:
            self._context.report_done()
            return True
        self.need_loop(reason)
        texts = list(map(str, reply.actions))
        if self._n_lists:
            self._context.emit(RepairBegun.of(PlanStep(self._plan.next, texts[0]), reason))
        self._plan.go_on(texts)
        # After the last list no decision can change, so feedback waits.
        listens = self._n_lists < self._k
        tried, said = attempt_all(
            self._plan.left, reply.actions, self._problem, self._world, self._context, listens
        )
        self._cause = tried[-1][0]
        words = round_words(reply.explanation, self._cause)
        seen = tuple(observation.vector() for _, observation in tried)
        self._history.add(FtRound(words, reply.actions[: len(tried)], seen))
        self._hear(said)
        self._plan.next += len(tried)
        self._n_lists += 1
        return not self._cause and len(tried) == len(texts)

    def _problem(self, action: FtAction) -> str:
        """Return why `place` names another block than the one in the hand; '' if it does not."""
        name, held = action.name, self._world.observe().held
        if action.verb is Verb.PLACE and name and held and plain(name) != plain(held):
            return (
                f'{name} cannot be placed, because {held} is in the hand: place that, and '
                f'pick {name} after it.'
            )
        return ''

    def _hear(self, said: tuple[str, ...]) -> None:
        for text in said:
            self.note(f'A person said: {text}')


FT_COT = PlannerSpec(
    factory=FTCoT, tells_force=True, asks_body=False, domains=frozenset({'tabletop'})
)
FT_VANILLA = replace(FT_COT, factory=FTVanilla)
