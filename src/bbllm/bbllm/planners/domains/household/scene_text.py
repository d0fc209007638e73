"""The text of a scene in a household: a line on the robot, and one for each room."""

from collections import Counter
from collections.abc import Iterable

from bbllm.core.naming import class_of
from bbllm.core.types import Kind, Scene
from bbllm.planners.domains.scene_graph import (
    CHARACTER,
    EXPECTED_STATES,
    SceneGraph,
    scene_graph,
)

_WORDS = {'inside': 'inside', 'on': 'on it'}


def house_environment(scene: Scene) -> str:
    """Return a line on the robot and one for each room, by class; equal ones are counted."""
    around = scene_graph(scene)
    rooms = [item.name for item in scene.objects if item.kind is Kind.LOCATION]
    contents: dict[str, dict[str, list[str]]] = {}
    for name, relation, other in around.placed:
        if other not in rooms and class_of(name) != CHARACTER:
            contents.setdefault(other, {}).setdefault(relation, []).append(name)
    placed = {name for lists in contents.values() for names in lists.values() for name in names}

    limits: dict[str, list[str]] = {}
    for fact in scene.facts:
        if fact.predicate == 'limit':
            limits.setdefault(fact.subject, []).append(fact.object)

    def described(name: str, above: frozenset[str] = frozenset()) -> str:
        states = [s for s in around.states.get(name, ()) if s not in EXPECTED_STATES]
        states += limits.get(name, [])
        parts = [', '.join(states)] if states else []
        above |= {name}
        for relation, words in _WORDS.items():
            inner = contents.get(name, {}).get(relation, ())
            if texts := [described(n, above) for n in inner if n not in above]:
                parts.append(f'{words}: {_counted(texts, ", ")}')
        return class_of(name) + (f' ({"; ".join(parts)})' if parts else '')

    lines = _about_the_robot(around)
    others = {*rooms, *around.held, *placed}
    loose = [n for n in scene.names if n not in others and class_of(n) != CHARACTER]
    for room in rooms:
        there = [described(name) for name in loose if around.rooms.get(name) == room]
        nothing = 'nothing' if scene.whole else 'nothing seen yet'
        lines.append(f'{class_of(room)}: {_counted(there, "; ") or nothing}')
    if nowhere := [described(name) for name in loose if name not in around.rooms]:
        lines.append(f'elsewhere: {_counted(nowhere, "; ")}')
    return '\n'.join(lines)


def _about_the_robot(around: SceneGraph) -> list[str]:
    me = around.character or ''
    room = around.rooms.get(me)
    where = f'You are in the {class_of(room)}. ' if room else ''
    posture = [state for state in around.states.get(me, ()) if state in ('sitting', 'lying')]
    seats = [class_of(other) for item, _, other in around.placed if item == me and other != room]
    resting = f'You are {posture[0]} on the {", ".join(seats)}. ' if posture and seats else ''
    held = _counted(map(class_of, around.held), ', ') or 'nothing'
    lines = [f'{where}{resting}In your hands: {held}.']
    near = sorted({class_of(n) for n in around.reachable.difference(around.held)} - {CHARACTER})
    if near:
        lines.append(f'Close to you: {", ".join(near)}.')
    return lines


def _counted(texts: Iterable[str], between: str) -> str:
    counts = Counter(texts)
    return between.join(f'{n} {text}' if n > 1 else text for text, n in counts.items())
