"""
What FLTRNN remembers of a household: the scene at first, changed by its own calls.

Source: Zhang et al., FLTRNN, the memory graph: a copy of the scene's graph on which each action of
a plan is carried out in symbols. `MemoryGraph` is what the paper means by it: it refuses what the
rules forbid, and things are where they were put.
"""

from __future__ import annotations

from bbllm.core.instance_names import class_of
from bbllm.core.skill_calls import nearest_first
from bbllm.core.types import Code, Kind, Scene, SkillCall
from bbllm.planners.common.goal_predicates import PLACING, STATE_OF, GoalPredicate, GoalRelation
from bbllm.planners.common.scene_graph import CHARACTER, scene_graph

GOING = frozenset({'walk', 'find'})
ARITY = {
    **dict.fromkeys(('walk', 'find', 'grab', 'open', 'close', 'switchon', 'switchoff', 'sit'), 1),
    **dict.fromkeys(('putin', 'putback'), 2),
    'standup': 0,
}
"""The actions that FLTRNN offers, and how many things each takes. Those of the published program,
and with `sit` and `standup` what plain sentences ask for besides."""
TURNS = {
    'open': ('closed', 'open'),
    'close': ('open', 'closed'),
    'switchon': ('off', 'on'),
    'switchoff': ('on', 'off'),
}
"""By action: the state that a thing must have for it, and the one that it has then."""
NEAREST_TOLD = 5
"""How many of the nearest names a refusal lists."""


class MemoryGraph:
    """
    A household in the mind of a planner.

    Args:
        scene: What is seen at first.
    """

    def __init__(self, scene: Scene):
        self._names: dict[str, None] = {}
        self._rooms: set[str] = set()
        self._room_of: dict[str, str] = {}
        self._states: dict[str, set[str]] = {}
        self._affords: dict[str, set[str]] = {}
        self._places: dict[str, tuple[tuple[str, str], ...]] = {}
        self._held: list[str] = []
        self._here: str | None = None
        self.seat: str | None = None
        """What who acts sits on."""
        self.see(scene)

    def see(self, scene: Scene) -> None:
        """Take in what was not known before; what is known stays as it is remembered."""
        around = scene_graph(scene)
        new = [name for name in scene.names if name not in self._names]
        self._names.update(dict.fromkeys(new))
        self._rooms |= {item.name for item in scene.objects if item.kind is Kind.LOCATION}
        if self._here is None and around.character is not None:
            self._here = around.rooms.get(around.character)
        fresh = set(new)
        for name in new:
            self._states[name] = set(around.states.get(name, ()))
            self._affords[name] = set()
            self._places[name] = ()
            if name in around.rooms:
                self._room_of[name] = around.rooms[name]
        for thing, relation, other in around.placed:
            if thing in fresh and other not in self._rooms:
                self._places[thing] = (*self._places[thing], (relation, other))
        if (me := around.character) in fresh and 'sitting' in around.states.get(str(me), ()):
            seats = [other for who, how, other in around.placed if (who, how) == (me, 'on')]
            self.seat = next(iter(seats), None)
        self._held += [name for name in around.held if name in fresh]
        for fact in scene.facts:
            if fact.predicate == 'affords' and fact.subject in fresh:
                self._affords[fact.subject].add(fact.object)

    def copy(self) -> MemoryGraph:
        """Return one that changes for itself."""
        other = object.__new__(type(self))
        other._names, other._rooms = dict(self._names), set(self._rooms)
        other._room_of, other._places = dict(self._room_of), dict(self._places)
        other._states = {name: set(states) for name, states in self._states.items()}
        other._affords = self._affords
        other._held, other._here, other.seat = [*self._held], self._here, self.seat
        return other

    # --- what is remembered ----------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """All things and rooms, as scenes name them; not who acts."""
        return tuple(name for name in self._names if class_of(name) != CHARACTER)

    @property
    def rooms(self) -> tuple[str, ...]:
        """The rooms."""
        return tuple(name for name in self._names if name in self._rooms)

    @property
    def held(self) -> tuple[str, ...]:
        """What is in a hand."""
        return tuple(self._held)

    @property
    def here(self) -> str | None:
        """The room of who acts."""
        return self._here

    def of_class(self, word: str) -> list[str]:
        """Return the things of a class."""
        return [name for name in self._names if class_of(name) == word]

    def states(self, name: str) -> frozenset[str]:
        """Return how a thing is, for example `closed` and `off`."""
        return frozenset(self._states.get(name, ()))

    def affords(self, name: str, word: str) -> bool:
        """Return whether a thing has a property, for example `grabbable`."""
        return word in self._affords.get(name, ())

    def places(self, name: str) -> tuple[tuple[str, str], ...]:
        """Return what a thing is `inside` or `on`, rooms left out."""
        return self._places.get(name, ())

    def room_of(self, name: str) -> str | None:
        """Return the room of a thing, which goes where its place goes."""
        for place in [name, *self._above(name)]:
            if place in self._rooms:
                return place
            if place in self._held:
                return self._here
            if not self._places.get(place) and place in self._room_of:
                return self._room_of[place]
        return self._room_of.get(name)

    def closed_around(self, name: str) -> str | None:
        """Return the outermost closed thing that a thing is inside, None where there is none."""
        found = None
        for below in [name, *self._above(name)]:
            for relation, other in self._places.get(below, ()):
                if relation == 'inside' and 'closed' in self._states.get(other, ()):
                    found = other
        return found

    def n_holding(self, predicate: GoalPredicate) -> int:
        """Count the things of which a predicate is so."""
        return sum(self.is_so(predicate, name) for name in self.of_class(predicate.thing))

    def holds(self, predicate: GoalPredicate) -> bool:
        """Return whether a predicate is so of as many things as it says."""
        return self.n_holding(predicate) >= predicate.count

    def is_so(self, predicate: GoalPredicate, name: str) -> bool:
        """Return whether a predicate is so of one thing."""
        relation = predicate.relation
        if relation in PLACING:
            room = self.room_of(name) if relation is GoalRelation.INSIDE else None
            return (room is not None and class_of(room) == predicate.place) or any(
                kind == relation.value and class_of(other) == predicate.place
                for below in [name, *self._above(name)]
                for kind, other in self._places.get(below, ())
            )
        if relation is GoalRelation.HOLDS:
            return name in self._held
        if relation is GoalRelation.SIT:
            return name == self.seat
        return STATE_OF[relation] in self._states.get(name, ())

    # --- what is done ----------------------------------------------------------------------------

    def refusal(self, call: SkillCall) -> str | None:
        """Return why a call cannot be done, or would break a rule; None where it can."""
        if (arity := ARITY.get(call.skill)) is None:
            near = nearest_first(call.skill, ARITY)[0]
            return f'there is no action {call.skill[:40]!r}; the nearest is {near}'
        if arity != len(call.args):
            return f'{call.skill} takes {arity} things, but got {len(call.args)}'
        for name in call.args:
            if name not in self._names:
                near = ', '.join(nearest_first(name, self.names)[:NEAREST_TOLD])
                return f'there is no {name[:60]!r}; the nearest are {near or "none"}'
        if call.skill in (*GOING, 'sit') and self.seat is not None:
            return f'the robot sits on {self.seat}; it has to stand up first, with standup()'
        if call.skill in GOING or not call.args:
            return None
        return self._out_of_reach(call) or self._against(call)

    def _out_of_reach(self, call: SkillCall) -> str | None:
        for name in call.args:
            room = self.room_of(name)
            if name not in self._held and room and self._here and room != self._here:
                return f'{name} is in {room}, and the robot in {self._here}; it has to walk first'
            if shut := self.closed_around(name):
                return f'{name} is inside {shut}, which is closed; it has to be opened first'
        return None

    def _against(self, call: SkillCall) -> str | None:
        name = call.args[0]
        states = self._states[name]
        match call.skill:
            case 'grab' if self._held:
                return f'{self._held[0]} is held, and only one thing may be held at a time'
            case 'grab' if self._affords[name] and 'grabbable' not in self._affords[name]:
                return f'{name} cannot be grabbed'
            case 'open' if 'closed' not in states:
                already = 'open already' if 'open' in states else 'nothing that can be opened'
                return f'{name} is {already}'
            case 'open' if 'on' in states:
                return f'{name} is on; it has to be switched off before it is opened'
            case 'close' if 'open' not in states:
                return f'{name} is not open'
            case 'switchon' if 'off' not in states:
                return f'{name} is not off'
            case 'switchon' if 'open' in states:
                return f'{name} is open; it has to be closed before it is switched on'
            case 'switchoff' if 'on' not in states:
                return f'{name} is not on'
            case 'putin' | 'putback':
                return self._against_putting(call.skill, name, call.args[1])
        return None

    def _against_putting(self, skill: str, thing: str, place: str) -> str | None:
        if thing not in self._held:
            return f'{thing} is not held; it has to be grabbed first'
        if thing == place or thing in self._above(place):
            return f'{thing} cannot be put into itself'
        if skill == 'putin' and 'closed' in self._states[place]:
            return f'{place} is closed; it has to be opened first'
        return None

    def apply(self, call: SkillCall) -> None:
        """Remember that a call was done; nothing where its words mean nothing."""
        if any(name not in self._names for name in call.args):
            return
        match call.skill, *call.args:
            case ('walk' | 'find', name):
                self._here = self.room_of(name) or self._here
            case ('sit', name):
                self.seat = name
            case ('standup',):
                self.seat = None
            case ('grab', name):
                self._places[name] = ()
                self._held.append(name)
            case ('putin' | 'putback', thing, place):
                self._put('inside' if call.skill == 'putin' else 'on', thing, place)
            case ('open' | 'close' | 'switchon' | 'switchoff', name):
                self._turn(call.skill, name)

    def _put(self, relation: str, thing: str, place: str) -> None:
        self._held = [name for name in self._held if name != thing]
        self._places[thing] = ((relation, place),)

    def _turn(self, skill: str, name: str) -> None:
        before, after = TURNS[skill]
        if before in self._states[name]:
            self._states[name] = self._states[name] - {before} | {after}

    def _above(self, name: str) -> list[str]:
        """Return everything that a thing is in or on, nearest first; rings end it."""
        found: dict[str, None] = {}
        waiting = [name]
        while waiting:
            for _, other in self._places.get(waiting.pop(0), ()):
                if other not in found and other != name:
                    found[other] = None
                    waiting.append(other)
        return [*found]


class PaperMemoryGraph(MemoryGraph):
    """
    The memory graph of the published program, with its faults.

    An opened thing becomes `opened`, a word that nothing else knows; to close turns `closed` into
    `open`; what is put somewhere stays in the hand; to switch off changes nothing; and no call is
    ever refused. Source: tannl/FLTRNN, commit cc105c7.
    """

    def refusal(self, call: SkillCall) -> str | None:
        """Refuse nothing but what is no action, which the program's patterns do not match."""
        return None if ARITY.get(call.skill) == len(call.args) else super().refusal(call)

    def _put(self, relation: str, thing: str, place: str) -> None:
        pass

    def _turn(self, skill: str, name: str) -> None:
        before, after = {
            'open': ('closed', 'opened'),
            'close': ('closed', 'open'),
            'switchon': ('off', 'on'),
            'switchoff': ('', ''),
        }[skill]
        if before in self._states[name]:
            self._states[name] = self._states[name] - {before} | {after}


def fault_of(memory: MemoryGraph, call: SkillCall) -> tuple[Code, tuple[str, ...]]:
    """
    Return what is wrong with a call that a memory graph refuses, and which rules it breaks.

    The rules are those of `bench.faithfulness`, by which the same call is judged where a world
    hears of it.
    """
    if call.skill not in ARITY:
        return Code.UNKNOWN_SKILL, ('unknown_action',)
    if any(name not in memory.names for name in call.args):
        return Code.UNKNOWN_OBJECT, ('unknown_object',)
    if len(call.args) != ARITY[call.skill]:
        return Code.BAD_ARGUMENTS, ()
    states = memory.states(call.args[0]) if call.args else frozenset()
    elsewhere = call.skill not in GOING and any(
        name not in memory.held and memory.room_of(name) not in (None, memory.here)
        for name in call.args
    )
    broken = {
        'two_at_once': call.skill == 'grab' and bool(memory.held),
        'already_open': call.skill == 'open' and 'open' in states,
        'inside_closed': call.skill == 'grab' and memory.closed_around(call.args[0]) is not None,
        'not_in_room': elsewhere and memory.here is not None,
        'on_while_open': call.skill == 'switchon' and 'open' in states,
    }
    return Code.PRECONDITION, tuple(rule for rule, is_so in broken.items() if is_so)
