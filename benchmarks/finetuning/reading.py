"""Reads a pair back into numbers: all that its checks look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bbllm.core.errors import BbllmError, ParseError
from bbllm.core.text import without_delimiters
from bbllm.planners.llm_pop.fine_tuned_grammar import (
    FtReply,
    parse_enough,
    parse_reply,
    parse_some,
)
from bbllm.planners.llm_pop.fine_tuned_prompting import (
    IN_SHORT,
    FtRound,
    Question,
    Vector,
)
from benchmarks.finetuning.pairs import PAST, Pair, parse_numbers, parse_past

HAND = 12
"""Numbers of the hand: its pose, a force, two fingers."""
_READERS = {
    Question.ENOUGH: parse_enough,
    Question.GATHER: parse_some,
    Question.SOLVE: parse_reply,
    Question.NEXT: parse_reply,
}


class PairError(Exception):
    """A pair that breaks a rule; the rule is what cards count by."""

    def __init__(self, rule: str, found: str):
        super().__init__(found)
        self.rule = rule


@dataclass(frozen=True, slots=True)
class Look:
    """One observation, by names."""

    blocks: Mapping[str, Vector]
    """Poses, x y z qx qy qz qw [m]."""
    hand: Vector
    """Pose of the tool centre point."""
    force_n: Vector
    fingers_m: Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A pair in parts."""

    question: Question
    names: tuple[str, ...]
    """Of the blocks, in the order of the vector."""
    now: Look
    rounds: tuple[FtRound, ...]
    looks: tuple[tuple[Look, ...], ...]
    """What was observed in each of the rounds."""
    reply: FtReply
    cut: bool = False
    """Whether the oldest rounds are told in short or not at all, since they were too long."""
    masses_kg: Mapping[str, float] = field(default_factory=dict)


def read_pair(pair: Pair) -> Read:
    """
    Take a pair apart.

    Raises:
        PairError: It is not of the form that the host sends, or its answer not of the grammar.
    """
    instruction = without_delimiters(pair.instruction)
    head = dict(line.partition(': ')[::2] for line in instruction.splitlines())
    current, _, past = pair.input.partition(PAST)
    if not {'Task', 'Blocks', 'Question'} <= head.keys() or not current.startswith('Current: ['):
        raise PairError('layout', 'Task, Blocks, Question, Current or Past is missing')
    try:
        question = Question(head['Question'])
    except ValueError:
        raise PairError('question', f'{head["Question"][:80]!r} is none that is asked') from None
    names = tuple(name.strip() for name in head['Blocks'].split(','))
    try:
        now = _look(names, parse_numbers(current.removeprefix('Current: [').rstrip(']')))
        rounds = parse_past(past)
    except ParseError as error:
        raise PairError('layout', str(error)) from error
    for i, item in enumerate(rounds):
        if len(item.actions) != len(item.vectors):
            raise PairError(
                'observations for actions',
                f'round {i + 1} has {len(item.actions)} actions and {len(item.vectors)} '
                'observations',
            )
    try:
        reply = _READERS[question](pair.output)
    except BbllmError as error:
        raise PairError('answer', str(error)) from error
    return Read(
        question=question,
        names=names,
        now=now,
        rounds=rounds,
        looks=tuple(tuple(_look(names, v) for v in item.vectors) for item in rounds),
        reply=reply,
        cut=_is_cut(past, rounds),
        masses_kg=pair.masses_kg,
    )


def _is_cut(past: str, rounds: tuple[FtRound, ...]) -> bool:
    if rounds and not past.lstrip().startswith('Round 1:'):
        return True
    return any(IN_SHORT in item.words for item in rounds)


def _look(names: tuple[str, ...], values: Vector) -> Look:
    wanted = 7 * len(names) + HAND
    if len(values) != wanted:
        raise PairError(
            'numbers', f'an observation of {len(names)} blocks has {len(values)}, not {wanted}'
        )
    poses = [values[i : i + 7] for i in range(0, wanted - HAND, 7)]
    hand = values[-HAND:]
    return Look(dict(zip(names, poses, strict=True)), hand[:7], hand[7:10], hand[10:])
