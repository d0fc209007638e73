"""From what is known to what is to be done: the whole wit of `expert` and `uninformed`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from bbllm.llm.expert.belief import Belief, held_now, learn
from bbllm.llm.expert.brief import ExpertBrief
from bbllm.llm.expert.layout import lay_out
from bbllm.llm.expert.sight import Move, Sight
from bbllm.llm.expert.table import Table

READINGS_MORE = 3
"""How often a block is felt again where two weights are too close."""


class Stage(Enum):
    """How far an episode is."""

    GATHER = 'gather'
    """Something has to be found out first."""
    ACT = 'act'
    DONE = 'done'


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do next, and why."""

    stage: Stage
    reason: str
    """One sentence that names what is known."""
    moves: tuple[Move, ...] = ()


def decide(sight: Sight, brief: ExpertBrief) -> Decision:
    """Return what to do next; the same prompt and brief give the same answer."""
    if not brief.gather:
        return _guess(sight, brief)
    belief = learn(sight)
    table = Table(sight, held_now(sight))
    if brief.needs == 'weights':
        reason = _weigh(sight, brief, belief, table)
    elif brief.needs == 'movable':
        reason = _try(sight, brief, belief, table)
    else:
        reason = ''
    if reason:
        return Decision(Stage.GATHER, reason, tuple(table.moves))
    known = _known(sight, brief, belief)
    free = movable(sight, belief, brief.n_fixed)
    wanted = lay_out(table, brief, _heaviest_first(sight, belief), free)
    if not table.moves:
        return Decision(Stage.DONE, f'{known}{wanted} That is so now.')
    return Decision(Stage.ACT, f'{known}{wanted} It is not so yet.', tuple(table.moves))


def movable(sight: Sight, belief: Belief, n_fixed: int) -> frozenset[str] | None:
    """
    Return the blocks that can be moved, None where that is not known.

    How many are fixed is what the instruction of such a task says, so that not all have to be
    tried.
    """
    names = frozenset(sight.names)
    if len(belief.stuck) == n_fixed:
        return names - belief.stuck
    if len(belief.rose) >= len(names) - n_fixed:
        return belief.rose
    return None


def _weigh(sight: Sight, brief: ExpertBrief, belief: Belief, table: Table) -> str:
    """Decide on what has to be weighed; return why, '' where every weight is known."""
    new = [name for name in sight.names if not belief.forces_n.get(name)]
    if new and not _can_feel(sight):
        return ''  # nothing measures forces here, so that more lifting would tell nothing
    if new:
        for name in new:
            table.pick(name)
            table.empty_hand()
        return f'Not known yet: the weight of {_listed(new)}. Each is lifted to feel it.'
    close = belief.unsure(sight.names, only_heaviest=brief.goal == 'hold')
    for name in close:
        table.pick(name)
        table.wait(READINGS_MORE)
        table.empty_hand()
    if not close:
        return ''
    felt = ', '.join(f'{name} {belief.force_n(name):.2f} N' for name in close)
    return f'These are too close to tell which is heavier, so they are felt again: {felt}.'


def _try(sight: Sight, brief: ExpertBrief, belief: Belief, table: Table) -> str:
    """Decide on what has to be tried; return why, '' where it is known what can be moved."""
    if movable(sight, belief, brief.n_fixed) is not None:
        return ''
    # Where too many did not rise, one of the tries has failed for another reason.
    left = [name for name in sight.names if name not in belief.rose]
    left.sort(key=[deed.move.name for deed in sight.deeds if deed.tried].count)
    for name in left[: max(1, len(left) - brief.n_fixed)]:
        table.pick(name)
    return (
        f'Not known yet: what is fixed ({brief.n_fixed}). {_listed(left)} may be; lifting tells.'
    )


def _known(sight: Sight, brief: ExpertBrief, belief: Belief) -> str:
    if brief.needs == 'weights':
        order = _heaviest_first(sight, belief)
        if any(name not in belief.forces_n for name in order):
            return 'No force is measured, so that this is a guess. '
        felt = ', '.join(f'{name} ({belief.force_n(name):.2f} N)' for name in order)
        return f'From heavy to light: {felt}. '
    free = movable(sight, belief, brief.n_fixed)
    if brief.needs == 'movable' and free is not None:
        fixed = [name for name in sight.names if name not in free]
        return f'Movable: {_listed(sorted(free)) or "none"}. Fixed: {_listed(fixed) or "none"}. '
    return ''


def _heaviest_first(sight: Sight, belief: Belief) -> list[str]:
    return sorted(sight.names, key=belief.force_n)


def _can_feel(sight: Sight) -> bool:
    tried = [deed for deed in sight.deeds if deed.tried and deed.done is not False]
    return not tried or any(look.force_n is not None for look in sight.looks())


def _guess(sight: Sight, brief: ExpertBrief) -> Decision:
    """Decide at random and all at once; call it done after that, whatever came of it."""
    if any(deed.tried for deed in sight.deeds):
        return Decision(Stage.DONE, 'The plan was carried out.')
    order = list(sight.names)
    random.Random(f'{brief.seed}').shuffle(order)
    table = Table(sight, held_now(sight))
    wanted = lay_out(table, brief, order, frozenset(order[brief.n_fixed :]))
    return Decision(Stage.ACT, f'A guess: {wanted}', tuple(table.moves))


def _listed(names: Sequence[str]) -> str:
    return ' and '.join(filter(None, (', '.join(names[:-1]), *names[-1:])))
