"""
FLTRNN's memory of a household: a copy of the scene on which each call is executed in symbols.

Source: Zhang et al., FLTRNN. As described there it refuses calls that break the rules.
"""

from collections.abc import Iterator
from typing import NamedTuple

from bbllm import Kind, Scene, SkillCall, events
from bbllm.planning import (
    CHARACTER,
    Code,
    class_of,
    further_skills,
    nearest_first,
    reached,
    scene_graph,
)
from bbllm_planners.goal_predicates import PLACING, STATE_OF, GoalPredicate, GoalRelation

GOING = frozenset({'walk', 'find'})
ARITY = {
    **dict.fromkeys(('walk', 'find', 'grab', 'open', 'close', 'switchon', 'switchoff', 'sit'), 1),
    **dict.fromkeys(('putin', 'putback'), 2),
    'standup': 0,
}
"""The actions of FLTRNN, and how many objects each takes: those of the published program, and
`sit` and `standup`, which plain sentences need."""
TURNS = {
    'open': ('closed', 'open'),
    'close': ('open', 'closed'),
    'switchon': ('off', 'on'),
    'switchoff': ('on', 'off'),
}
"""By action: the state of an object before and after."""
NEAREST_LISTED = 5
"""How many of the nearest names a refusal lists."""


class _Objection(NamedTuple):
    why: str
    code: Code = Code.PRECONDITION


class MemoryGraph:
    """The believed state of a household, from the first scene on."""

    def __init__(self, scene: Scene):
        self.arity = {**ARITY, **{s.name: len(s.params) for s in further_skills(scene, ARITY)}}
        """The actions that a plan may have, and how many objects each takes."""
        self._names: dict[str, None] = {}
        self._rooms: set[str] = set()
        self._room_of: dict[str, str] = {}
        self._states: dict[str, set[str]] = {}
        self._affords: dict[str, frozenset[str]] = {}
        self._places: dict[str, tuple[tuple[str, str], ...]] = {}
        self.held: tuple[str, ...] = ()
        """Objects in a hand."""
        self.here: str | None = None
        """The room of the character."""
        self.seat: str | None = None
        """The object that the character sits on."""
        self.whole = scene.whole
        """Whether nothing of the house was out of sight at first."""
        self.see(scene)

    def see(self, scene: Scene) -> None:
        """Add new objects of a scene; the others stay as remembered."""
        around = scene_graph(scene)
        new = dict.fromkeys(name for name in scene.names if name not in self._names)
        self._names |= new
        self._rooms |= {item.name for item in scene.objects if item.kind is Kind.LOCATION}
        if self.here is None and around.character is not None:
            self.here = around.rooms.get(around.character)
        for name in new:
            self._states[name] = set(around.states.get(name, ()))
            self._affords[name] = around.affords.get(name, frozenset())
            self._places[name] = ()
            if name in around.rooms:
                self._room_of[name] = around.rooms[name]
        for item, relation, other in around.placed:
            if item in new and other not in self._rooms:
                self._places[item] = (*self._places[item], (relation, other))
        if (me := around.character) in new and 'sitting' in around.states.get(str(me), ()):
            seats = [other for who, how, other in around.placed if (who, how) == (me, 'on')]
            self.seat = next(iter(seats), None)
        self.held += tuple(name for name in around.held if name in new)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all objects and rooms, without the character."""
        return tuple(name for name in self._names if class_of(name) != CHARACTER)

    @property
    def rooms(self) -> tuple[str, ...]:
        return tuple(name for name in self._names if name in self._rooms)

    def of_class(self, word: str) -> list[str]:
        return [name for name in self._names if class_of(name) == word]

    def states(self, name: str) -> frozenset[str]:
        return frozenset(self._states.get(name, ()))

    def affords(self, name: str, word: str) -> bool:
        return word in self._affords.get(name, ())

    def places(self, name: str) -> tuple[tuple[str, str], ...]:
        """Return what an object is `inside` or `on`, without rooms."""
        return self._places.get(name, ())

    def room_of(self, name: str) -> str | None:
        for place in self._above(name):
            if place in self._rooms:
                return place
            if place in self.held:
                return self.here
            if not self._places.get(place) and place in self._room_of:
                return self._room_of[place]
        return self._room_of.get(name)

    def closed_around(self, name: str) -> str | None:
        found = None
        for below in self._above(name):
            for relation, other in self._places.get(below, ()):
                if relation == 'inside' and 'closed' in self._states.get(other, ()):
                    found = other
        return found

    def n_satisfying(self, predicate: GoalPredicate) -> int:
        return sum(self.is_so(predicate, name) for name in self.of_class(predicate.noun))

    def is_satisfied(self, predicate: GoalPredicate) -> bool:
        return self.n_satisfying(predicate) >= predicate.count

    def is_so(self, predicate: GoalPredicate, name: str) -> bool:
        relation = predicate.relation
        if relation in PLACING:
            room = self.room_of(name) if relation is GoalRelation.INSIDE else None
            return (room is not None and class_of(room) == predicate.place) or any(
                kind == relation.value and class_of(other) == predicate.place
                for below in self._above(name)
                for kind, other in self._places.get(below, ())
            )
        if relation is GoalRelation.HOLDS:
            return name in self.held
        if relation is GoalRelation.SIT:
            return name == self.seat
        return STATE_OF[relation] in self._states.get(name, ())

    def refusal(self, call: SkillCall) -> events.LineDiscarded | None:
        """Return a call that is impossible or against the rules of the prompt, None for others."""
        for why, code in self._objections(call):
            return events.LineDiscarded(str(call), why, refused=True, code=code)
        return None

    def _objections(self, call: SkillCall) -> Iterator[_Objection]:
        if (arity := self.arity.get(call.skill)) is None:
            near = nearest_first(call.skill, self.arity)[0]
            why = f'there is no action {call.skill[:40]!r}; the nearest is {near}'
            yield _Objection(why, Code.UNKNOWN_SKILL)
        elif arity != len(call.args):
            why = f'{call.skill} takes {arity} things, but got {len(call.args)}'
            yield _Objection(why, Code.BAD_ARGUMENTS)
        else:
            unknown = [name for name in call.args if name not in self._names]
            for name in unknown:
                near = ', '.join(nearest_first(name, self.names)[:NEAREST_LISTED]) or 'none'
                why = f'there is no {name[:60]!r}; the nearest are {near}'
                yield _Objection(why, Code.UNKNOWN_OBJECT)
            if not unknown:
                yield from self._out_of_reach(call)
                yield from self._against(call) if call.args else ()

    def _out_of_reach(self, call: SkillCall) -> Iterator[_Objection]:
        if call.skill in (*GOING, 'sit') and self.seat is not None:
            yield _Objection(
                f'the robot sits on {self.seat}; it has to stand up first, with standup()'
            )
        for name in () if call.skill in GOING else call.args:
            room = self.room_of(name)
            if name not in self.held and room and self.here and room != self.here:
                why = f'{name} is in {room}, and the robot in {self.here}; it has to walk first'
                yield _Objection(why)
            if shut := self.closed_around(name):
                why = f'{name} is inside {shut}, which is closed; it has to be opened first'
                yield _Objection(why)

    def _against(self, call: SkillCall) -> Iterator[_Objection]:
        name, place = call.args[0], call.args[-1]
        states, affords = self._states[name], self._affords[name]
        match call.skill:
            case 'grab':
                if self.held:
                    why = f'{self.held[0]} is held, and only one thing may be held at a time'
                    yield _Objection(why)
                if affords and 'grabbable' not in affords:
                    yield _Objection(f'{name} cannot be grabbed')
            case 'open' | 'close' | 'switchon' | 'switchoff':
                before, after = TURNS[call.skill]
                if before not in states:
                    why = f'is not {before}'
                    if call.skill == 'open' and after in states:
                        why = 'is open already'
                    elif call.skill == 'open':
                        why = 'is nothing that can be opened'
                    yield _Objection(f'{name} {why}')
                if call.skill == 'open' and 'on' in states:
                    why = f'{name} is on; it has to be switched off before it is opened'
                    yield _Objection(why)
                if call.skill == 'switchon' and 'open' in states:
                    why = f'{name} is open; it has to be closed before it is switched on'
                    yield _Objection(why)
            case 'putin' | 'putback':
                if name not in self.held:
                    yield _Objection(f'{name} is not held; it has to be grabbed first')
                if name in self._above(place):
                    yield _Objection(f'{name} cannot be put into itself')
                if call.skill == 'putin' and 'closed' in self._states[place]:
                    yield _Objection(f'{place} is closed; it has to be opened first')

    def apply(self, call: SkillCall) -> None:
        """Update the graph by a call; unknown names have no effect."""
        if any(name not in self._names for name in call.args):
            return
        match call.skill, *call.args:
            case ('walk' | 'find', name):
                self.here = self.room_of(name) or self.here
            case ('sit' | 'lie', name):
                self.seat = name
            case ('standup',):
                self.seat = None
            case ('grab', name):
                self._places[name] = ()
                self.held = (*self.held, name)
            case ('drop' | 'release' | 'putobjback' | 'puton', name):
                self.held = tuple(held for held in self.held if held != name)
            case ('putin' | 'putback', item, place):
                self.held = tuple(name for name in self.held if name != item)
                self._places[item] = (('inside' if call.skill == 'putin' else 'on', place),)
            case ('open' | 'close' | 'switchon' | 'switchoff', name):
                before, after = TURNS[call.skill]
                if before in self._states[name]:
                    self._states[name] = self._states[name] - {before} | {after}

    def _above(self, name: str) -> list[str]:
        return reached([name], lambda x: [place for _, place in self.places(x)])
