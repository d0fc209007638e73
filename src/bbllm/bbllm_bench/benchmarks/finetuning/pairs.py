"""From a recorded episode to pairs of what was asked and what was answered."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bbllm.core.errors import BbllmError, ParseError
from bbllm.core.text import without_delimiters
from bbllm.llm.recording.replay import Exchange
from bbllm.planners.llm_pop.fine_tuned import FAILED, NOTHING, FtRound, Vector
from bbllm.planners.llm_pop.fine_tuned_grammar import FtReply, parse_actions, parse_reply
from bbllm_bench.benchmarks.finetuning.tasks import DataTask
from bbllm_bench.suites.case import Case

PAST = '\nPast:\n'
CURRENT = '\nCurrent: '
_ROUND = re.compile(r'Round (\d+): \[([^\[\]]*)\] (\[.*\]) \[([^\[\]]*)\]')


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One question with its answer, and where it comes from."""

    instruction: str
    input: str
    output: str
    id: str = ''
    """The episode's name and the place in it, for example `stack_000-t001-k4/2`."""
    task: str = ''
    """The task as the card lists it, with tags and star."""
    masses_kg: Mapping[str, float] = field(default_factory=dict)
    """What each block weighs, which no prompt states; empty where that is not known [kg]."""
    fixed: tuple[str, ...] = ()
    """Which blocks are fixed, which no prompt states either."""

    @property
    def prompt(self) -> str:
        """What the host of a tuned model sends, to the letter."""
        return f'{self.instruction}\n{self.input}'

    @property
    def words(self) -> tuple[str, str, str]:
        """All that a model is trained on: what makes two pairs the same."""
        return self.instruction, self.input, self.output


@dataclass(frozen=True, slots=True)
class Drawn:
    """What an episode gave."""

    pairs: tuple[Pair, ...]
    refused: tuple[tuple[str, str], ...] = ()
    """Of every exchange that is no pair: the rule, and what was found."""


def split_prompt(prompt: str) -> tuple[str, str]:
    """
    Return instruction and input of a prompt.

    Raises:
        ParseError: It has no line `Current: `.
    """
    head, mark, tail = prompt.partition(CURRENT)
    if not mark:
        raise ParseError('The prompt has no line `Current: `.')
    return head, f'{mark.lstrip()}{tail}'


def draw_pairs(episode: str, task: DataTask, case: Case, exchanges: Sequence[Exchange]) -> Drawn:
    """
    Return the pairs of an episode that went well, from the planner's exchanges, oldest first.

    What did not work is no example: where an action of an answer failed, it is refused, unless
    what failed was to lift what is fixed, which is how that is found out.
    """
    pairs: list[Pair] = []
    refused: list[tuple[str, str]] = []
    for i, exchange in enumerate(exchanges):
        try:
            if exchange.reply is None or len(exchange.messages) != 1:
                raise ParseError('It was asked twice, or not answered.')
            reply = parse_reply(exchange.reply.text)
            instruction, given = split_prompt(exchange.messages[0].content)
            later = exchanges[i + 1].messages[0].content if i + 1 < len(exchanges) else ''
            slip = _slip(reply, later)
        except BbllmError as error:
            refused.append(('unreadable exchange', f'{episode}/{i}: {error}'))
            continue
        if slip:
            refused.append(('an action failed', f'{episode}/{i}: {slip}'))
            continue
        pairs.append(
            Pair(
                instruction=instruction,
                input=given,
                output=str(reply),
                id=f'{episode}/{i}',
                task=str(task),
                masses_kg={spec.name: spec.mass for spec in case.table.objects},
                fixed=tuple(spec.name for spec in case.table.objects if spec.fixed),
            )
        )
    return Drawn(tuple(pairs), tuple(refused))


def failure_of(item: FtRound) -> str:
    """Return why the last action of a round failed, '' where it did not."""
    return item.words.partition(FAILED)[2]


def _slip(reply: FtReply, later: str) -> str:
    """State what of an answer did not work, from the prompt that came after it."""
    if not reply.actions or not later:
        return ''
    rounds = [item for item in parse_past(later.partition(PAST)[2]) if item.actions]
    failed = failure_of(rounds[-1]) if rounds else 'It is not in the history.'
    # A lift that fails as the block is fixed has found that out.
    return '' if 'did not rise' in failed else failed


def parse_numbers(text: str) -> Vector:
    try:
        return tuple(float(word) for word in text.split(','))
    except ValueError as error:
        raise ParseError(f'[{text[:80]}] are not numbers separated by commas.') from error


def parse_past(text: str) -> tuple[FtRound, ...]:
    """Parse a history; raise ParseError for a line that is no round."""
    text = without_delimiters(text)
    if text.strip() == NOTHING:
        return ()
    rounds: list[FtRound] = []
    for line in text.strip().splitlines():
        found = _ROUND.fullmatch(line)
        if found is None:
            raise ParseError(f'{line[:80]!r} is no `Round <i>: [words] [actions] [numbers]`.')
        seen = [part for part in found[4].split(';') if part.strip()]
        rounds.append(
            FtRound(found[2], parse_actions(found[3]), tuple(parse_numbers(part) for part in seen))
        )
    return tuple(rounds)
