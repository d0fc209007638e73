"""How FLTRNN's prompts say where things are and how they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bbllm.core.instance_names import class_of
from bbllm.planners.common.goal_predicates import GoalPredicate
from bbllm.planners.fltrnn.grammar import shown
from bbllm.planners.fltrnn.memory_graph import MemoryGraph

TOLD_STATES = ('closed', 'open', 'opened', 'off', 'on')
"""States that matter to the actions; `opened` is a slip of the program, see PaperMemoryGraph."""
HAND = 'hand'
ROBOT = 'robot'


def memory_text(
    things: Iterable[tuple[str, str, str]], states: Mapping[str, Sequence[str]]
) -> str:
    """
    Write things and states on one line, what is in or on the same place together.

    For example `[('milk(id:21), egg(id:22)', 'INSIDE', 'fridge(id:5)')]; fridge(id:5) is closed`.
    """
    how = [f'{shown(name)} is {" and ".join(words)}' for name, words in states.items() if words]
    return _placed_text(things) + (f'; {", ".join(how)}' if how else '')


def terse_text(things: Iterable[tuple[str, str, str]], states: Mapping[str, Sequence[str]]) -> str:
    """Write the same, and things with the same states together: `a, b are closed; c is open`."""
    alike: dict[str, list[str]] = {}
    for name, words in states.items():
        if words:
            alike.setdefault(' and '.join(words), []).append(shown(name))
    how = [
        f'{", ".join(names)} {"is" if len(names) == 1 else "are"} {words}'
        for words, names in alike.items()
    ]
    return '; '.join([_placed_text(things), *how])


def _placed_text(things: Iterable[tuple[str, str, str]]) -> str:
    by_place: dict[tuple[str, str], list[str]] = {}
    for thing, relation, place in things:
        by_place.setdefault((relation, place), []).append(shown(thing))
    placed = [
        f"('{', '.join(names)}', '{relation.upper()}', '{shown(place)}')"
        for (relation, place), names in by_place.items()
    ]
    return f'[{", ".join(placed)}]'


def remembered(graph: MemoryGraph, predicates: Sequence[GoalPredicate]) -> str:
    """Write what a memory graph knows of the things of a goal's classes, and of their places."""
    words = dict.fromkeys(w for item in predicates for w in (item.thing, item.place) if w)
    chosen = [name for name in graph.names if class_of(name) in words]
    return remembered_of(graph, chosen) + _unseen(graph, words)


def remembered_of(graph: MemoryGraph, chosen: Iterable[str], *, terse: bool = False) -> str:
    """
    Write what a memory graph knows of some things, and of their places.

    Args:
        graph: What is known.
        chosen: The things.
        terse: Whether it is to be short; then it is left out which books and bottles are closed.
    """
    names = with_places(graph, chosen)
    things = [(name, *place) for name in names for place in _where(graph, name)]
    if graph.seat:
        things.insert(0, (ROBOT, 'on', graph.seat))
    states = {name: _states(graph, name, terse) for name in names}
    return terse_text(things, states) if terse else memory_text(things, states)


def _states(graph: MemoryGraph, name: str, terse: bool) -> list[str]:
    states = [word for word in TOLD_STATES if word in graph.states(name)]
    carried = graph.affords(name, 'grabbable') and not graph.affords(name, 'has_switch')
    return [] if terse and carried and not graph.affords(name, 'containers') else states


def with_places(graph: MemoryGraph, chosen: Iterable[str]) -> list[str]:
    """Return what is held, some things, and what all these are in or on, however deep."""
    found: dict[str, None] = {}
    waiting = [*graph.held, *chosen]
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found[name] = None
            waiting += [place for _, place in graph.places(name)]
    return [*found]


def _where(graph: MemoryGraph, name: str) -> list[tuple[str, str]]:
    if name in graph.held:
        return [('held', HAND)]
    if places := graph.places(name):
        return list(places)
    room = graph.room_of(name)
    return [('inside', room)] if room not in (None, name) else []


def _unseen(graph: MemoryGraph, words: Iterable[str]) -> str:
    """Say which classes of the goal are not in sight, and where one could look."""
    unseen = [word for word in words if not graph.of_class(word)]
    if not unseen:
        return ''
    rooms = ', '.join(map(shown, graph.rooms)) or 'none'
    shut = [name for name in graph.names if 'closed' in graph.states(name)]
    shut = [name for name in shut if not graph.affords(name, 'grabbable')]
    return (
        f'; not in sight: {", ".join(unseen)}; rooms: {rooms}; '
        f'closed: {", ".join(map(shown, shut)) or "nothing"}'
    )
