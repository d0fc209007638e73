"""
Reads a pair back into numbers, and checks what was observed against what was done.

Source: LLM-POP, section 5.4, names observations that a model imagined, such as a hand that is far
from the block it holds, as the main fault of its data. Here they are measured, so that these
checks find faults of the world or of the planner's host; `bbllm data check` holds files of other
origin to them too.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean

from bbllm.core.constants import GRAVITY_M_S2
from bbllm.core.errors import BbllmError, ParseError
from bbllm.core.skill_calls import parse_pose
from bbllm.core.text import without_delimiters
from bbllm.planners.llm_pop.fine_tuned import (
    IN_SHORT,
    FtRound,
    Question,
    Vector,
)
from bbllm.planners.llm_pop.fine_tuned_grammar import (
    FtAction,
    FtReply,
    parse_enough,
    parse_reply,
    parse_some,
)
from bbllm.planners.llm_pop.grammar import Verb
from bbllm_bench.benchmarks.finetuning.pairs import (
    PAST,
    Pair,
    failure_of,
    parse_numbers,
    parse_past,
)

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
    """Whether the oldest rounds are given in short or not at all, since they were too long."""
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
        now = _observe(names, parse_numbers(current.removeprefix('Current: [').rstrip(']')))
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
        looks=tuple(tuple(_observe(names, v) for v in item.vectors) for item in rounds),
        reply=reply,
        cut=_is_cut(past, rounds),
        masses_kg=pair.masses_kg,
    )


def _is_cut(past: str, rounds: tuple[FtRound, ...]) -> bool:
    if rounds and not past.lstrip().startswith('Round 1:'):
        return True
    return any(IN_SHORT in item.words for item in rounds)


def _observe(names: tuple[str, ...], values: Vector) -> Look:
    wanted = 7 * len(names) + HAND
    if len(values) != wanted:
        raise PairError(
            'numbers', f'an observation of {len(names)} blocks has {len(values)}, not {wanted}'
        )
    poses = [values[i : i + 7] for i in range(0, wanted - HAND, 7)]
    hand = values[-HAND:]
    return Look(dict(zip(names, poses, strict=True)), hand[:7], hand[7:10], hand[10:])


QUATERNION = 0.005
"""How far the length of one that was written to three decimals may be from 1."""
IN_HAND_M = 0.025
"""How far the centre of a held block may be from the tool centre point [m]."""
RISEN_M = 0.05
"""How high above where it was a block is that was picked [m]."""
STILL_M = 0.01
"""How far a block may be from where it was that nothing was done to [m]."""
PLACED_M = 0.02
"""How far the centre of a block that was placed may be from below the hand that let it go [m]."""
WIDER_M = 0.006
"""Fingers that are further apart than a block is wide by more than this do not hold it [m]."""
FORCE_N = 0.35
"""How far the force of a held block may be from its weight, where this episode has shown the
force of an empty hand: more than five deviations of the difference of two readings [N]."""
OFFSET_N = 1.0
"""The same where it has not, so that what the sensor is off is in it: its deviation is 0.2 [N]."""
MOST_N = 12.0
"""What the heaviest block that this arm lifts would weigh [N]."""
UNKNOWN = ''
"""In place of the name of what is held: the rounds that would tell are not told in full."""


def check_physics(read: Read) -> None:
    """
    Hold a pair's observations to what was done, and its answer to what can be done.

    Raises:
        PairError: One of them does not fit.
    """
    for view in _all_views(read):
        _check_view(view)
    if len({*read.names}) != len(read.names) or not read.names:
        raise PairError('layout', 'a block is named twice, or none is')
    edge_m = _edge_m(read)
    held: str | None = UNKNOWN if read.cut else None
    before: Look | None = None
    empty_n: list[float] = []
    lifted: list[tuple[str, float]] = []
    for action, view, failed in _steps(read):
        held = _after(action, view, before, held, failed, edge_m)
        if not failed:
            if held is None:
                empty_n.append(view.force_n[2])
            elif held != UNKNOWN:
                lifted.append((held, view.force_n[2]))
        before = view
    _check_forces(read, empty_n, lifted)
    if before is not None:
        _check_same(before, read.now)
    _check_reply(read, _in_hand(read.now, edge_m) if held == UNKNOWN else held)


def _all_views(read: Read) -> Iterator[Look]:
    for views in read.looks:
        yield from views
    yield read.now


def _steps(read: Read) -> Iterator[tuple[FtAction, Look, bool]]:
    for item, views in zip(read.rounds, read.looks, strict=True):
        for i, (action, view) in enumerate(zip(item.actions, views, strict=True)):
            yield action, view, bool(failure_of(item)) and i == len(views) - 1


def _edge_m(read: Read) -> float:
    """Return how wide the blocks are: cubes of one size, of which one stands on the table [m]."""
    return 2 * min(pose[2] for view in _all_views(read) for pose in view.blocks.values())


def _closed(view: Look, edge_m: float) -> bool:
    return sum(view.fingers_m) <= edge_m + WIDER_M


def _in_hand(view: Look, edge_m: float) -> str | None:
    """Return the block in the hand by what is observed: between closed fingers."""
    near = min(view.blocks, key=lambda name: math.dist(view.blocks[name][:3], view.hand[:3]))
    away_m = math.dist(view.blocks[near][:3], view.hand[:3])
    return near if away_m <= IN_HAND_M and _closed(view, edge_m) else None


def _check_view(view: Look) -> None:
    for name, pose in (*view.blocks.items(), ('the hand', view.hand)):
        length = math.hypot(*pose[3:])
        if abs(length - 1.0) > QUATERNION:
            raise PairError('quaternion', f'that of {name} has the length {length:.3f}')
    for name, pose in view.blocks.items():
        if pose[2] < 0.0:
            raise PairError('under the table', f'{name} is at z {pose[2]:.3f}')


def _after(
    action: FtAction,
    view: Look,
    before: Look | None,
    held: str | None,
    failed: bool,
    edge_m: float,
) -> str | None:
    """Return what is in the hand after an action; hold the observation to that."""
    if action.verb is Verb.PICK:
        if action.name not in view.blocks:
            raise PairError('unknown block', f'{action.name} was picked')
        if failed:
            if held == UNKNOWN and _closed(view, edge_m):
                return held
            _check_stayed(action.name, view, before, edge_m)
            return None if held == UNKNOWN else held
        if held is not None and held != UNKNOWN:
            raise PairError('full hand', f'{action.name} was picked with {held} in the hand')
        _check_held(action.name, view, edge_m)
        stood_m = edge_m / 2 if before is None else before.blocks[action.name][2]
        if (rise_m := view.blocks[action.name][2] - stood_m) < RISEN_M:
            raise PairError('pick without a lift', f'{action.name} rose by {rise_m:.3f} m')
        return action.name
    if failed:
        return held if _closed(view, edge_m) else None
    if action.verb is Verb.PLACE:
        if held is None:
            raise PairError('empty hand', 'something was placed that was not in the hand')
        _check_placed(held or _below(action, view), action.pose, view, edge_m)
        return None
    if held == UNKNOWN:
        return _in_hand(view, edge_m)
    if held is not None:
        _check_held(held, view, edge_m)
    return held


def _below(action: FtAction, view: Look) -> str:
    """Return which block was placed: the one that is named, or that is next to where it was."""
    if action.name in view.blocks or action.pose is None:
        return action.name
    x, y = action.pose[:2]
    return min(view.blocks, key=lambda name: math.dist(view.blocks[name][:2], (x, y)))


def _check_held(name: str, view: Look, edge_m: float) -> None:
    away_m = math.dist(view.blocks[name][:3], view.hand[:3])
    if away_m > IN_HAND_M:
        raise PairError('block away from the hand', f'{name} is held {away_m:.3f} m away from it')
    if not _closed(view, edge_m):
        raise PairError('open fingers', f'{name} is held by fingers that are open')


def _check_stayed(name: str, view: Look, before: Look | None, edge_m: float) -> None:
    if _closed(view, edge_m):
        raise PairError('closed fingers', f'a pick of {name} failed, but the fingers are closed')
    if before is not None:
        moved_m = math.dist(view.blocks[name][:3], before.blocks[name][:3])
        if moved_m > STILL_M:
            raise PairError('fixed block moved', f'{name} moved by {moved_m:.3f} m')


def _check_placed(name: str, pose: Vector | None, view: Look, edge_m: float) -> None:
    if _closed(view, edge_m):
        raise PairError('closed fingers', f'{name} was placed, but the fingers are closed')
    assert pose is not None  # the grammar wants one
    aside_m = math.dist(view.blocks[name][:2], pose[:2])
    if aside_m > PLACED_M:
        raise PairError('placed elsewhere', f'{name} is {aside_m:.3f} m from where it was let go')


def _check_forces(read: Read, empty_n: list[float], lifted: list[tuple[str, float]]) -> None:
    if lifted and not any(any(view.force_n) for view in _all_views(read)):
        raise PairError('no force', 'blocks were lifted, but no force was measured')
    offset_n = fmean(empty_n) if empty_n else 0.0
    within_n = FORCE_N if empty_n else OFFSET_N
    for name, force_n in lifted:
        pull_n = offset_n - force_n
        if name not in read.masses_kg:
            if not -within_n < pull_n < MOST_N or (empty_n and pull_n <= 0.0):
                raise PairError('force', f'{name} pulls with {pull_n:.2f} N')
            continue
        weight_n = GRAVITY_M_S2 * read.masses_kg[name]
        if abs(pull_n - weight_n) > within_n:
            raise PairError('force', f'{name} weighs {weight_n:.2f} N, but pulls {pull_n:.2f} N')


def _check_same(last: Look, now: Look) -> None:
    """Hold what is observed now to the end of the past."""
    for name, pose in now.blocks.items():
        if (moved_m := math.dist(pose[:3], last.blocks[name][:3])) > STILL_M:
            raise PairError('past and present', f'{name} is {moved_m:.3f} m from where it was')


def _check_reply(read: Read, held: str | None) -> None:
    """Hold the actions of an answer to the hand and to the blocks that there are."""
    for action in read.reply.actions:
        if action.name and action.name not in read.names:
            raise PairError('unknown block', f'the answer names {action.name}')
        if action.pose is not None:
            try:
                parse_pose(action.call.args[0])
            except ValueError as error:
                raise PairError('pose', str(error)) from error
        if action.verb is Verb.PICK:
            if held is not None:
                raise PairError('full hand', f'the answer picks {action.name} with {held} held')
            held = action.name
        elif action.verb is Verb.PLACE:
            if held is None or (action.name and action.name != held):
                raise PairError('empty hand', f'the answer places {action.name or "nothing"}')
            held = None
    for one, other in pairwise(read.reply.actions):
        if one == other and one.verb is not Verb.WAIT:
            raise PairError('repetition', f'the answer does {one} twice')
