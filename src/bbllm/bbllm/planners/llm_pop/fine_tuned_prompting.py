"""
The prompt of FT-CoT and FT-Vanilla: one question, what is observed, and what was before.

    Task: Put the lighter block on the heavier one.
    Blocks: red_cube, blue_cube
    Table: centre 0.500 0.000, size 0.360 0.600, top 0.000
    Question: Is enough known to solve the task? If not, what is missing?
    Current: [0.450, -0.100, 0.020, ..., 0.040, 0.040]
    Past:
    None

Source: Sun et al., Interactive Planning Using Large Language Models for Partially Observable
Robotics Tasks, section 4.2 and appendix A.4 and A.6. The paper's table and blocks are always the
same and its prompts name neither; here a line names the blocks in the vector's order, and one
tells the table. The lines up to the question are what data sets call the instruction, the others
the input. The labels are a contract with `bench.data`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from bbllm.core.delimiters import without_delimiters
from bbllm.core.errors import ParseError
from bbllm.core.observation import observed
from bbllm.core.types import Kind, Scene, Task
from bbllm.planners.common.prompt_history import BUDGET, PromptHistory
from bbllm.planners.common.prompting import one_line, templates
from bbllm.planners.llm_pop.fine_tuned_grammar import FtAction, listed, parse_actions
from bbllm.planners.llm_pop.prompting import table_line


class Question(Enum):
    """The value is the text that stands in the prompt."""

    ENOUGH = 'Is enough known to solve the task? If not, what is missing?'
    """Answered by Yes or No and a reason, and no actions."""
    GATHER = 'Which actions find out what is missing?'
    SOLVE = 'Which actions solve the task?'
    NEXT = 'Which actions come next, to find out what is missing or to solve the task?'
    """The only one that FT-Vanilla asks; no actions mean that the task is solved."""


NOTHING = 'None'
"""The history of an episode in which nothing was asked yet."""

FAILED = 'Failed: '
"""Stands behind the words of a round whose last action failed, before the reason."""
IN_SHORT = 'In short: '
"""Stands behind the words of a round, before the short form of its actions."""

Vector = tuple[float, ...]

_ROUND = re.compile(r'Round (\d+): \[([^\[\]]*)\] (\[.*\]) \[([^\[\]]*)\]')


@dataclass(frozen=True, slots=True)
class FtRound:
    """One answer and what came of it."""

    words: str
    actions: tuple[FtAction, ...] = ()
    """What was tried of it."""
    vectors: tuple[Vector, ...] = ()
    """What was observed after each of them."""

    def in_full(self, number: int) -> str:
        """Write all of it."""
        seen = '; '.join(map(numbers, self.vectors))
        return f'Round {number}: [{bracketless(self.words)}] {listed(self.actions)} [{seen}]'

    def in_short(self, number: int) -> str:
        """Write it without what was observed, but for the vertical forces [N]."""
        felt = '; '.join(map(_in_short, self.actions, self.vectors))
        words = f'{self.words} {IN_SHORT}{felt}' if felt else self.words
        return FtRound(words).in_full(number)


class FtHistory(PromptHistory):
    """
    The rounds of one episode, as its model reads them, and as checks read them back.

        Round 1: [No. It is not known which block is heavier.] [] []
        Round 2: [Both are lifted to feel their weight.] [pick('red_cube')] [0.450, ..., 0.021]
        Round 3: [...] [pick('a'), place('a', [...], [...])] [0.450, ..., 0.021; 0.450, ..., 0.040]

    A round is one answer: its words, the actions that were tried, and the vector that was observed
    after each of them (`core.observed.Observed.vector`). So there are as many vectors as actions.
    Where the last action of a round failed, its words go on with `Failed: ` and the reason, which
    the paper does not tell its models. What people say is a round of its own, without actions.
    """

    in_short = 'without what was observed, but for the vertical force'

    def __init__(
        self, budget: int | None = BUDGET, *, on_short: Callable[[str], None] | None = None
    ):
        super().__init__(budget, on_short=on_short)
        self._rounds: list[FtRound] = []

    @property
    def n_rounds(self) -> int:
        """How many rounds there were."""
        return len(self._rounds)

    def add(self, item: FtRound) -> None:
        """Put the next round behind all others."""
        self._rounds.append(item)

    def write(self, in_short: int = 0, left_out: int = 0) -> str:
        """See `PromptHistory.write`."""
        lines = [
            item.in_short(i + 1) if i < in_short else item.in_full(i + 1)
            for i, item in enumerate(self._rounds)
            if i >= left_out
        ]
        return '\n'.join(lines) or NOTHING


def numbers(vector: Sequence[float]) -> str:
    """Write a vector to three decimals, without brackets."""
    # Adding zero turns the -0.0 that rounding leaves into 0.0.
    return ', '.join(f'{round(value, 3) + 0.0:.3f}' for value in vector)


def parse_numbers(text: str) -> Vector:
    """
    Read a vector back.

    Raises:
        ParseError: What is no number.
    """
    try:
        return tuple(float(word) for word in text.split(','))
    except ValueError as error:
        raise ParseError(f'[{text[:80]}] are not numbers separated by commas.') from error


def parse_past(text: str) -> tuple[FtRound, ...]:
    """
    Read a history back.

    Raises:
        ParseError: A line that is none of its forms; says which.
    """
    text = without_delimiters(text)
    if text.strip() == NOTHING:
        return ()
    rounds: list[FtRound] = []
    for line in text.strip().splitlines():
        found = _ROUND.fullmatch(line)
        if found is None:
            raise ParseError(f'{line[:80]!r} is no `Round <i>: [words] [actions] [numbers]`.')
        told = [part for part in found[4].split(';') if part.strip()]
        rounds.append(
            FtRound(found[2], parse_actions(found[3]), tuple(parse_numbers(part) for part in told))
        )
    return tuple(rounds)


def said_so(words: str, failed: str = '') -> str:
    """
    Return the words of a round.

    Args:
        words: What the model or a person said; what stands in it for a failure does not count.
        failed: Why the last action failed; '' where it did not.
    """
    said = unmarked(one_line(words))
    return f'{said} {FAILED}{unmarked(one_line(failed))}' if failed else said


def bracketless(words: str) -> str:
    """Put words on one line and without brackets, so that none of them ends a part too early."""
    return one_line(words).replace('[', '(').replace(']', ')')


def _in_short(action: FtAction, seen: Vector) -> str:
    # The force is what stands before the fingers, the last two numbers; it is always measured.
    words = [action.verb.name.lower(), action.name, f'force z {seen[-3] + 0.0:.2f}']
    return ' '.join(filter(None, words))


def unmarked(words: str) -> str:
    """Return words from outside, so that neither mark can be read in them."""
    for mark in (FAILED, IN_SHORT):
        words = words.replace(mark, f'{mark[0].lower()}{mark[1:]}')
    return words


@dataclass(frozen=True, slots=True)
class FtPrompt:
    """One prompt in the two parts that data sets keep apart."""

    instruction: str
    input: str

    def __str__(self) -> str:
        return f'{self.instruction}\n{self.input}'


class FtPrompts:
    """Renders the prompts."""

    def __init__(self) -> None:
        self._templates = templates('bbllm.planners.llm_pop')

    def ask(self, question: Question, task: Task, scene: Scene, history: str) -> FtPrompt:
        """
        Write the prompt of a question.

        Args:
            question: Which.
            task: What was asked for.
            scene: As it is now.
            history: What `ft_history.FtHistory.text` returns.
        """
        now = observed(scene)
        instruction = self._render(
            'instruction',
            task=one_line(task.instruction),
            blocks=[*now.blocks],
            tables=[table_line(item) for item in scene.objects if item.kind is Kind.FIXTURE],
            question=question.value,
        )
        current = f'[{numbers(now.vector())}]'
        return FtPrompt(instruction, self._render('input', current=current, past=history))

    def _render(self, name: str, **values: object) -> str:
        return self._templates.get_template(f'fine_tuned_{name}.md.j2').render(values).rstrip()
