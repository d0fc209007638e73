"""What a program may ask of the scene; each query reads it as it is at that moment."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bbllm import Scene, SceneObject
from bbllm.planning import ShortNames, class_of, scene_graph, squeezed
from bbllm_planners.code_policy.interpreter import Function, ProgramError, Value

ABOVE = frozenset({'on', 'in', 'inside'})
"""Relations of an object to what carries or contains it."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A scene with the names that programs have for its objects."""

    scene: Scene
    names: ShortNames

    def object(self, word: Value) -> SceneObject:
        """Return an object by its name in programs; ProgramError names those that there are."""
        name = self.names.name(word) if isinstance(word, str) else None
        if name is None or name not in self.scene.names:
            known = ', '.join(map(self.names.short, self.scene.names[:40]))
            raise ProgramError(f'there is no object {str(word)[:60]!r}; there are {known}')
        return self.scene.object(name)

    def short(self, found: Sequence[str]) -> list[Value]:
        """Return names as programs have them."""
        return [self.names.short(name) for name in found]

    def related(self, relations: frozenset[str], a: Value, b: Value) -> bool:
        """Return whether a fact relates two objects in one of these ways."""
        first, second = self.object(a).name, self.object(b).name
        return any(self.scene.has(first, relation, second) for relation in relations)


@dataclass(frozen=True, slots=True)
class Query:
    """A question about the scene."""

    params: tuple[str, ...]
    means: str
    """What it returns, for the prompt."""
    ask: Callable[..., Value]
    """Called with what is seen, and the arguments."""
    on_tables_only: bool = False


def _objects(seen: Seen, word: Value = '') -> Value:
    wanted = squeezed(str(word))
    return seen.short(
        [
            item.name
            for item in seen.scene.objects
            if not wanted
            or wanted.removesuffix('s') in (squeezed(str(item.kind)), squeezed(item.color))
            or wanted in (squeezed(class_of(item.name)), squeezed(seen.names.short(item.name)))
        ]
    )


def _states(seen: Seen, name: Value) -> Value:
    return [*scene_graph(seen.scene).states.get(seen.object(name).name, ())]


def _on_top_of(seen: Seen, name: Value) -> Value:
    place = seen.object(name).name
    facts = seen.scene.facts
    return seen.short([f.subject for f in facts if f.predicate in ABOVE and f.object == place])


def _reachable(seen: Seen, name: Value) -> Value:
    item = seen.object(name).name
    if seen.scene.is_symbolic:
        return item in scene_graph(seen.scene).reachable
    return not seen.scene.has(item, 'reachable', 'no')


def _position(seen: Seen, name: Value) -> Value:
    return [round(value, 4) for value in seen.object(name).pose.position_m]


def _size(seen: Seen, name: Value) -> Value:
    return [round(value, 4) for value in seen.object(name).size_m]


def _distance(seen: Seen, a: Value, b: Value) -> Value:
    one, other = (seen.object(name).pose.position_m[:2] for name in (a, b))
    return round(math.dist(one, other), 4)


QUERIES: Mapping[str, Query] = {
    'objects': Query(('word',), 'names of the objects of a kind, colour or class', _objects),
    'held': Query(
        (), 'names of what is in a hand', lambda seen: seen.short(scene_graph(seen.scene).held)
    ),
    'is_on': Query(
        ('a', 'b'),
        'whether a rests on b',
        lambda seen, a, b: seen.related(frozenset({'on'}), a, b),
    ),
    'is_in': Query(
        ('a', 'b'),
        'whether a is inside b',
        lambda seen, a, b: seen.related(ABOVE - {'on'}, a, b),
    ),
    'on_top_of': Query(('a',), 'names of what rests on a or is in it', _on_top_of),
    'states': Query(('a',), "states of a, such as ['closed', 'off']", _states),
    'is_reachable': Query(('a',), 'whether a can be reached from here', _reachable),
    'position': Query(('a',), '[x, y, z] of the middle of a [m]', _position, on_tables_only=True),
    'size': Query(('a',), '[length, width, height] of a [m]', _size, on_tables_only=True),
    'distance': Query(
        ('a', 'b'), 'distance of two middles on the table [m]', _distance, on_tables_only=True
    ),
}
"""By name."""


def queries_for(scene: Scene) -> Mapping[str, Query]:
    """Return what can be asked of a kind of world."""
    return {
        name: query
        for name, query in QUERIES.items()
        if not (scene.is_symbolic and query.on_tables_only)
    }


def function_of(name: str, query: Query, seen: Callable[[], Seen]) -> Function:
    """Return a query as a function of programs."""

    def ask(values: Sequence[Value]) -> Value:
        least = 0 if name == 'objects' else len(query.params)
        if not least <= len(values) <= len(query.params):
            raise ProgramError(f'it is `{name}({", ".join(query.params)})`')
        return query.ask(seen(), *values)

    return ask
