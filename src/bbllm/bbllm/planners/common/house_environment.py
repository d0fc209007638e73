"""What the prompts of BrainBody-LLM tell of a household: what is where, by class, in few lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from bbllm.core.instance_names import class_of
from bbllm.core.types import Kind, Scene
from bbllm.planners.common.scene_graph import CHARACTER, SceneGraph, scene_graph

LEFT_OUT = frozenset({'clean', 'plugged_in'})
"""States that are as one would expect."""

_WORDS = {'inside': 'inside', 'on': 'on it'}


def house_environment(scene: Scene) -> str:
    """
    Write where the robot is and what it has, then a line for each room.

    Things are told by what they are in or on: `fridge (closed; inside: milk, salmon)`. Things that
    read the same are counted: `4 wall`. What the robot holds is not told again in a room.
    """
    around = scene_graph(scene)
    rooms = [item.name for item in scene.objects if item.kind is Kind.LOCATION]
    inventory = _Inventory(around, frozenset(rooms))
    lines = _about_the_robot(around)
    told = [name for name in scene.names if _is_told(name, around, rooms)]
    for room in rooms:
        loose = [n for n in told if around.rooms.get(n) == room and not inventory.is_placed(n)]
        lines.append(f'{class_of(room)}: {_counted(map(inventory.of, loose), "; ") or "nothing"}')
    nowhere = [n for n in told if n not in around.rooms and not inventory.is_placed(n)]
    if nowhere:
        lines.append(f'elsewhere: {_counted(map(inventory.of, nowhere), "; ")}')
    return '\n'.join(lines)


def _about_the_robot(around: SceneGraph) -> list[str]:
    me = around.character or ''
    room = around.rooms.get(me)
    where = f'You are in the {class_of(room)}. ' if room else ''
    posture = [state for state in around.states.get(me, ()) if state in ('sitting', 'lying')]
    seats = [class_of(other) for thing, _, other in around.placed if thing == me and other != room]
    resting = f'You are {posture[0]} on the {", ".join(seats)}. ' if posture and seats else ''
    held = _counted(map(class_of, around.held), ', ') or 'nothing'
    lines = [f'{where}{resting}In your hands: {held}.']
    near = sorted({class_of(name) for name in around.close} - {CHARACTER})
    if near:
        lines.append(f'Close to you: {", ".join(near)}.')
    return lines


def _is_told(name: str, around: SceneGraph, rooms: Sequence[str]) -> bool:
    return name not in rooms and name not in around.held and class_of(name) != CHARACTER


class _Inventory:
    def __init__(self, around: SceneGraph, rooms: frozenset[str]):
        self._around = around
        self._in: dict[str, dict[str, list[str]]] = {}
        self._placed: set[str] = set()
        for thing, relation, other in around.placed:
            if other not in rooms and class_of(thing) != CHARACTER:
                self._in.setdefault(other, {}).setdefault(relation, []).append(thing)
                self._placed.add(thing)

    def is_placed(self, name: str) -> bool:
        """Return whether a thing is in or on another, and so told with that."""
        return name in self._placed

    def of(self, name: str, above: frozenset[str] = frozenset()) -> str:
        """Write a thing with its states and with what is in or on it."""
        states = [s for s in self._around.states.get(name, ()) if s not in LEFT_OUT]
        parts = [', '.join(states)] if states else []
        above |= {name}
        carried: Mapping[str, list[str]] = self._in.get(name, {})
        for relation, words in _WORDS.items():
            things = [self.of(n, above) for n in carried.get(relation, ()) if n not in above]
            if things:
                parts.append(f'{words}: {_counted(things, ", ")}')
        return class_of(name) + (f' ({"; ".join(parts)})' if parts else '')


def _counted(texts: Iterable[str], between: str) -> str:
    counts = Counter(texts)
    return between.join(f'{n} {text}' if n > 1 else text for text, n in counts.items())
