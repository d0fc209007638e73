"""What failed steps teach, in words: how `expert` says it, and how it reads what it is told."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from bbllm.bench.household_expert.lessons import Lessons, Surprise, concluded, lying_at
from bbllm.worlds.household.graph import Graph

Names = Callable[[str], int | None]
"""Returns the id of what is called so; None where nothing is."""

_THING = r'(<[^<>]{1,80}> \(\d{1,9}\)|\w+)'
_SLIPS = re.compile(rf'{_THING} cannot be picked up')
_ROOM = re.compile(rf'there is room for only (\d{{1,3}}) at {_THING}')
_NO_GRIP = re.compile(rf'gets no grip on {_THING}')
_NO_ROOM = re.compile(rf'no room left at {_THING}')
_UNSTEADY = re.compile(rf'{_THING} can be carried itself, and nothing is put there')
_NUMBER = re.compile(r'\((\d+)\)\Z')


def conclusion(surprise: Surprise, short: Callable[[int], str]) -> str:
    """Say what the likely cause of a surprise is; `short` tells what the planner calls a thing."""
    likely = concluded(surprise)
    for thing in likely.gripless:
        return f'{short(thing)} cannot be picked up, and something else has to be taken'
    for place, n in likely.room:
        return f'there is room for only {n} at {short(place)}, and that has to be taken out first'
    return 'something that no rule of the house tells'


def concluded_in(text: str, names: Names) -> Lessons:
    """Return what the conclusions in a text teach; whatever else stands there is not read."""
    room = {
        (place, int(n)) for n, word in _ROOM.findall(text)
        if (place := _id(word, names)) is not None
    }  # fmt: skip
    return Lessons(gripless=frozenset(_ids(_SLIPS, text, names)), room=frozenset(room))


def refused_in(text: str, graph: Graph, names: Names = lambda word: None) -> Lessons:
    """
    Return what the sentences teach by which a household refuses a step.

    Args:
        text: The sentences; whatever else stands there is not read.
        graph: How things lay then: where no room is left there is room for what was there.
        names: What things are called, where they are not called as in `<toaster> (103)`.
    """
    room = {(place, max(1, len(lying_at(graph, place)))) for place in _ids(_NO_ROOM, text, names)}
    room |= {(place, 0) for place in _ids(_UNSTEADY, text, names)}
    return Lessons(gripless=frozenset(_ids(_NO_GRIP, text, names)), room=frozenset(room))


def _ids(form: re.Pattern[str], text: str, names: Names) -> Iterator[int]:
    for word in form.findall(text):
        if (found := _id(word, names)) is not None:
            yield found


def _id(word: str, names: Names) -> int | None:
    number = _NUMBER.search(word)
    return int(number[1]) if number else names(word)
