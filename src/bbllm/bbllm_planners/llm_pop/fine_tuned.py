"""
FT-CoT and FT-Vanilla: a small model finds out and then acts.

Source: Sun et al., section 4.2, appendix A.4 and A.6. A prompt has one question, the current
observation, and the history. The paper's table and blocks are always the same and its prompts name
neither. In a data set the lines up to the question are the instruction, the others the input.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial

from bbllm import EpisodeContext, Kind, PlanStep, Scene, Task, World, errors, events
from bbllm.planning import (
    ModelPlanner,
    PlannerSpec,
    PromptRequest,
    observed,
    one_line,
    plain,
    render,
    task_text,
)
from bbllm_planners.hands import GrowingPlan
from bbllm_planners.llm_pop.fine_tuned_grammar import (
    ENOUGH_FORM,
    REPLY_FORM,
    SOME_FORM,
    FtAction,
    FtReply,
    listed,
    parse_enough,
    parse_reply,
    parse_some,
)
from bbllm_planners.llm_pop.grammar import Verb
from bbllm_planners.llm_pop.history import HistoryForm, PromptHistory, budget_of
from bbllm_planners.llm_pop.planner import Loops, attempt_all, table_line


class Question(Enum):
    """The value is the text in the prompt."""

    ENOUGH = 'Is enough known to solve the task? If not, what is missing?'
    """The reply is Yes or No and a reason, without actions."""
    GATHER = 'Which actions find out what is missing?'
    SOLVE = 'Which actions solve the task?'
    NEXT = 'Which actions come next, to find out what is missing or to solve the task?'
    """The only question of FT-Vanilla; a reply without actions means that the task is solved."""


FORMS = {
    Question.ENOUGH: ENOUGH_FORM,
    Question.GATHER: SOME_FORM,
    Question.SOLVE: REPLY_FORM,
    Question.NEXT: REPLY_FORM,
}
"""The reply that each question wants, as its grammar takes it."""


@dataclass(frozen=True, slots=True)
class FineTunedOptions:
    """What may be varied."""

    form: bool = True
    """Whether prompts state the form of the reply, the actions and what the numbers are; `no` is
    the paper's prompt, for a model that was tuned to it."""


NOTHING = 'None'
"""The history of an episode without rounds."""

FAILED = 'Failed: '
"""Precedes the reason in a round whose last action failed."""
IN_SHORT = 'In short: '
"""Precedes the short form of the actions of a round."""

Vector = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class FtRound:
    """One reply and its results."""

    words: str
    actions: tuple[FtAction, ...] = ()
    """The actions that were tried."""
    vectors: tuple[Vector, ...] = ()
    """The observation after each of them."""

    def in_full(self, number: int) -> str:
        seen = '; '.join(map(numbers, self.vectors))
        words = one_line(self.words).replace('[', '(').replace(']', ')')
        return f'Round {number + 1}: [{words}] {listed(self.actions)} [{seen}]'

    def in_short(self, number: int) -> str:
        """Return the round without observations, except for the vertical forces [N]."""
        felt = []
        for action, seen in zip(self.actions, self.vectors, strict=False):
            # The force precedes the fingers, the last two numbers; it is always measured.
            force = f'force z {seen[-3] + 0.0:.2f}'
            felt.append(' '.join(filter(None, [action.verb.name.lower(), action.name, force])))
        words = f'{self.words} {IN_SHORT}{"; ".join(felt)}' if felt else self.words
        return FtRound(words).in_full(number)


HISTORY = HistoryForm(
    empty=NOTHING, shortened='without what was observed, but for the vertical force'
)
"""
The history of an episode.

    Round 2: [Both are lifted to feel their weight.] [pick('red_cube')] [0.450, ..., 0.021]

A round is one reply: its words, the actions that were tried, and the observed vector after each of
them. If the last one failed, the words end with `Failed: ` and the reason, unlike in the paper.
Feedback of a person is a round without actions.
"""


def numbers(vector: Sequence[float]) -> str:
    # Adding zero turns the -0.0 that rounding leaves into 0.0.
    return ', '.join(f'{round(value, 3) + 0.0:.3f}' for value in vector)


def round_words(words: str, failed: str = '') -> str:
    """Return the words of a round: a reply or feedback, and why the last action failed, if so."""
    text, why = one_line(words), one_line(failed)
    for mark in (FAILED, IN_SHORT):  # text from outside has neither mark
        text, why = (part.replace(mark, mark[0].lower() + mark[1:]) for part in (text, why))
    return f'{text} {FAILED}{why}' if failed else text


def ft_prompt(
    question: Question, task: Task, scene: Scene, history: str, *, form: bool = True
) -> str:
    """Return the prompt of a question; with its `form` for a model that is not tuned to it."""
    now = observed(scene)
    instruction = render(
        'bbllm_planners.llm_pop',
        'fine_tuned_instruction',
        task=task_text(task),
        blocks=[*now.blocks],
        tables=[table_line(item) for item in scene.objects if item.kind is Kind.FIXTURE],
        question=question.value,
        form=FORMS[question] if form else '',
    )
    current = f'[{numbers(now.vector())}]'
    given = render('bbllm_planners.llm_pop', 'fine_tuned_input', current=current, past=history)
    return f'{instruction}\n{given}'


@dataclass(frozen=True)
class FTCoT(ModelPlanner):
    """
    The paper's host of a fine-tuned model, with its flow of three questions.

    Is enough known? If not, the model lists actions that find out more, and the first question is
    repeated. If so, it lists actions that solve the task, and the episode ends.

    Source: Sun et al., section 4.2. Departure: if an action fails, or a person speaks between two
    actions, the first question is repeated; `k` lists of actions may follow the first.
    """

    options: FineTunedOptions = FineTunedOptions()

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """Work until the actions that solve the task are executed, or raise GaveUpError."""
        with context.taking_remarks():
            self._run(_Flow(self, task, world, context))

    def _run(self, flow: '_Flow') -> None:
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
    """The paper's baseline: the same host with one question, until a reply has no actions."""

    options: FineTunedOptions = FineTunedOptions()

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        flow = _Flow(self, task, world, context)
        with context.taking_remarks():
            while (reply := flow.ask(Question.NEXT, parse_reply)).actions:
                flow.carry_out(reply, reply.explanation)
        context.report_done()


class _Flow:
    """The dialogue with the model in one episode, and the execution of its actions."""

    def __init__(
        self, planner: FTCoT | FTVanilla, task: Task, world: World, context: EpisodeContext
    ):
        self._brain = planner.brain
        self._k = planner.k
        self._form = planner.options.form
        self._task = task
        self._world = world
        self._context = context
        self._history = PromptHistory(HISTORY, budget_of(self._brain), on_short=context.warn)
        self._plan = GrowingPlan(context)
        self._loops = Loops(planner.k)
        self._cause = ''
        """Why the latest list of actions was interrupted; empty if it was not."""

    def ask(self, question: Question, read: Callable[[str], FtReply]) -> FtReply:
        while True:
            try:
                self._loops.take_remarks(self._context)
                task, scene = self._context.current(self._task), self._world.observe()
                return self._history.ask(
                    self._brain,
                    partial(ft_prompt, question, task, scene, form=self._form),
                    read,
                    request=PromptRequest(kind=question.name.lower(), scene=scene),
                    on_retry=self._context.warn,
                )
            except errors.SpokenError:
                continue

    def note(self, words: str) -> None:
        self._history.add(FtRound(round_words(words)))

    def need_loop(self, reason: str, *, left: int = 0) -> None:
        """Give up unless one more list of actions is allowed, and `left` more after it."""
        if not self._loops.has_room(after=left):
            used = f'the {self._k} feedback loops do not do for it' if self._k else 'K is 0'
            raise errors.GaveUpError(
                f'The task is not solved, and {used}: {self._cause or reason}'
            )

    def carry_out(self, reply: FtReply, reason: str) -> bool:
        """Execute actions until one fails or a person speaks; return whether all succeeded."""
        if not reply.actions:
            self._context.report_done()
            return True
        self.need_loop(reason)
        texts = list(map(str, reply.actions))
        if self._loops.n_rounds:
            begun = events.RepairBegun.of(PlanStep(self._plan.next, texts[0]), reason)
            self._context.emit(replace(begun, remarked=self._loops.remarked))
        self._plan.go_on(texts)
        calls = [action.call for action in reply.actions]

        def problem(i: int) -> str:
            return self._problem(reply.actions[i])

        tried = attempt_all(self._plan.left, calls, problem, self._world, self._context)
        self._loops.end_round(tried, self._context)
        self._cause = tried[-1][0]
        words = round_words(reply.explanation, self._cause)
        seen = tuple(observation.vector() for _, observation in tried)
        self._history.add(FtRound(words, reply.actions[: len(tried)], seen))
        self._plan.next += len(tried)
        return not (self._cause or self._context.spoken) and len(tried) == len(texts)

    def _problem(self, action: FtAction) -> str:
        """Return why `place` names another block than the one in the hand; '' if it does not."""
        name, held = action.name, self._world.observe().held
        if action.verb is Verb.PLACE and name and held and plain(name) != plain(held):
            return (
                f'{name} cannot be placed, because {held} is in the hand: place that, and '
                f'pick {name} after it.'
            )
        return ''


FT_COT = PlannerSpec(
    factory=FTCoT,
    options=FineTunedOptions(),
    uses_force=True,
    asks_body=False,
    domains=frozenset({'tabletop'}),
)
FT_VANILLA = replace(FT_COT, factory=FTVanilla)
