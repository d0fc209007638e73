"""How FLTRNN's prompts say where things are and how they are, and which things they tell of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bbllm.core.instances import class_of
from bbllm.planners.fltrnn_parsing import shown
from bbllm.planners.goal_predicates import GoalPredicate
from bbllm.planners.memory_graph import MemoryGraph

TOLD_STATES = ('closed', 'open', 'opened', 'off', 'on')
"""States that matter to the actions; `opened` is a slip of the program, see PaperMemoryGraph."""
USEFUL = ('grabbable', 'can_open', 'has_switch', 'sittable')
"""What makes a thing worth telling of where the goal is a sentence and names no classes."""
HAND = 'hand'
ROBOT = 'robot'


def memory_text(
    things: Iterable[tuple[str, str, str]], states: Mapping[str, Sequence[str]]
) -> str:
    """Write things and states on one line: `[('milk(id:21)', 'INSIDE', 'fridge(id:5)')]; ...`."""
    placed = [
        f"('{shown(thing)}', '{relation.upper()}', '{shown(place)}')"
        for thing, relation, place in things
    ]
    how = [f'{shown(name)} is {" and ".join(words)}' for name, words in states.items() if words]
    return f'[{", ".join(placed)}]' + (f'; {", ".join(how)}' if how else '')


def remembered(graph: MemoryGraph, predicates: Sequence[GoalPredicate]) -> str:
    """Write what a memory graph knows of the key things of a goal; of a sentence, of all."""
    names = key_things(graph, predicates)
    things = [(name, *place) for name in names for place in _where(graph, name)]
    if graph.seat:
        things.insert(0, (ROBOT, 'on', graph.seat))
    states = {name: [word for word in TOLD_STATES if word in graph.states(name)] for name in names}
    return memory_text(things, states) + _unseen(graph, predicates)


def key_things(graph: MemoryGraph, predicates: Sequence[GoalPredicate]) -> list[str]:
    """Return the things of a goal's classes, what is held, and what all these are in or on."""
    if predicates:
        words = {word for item in predicates for word in (item.thing, item.place) if word}
        chosen = [name for name in graph.names if class_of(name) in words]
    else:
        chosen = [
            name for name in graph.names if any(graph.affords(name, word) for word in USEFUL)
        ]
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


def _unseen(graph: MemoryGraph, predicates: Sequence[GoalPredicate]) -> str:
    """Say which classes of the goal are not in sight, and where one could look."""
    words = dict.fromkeys(w for item in predicates for w in (item.thing, item.place) if w)
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
