"""What earlier turns leave for the next: where objects had been, and what `it` means."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bbllm.core.conversation import Spot, Turn
from bbllm_bench.oracle.table_goals import TableObject

_UNDO = re.compile(r'\W*(?:please\W+)?undo\b(?:\W+the)?(?:\W+(?:last|previous))?(?:\W+(\w+))?')
ALL_TURNS = 1000
_COUNTS = {
    **{'two': 2, 'three': 3, 'four': 4, 'five': 5, 'six': 6},
    **{'all': ALL_TURNS, 'everything': ALL_TURNS},
}


def undone_by(text: str) -> int:
    """Return how many turns with a motion a sentence undoes: `undo the last two`; 0 for none."""
    found = _UNDO.match(text.lower())
    if found is None:
        return 0
    word = found[1] or ''
    return int(word[:3]) if word.isdecimal() else _COUNTS.get(word, 1)


@dataclass(frozen=True)
class Past:
    """The turns before a sentence, on the table that it is read on."""

    turns: tuple[Turn, ...] = ()
    kinds: Mapping[str, str] | None = None
    """Kinds of the objects by name; None for no table."""
    last: tuple[str, ...] = ()
    """What `it` means, and what `the other one` leaves out."""
    recent: tuple[str, ...] = ()
    """What `them` means where `it` is one object: what the last two tasks were about."""

    @property
    def earlier(self) -> dict[str, str]:
        """Where each object had been before it was moved last, as places."""
        found: dict[str, str] = {}
        for turn in self.turns:
            found |= self._places(turn)
        return found

    def before(self, n: int) -> dict[str, str]:
        """Return where objects had been before the last turns with a motion that still count."""
        found: dict[str, str] = {}
        for turn in self._in_force(n):
            found |= self._places(turn)  # the earliest last
        return found

    def _in_force(self, n: int) -> Iterator[Turn]:
        """Yield the latest turns with a motion, the newest first, without what was undone."""
        undone = 0
        for turn in reversed(self.turns):
            if n and turn.moves:
                if (more := undone_by(turn.text)) or undone:
                    undone += more or -1
                    continue
                n -= 1
                yield turn

    def _places(self, turn: Turn) -> dict[str, str]:
        kinds = self.kinds or {}
        held = {move.name for move in turn.moves if move.before.is_held}
        return {
            move.name: _place(move.before, kinds)
            for move in turn.moves
            if move.name in kinds and move.name not in held
        }


NOTHING_BEFORE = Past()


def _place(spot: Spot, kinds: Mapping[str, str]) -> str:
    """Return the object that something was on, or a pose where that is the table."""
    below = [fact.object for fact in spot.facts if kinds.get(fact.object, 'fixture') != 'fixture']
    if below or spot.pose is None:
        return below[0] if below else ''
    return ' '.join(f'{x + 0.0:.3f}' for x in spot.pose.position_m)


def rolled_back(
    objects: Mapping[str, TableObject], held: str | None, turn: Turn
) -> tuple[dict[str, TableObject], str | None]:
    """Return the objects as they were before a turn, and what was in the hand."""
    found = dict(objects)
    for move in turn.moves:
        if held == move.name:
            held = None
        if move.name in found and move.before.pose is not None:
            facts = [fact for fact in move.before.facts if fact.predicate in ('on', 'in')]
            found[move.name] = replace(
                found[move.name],
                at=move.before.pose.position_m,
                below=tuple(fact.object for fact in facts),
                yaw_deg=float(move.before.yaw_deg),
            )
    held = next((move.name for move in turn.moves if move.before.is_held), held)
    return found, held


def moved_by(turns: Sequence[Turn]) -> tuple[str, ...]:
    """Return the objects that the latest turn with a motion moved."""
    return next((tuple(m.name for m in turn.moves) for turn in reversed(turns) if turn.moves), ())
