"""
The prompt of FT-CoT and FT-Vanilla: one question, the current observation, and the history.

    Task: Put the lighter block on the heavier one.
    Blocks: red_cube, blue_cube
    Table: centre 0.500 0.000, size 0.360 0.600, top 0.000
    Question: Is enough known to solve the task? If not, what is missing?
    Current: [0.450, -0.100, 0.020, ..., 0.040, 0.040]
    Past:
    None

Source: Sun et al., section 4.2, appendix A.4 and A.6. The paper's table and blocks are always the
same and its prompts name neither. In data sets the lines up to the question are the instruction,
the others the input. `benchmarks.finetuning` depends on the labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from bbllm.core.observation import observed
from bbllm.core.types import Kind, Scene, Task
from bbllm.planners.common.prompt_history import HistoryForm
from bbllm.planners.common.prompting import one_line, render
from bbllm.planners.llm_pop.fine_tuned_grammar import FtAction, listed
from bbllm.planners.llm_pop.prompting import table_line


class Question(Enum):
    """The value is the text in the prompt."""

    ENOUGH = 'Is enough known to solve the task? If not, what is missing?'
    """The reply is Yes or No and a reason, without actions."""
    GATHER = 'Which actions find out what is missing?'
    SOLVE = 'Which actions solve the task?'
    NEXT = 'Which actions come next, to find out what is missing or to solve the task?'
    """The only question of FT-Vanilla; a reply without actions means that the task is solved."""


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
        return f'Round {number}: [{words}] {listed(self.actions)} [{seen}]'

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
    empty=NOTHING, shortened='without what was observed, but for the vertical force', first=1
)
"""
The history of an episode; `benchmarks.finetuning` reads it back.

    Round 1: [No. It is not known which block is heavier.] [] []
    Round 2: [Both are lifted to feel their weight.] [pick('red_cube')] [0.450, ..., 0.021]
    Round 3: [...] [pick('a'), place('a', [...], [...])] [0.450, ..., 0.021; 0.450, ..., 0.040]

A round is one reply: its words, the actions that were tried, and the observed vector after each
of them (`core.observation.Observed.vector`). If the last action failed, the words end with
`Failed: ` and the reason, unlike in the paper. Feedback of a person is a round without actions.
"""


def numbers(vector: Sequence[float]) -> str:
    """Return a vector to three decimals, without brackets."""
    # Adding zero turns the -0.0 that rounding leaves into 0.0.
    return ', '.join(f'{round(value, 3) + 0.0:.3f}' for value in vector)


def round_words(words: str, failed: str = '') -> str:
    """Return the words of a round: a reply or feedback, and why the last action failed, if so."""
    text, why = one_line(words), one_line(failed)
    for mark in (FAILED, IN_SHORT):  # text from outside has neither mark
        text, why = (part.replace(mark, mark[0].lower() + mark[1:]) for part in (text, why))
    return f'{text} {FAILED}{why}' if failed else text


def ft_prompt(question: Question, task: Task, scene: Scene, history: str) -> str:
    now = observed(scene)
    instruction = render(
        'bbllm.planners.llm_pop',
        'fine_tuned_instruction',
        task=one_line(task.instruction),
        blocks=[*now.blocks],
        tables=[table_line(item) for item in scene.objects if item.kind is Kind.FIXTURE],
        question=question.value,
    )
    current = f'[{numbers(now.vector())}]'
    given = render('bbllm.planners.llm_pop', 'fine_tuned_input', current=current, past=history)
    return f'{instruction}\n{given}'
