"""A household's scene as a tree: rooms, what is in or on what, what is carried, what changed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bbllm.core.naming import class_of
from bbllm.core.types import Kind, Scene

PERSON = 'character'
GROUND = frozenset({'floor', 'rug', 'mat'})
"""Furniture that is ON one of these stands in the room; what is laid there is shown on it."""
PLAIN = frozenset(
    {'wall', 'floor', 'ceiling', 'ceilings', 'door', 'doorjamb', 'window', 'floors', 'walls'}
)
"""What each room has: shown only where it changed or something is on it."""
WORDS = frozenset(
    {'heated', 'washed', 'toasted', 'used', 'dirty', 'plugged_out', 'sitting', 'lying'}
)
"""States that are shown of every object; open and on, only where that matters."""
OPPOSITES = (('off', 'on'), ('closed', 'open'), ('dirty', 'clean'), ('plugged_out', 'plugged_in'))

Relation = Literal['in', 'on', 'held']
Look = Literal['room', 'furniture', 'thing', 'person', 'ghost', 'rest']
Place = tuple[Relation, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseItem:
    """An object, several equal ones, or a room, with all that it contains, supports or carries."""

    name: str
    """As in the scene; of a ghost, the name of the object that was there."""
    text: str
    look: Look
    state: str = ''
    """What is shown beside its name."""
    moved: bool = False
    turned: bool = False
    """Whether its states are other than before."""
    lit: bool = False
    """Whether it is on."""
    shut: bool = False
    upon: tuple[HouseItem, ...] = ()
    """What is on it, or in its hands."""
    within: tuple[HouseItem, ...] = ()
    count: int = 1

    @property
    def changed(self) -> bool:
        """Whether it is elsewhere, or in another state, than before."""
        return self.moved or self.turned

    @property
    def is_leaf(self) -> bool:
        """Whether nothing is in or on it."""
        return not (self.upon or self.within)


@dataclass(frozen=True, slots=True)
class _Known:
    """The facts of two scenes."""

    kinds: Mapping[str, Kind]
    loose: frozenset[str]
    """What a hand can take."""
    states: Mapping[str, frozenset[str]]
    old_states: Mapping[str, frozenset[str]]
    places: Mapping[str, Place]
    old_places: Mapping[str, Place]
    here: Mapping[str, Sequence[tuple[Relation, str]]]
    """By place: what is there now."""
    gone: Mapping[str, Sequence[tuple[Relation, str]]]
    """By place: what was there before and is elsewhere now."""


def rooms_of(
    scene: Scene, before: Scene | None = None, *, changes_only: bool = False
) -> tuple[HouseItem, ...]:
    """
    Return the rooms of a household with all that is in them, in the scene's order.

    What moved since *before* leaves a ghost there. With *changes_only*, only changes, their places
    and the person are shown one by one, and all else is counted.
    """
    known = _known(scene, before)
    rooms = [item.name for item in scene.objects if item.kind is Kind.LOCATION]
    if known.here.get(''):
        rooms.append('')
    found = tuple(_thing(name, known) for name in rooms)
    return tuple(_only_changes(room) for room in found) if changes_only else found


def _known(scene: Scene, before: Scene | None) -> _Known:
    places = _places(scene)
    old_places = {} if before is None else _places(before)
    here: dict[str, list[Place]] = defaultdict(list)
    gone: dict[str, list[Place]] = defaultdict(list)
    for name, (relation, place) in places.items():
        here[place].append((relation, name))
        old = old_places.get(name)
        if old is not None and old != (relation, place):
            gone[old[1]].append((old[0], name))
    return _Known(
        kinds={item.name: item.kind for item in scene.objects},
        loose=frozenset(
            f.subject for f in scene.facts if (f.predicate, f.object) == ('affords', 'grabbable')
        ),
        states=_states(scene),
        old_states={} if before is None else _states(before),
        places=places,
        old_places=old_places,
        here=here,
        gone=gone,
    )


def _states(scene: Scene) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {item.name: set() for item in scene.objects}
    for fact in scene.facts:
        if fact.predicate == 'is' and fact.object is not None:
            found.setdefault(fact.subject, set()).add(fact.object)
    return {name: frozenset(words) for name, words in found.items()}


def _places(scene: Scene) -> dict[str, Place]:
    """Return where each object is: in a hand, on or in another, in a room, or in ''."""
    kinds = {item.name: item.kind for item in scene.objects}
    told: dict[tuple[str, str], list[str]] = defaultdict(list)
    for fact in scene.facts:
        if fact.object in kinds and fact.object != fact.subject:
            told[fact.predicate, fact.subject].append(fact.object)
    found: dict[str, Place] = {}
    for name, kind in kinds.items():
        if kind is Kind.LOCATION:
            continue
        rooms = [*told['in_room', name], *told['inside', name]]
        choices: list[Place] = [('held', other) for other in told['held_by', name]]
        choices += [
            ('on', other)
            for other in told['on', name]
            if kind is not Kind.FIXTURE or class_of(other) not in GROUND
        ]
        choices += [
            ('in', other) for other in told['inside', name] if kinds[other] is not Kind.LOCATION
        ]
        choices += [('in', other) for other in rooms if kinds[other] is Kind.LOCATION]
        found[name] = choices[0] if choices else ('in', '')
    for name in found:
        if _in_a_ring(name, found):
            found[name] = ('in', '')
    return found


def _in_a_ring(name: str, places: Mapping[str, Place]) -> bool:
    """Whether an object is in or on itself by way of others, as in some foreign graphs."""
    seen = {name}
    here = places[name][1]
    while here in places and here not in seen:
        seen.add(here)
        here = places[here][1]
    return here == name


def _thing(name: str, known: _Known) -> HouseItem:
    children: dict[Relation, list[HouseItem]] = {'in': [], 'on': [], 'held': []}
    for relation, other in known.here.get(name, ()):
        child = _thing(other, known)
        if not (class_of(other) in PLAIN and child.is_leaf and not child.changed):
            children[relation].append(child)
    for relation, other in known.gone.get(name, ()):
        children[relation].append(HouseItem(name=other, text=_text(other), look='ghost'))
    upon = _counted([*children['held'], *children['on']])
    within = _counted(children['in'])
    kind, word = known.kinds.get(name), class_of(name)
    look: Look = 'thing' if name in known.loose else 'furniture'
    if kind is Kind.LOCATION or not name:
        look = 'room'
    elif word == PERSON:
        look = 'person'
    states = known.states.get(name, frozenset())
    old = known.old_states.get(name, states)
    moved = name in known.old_places and known.old_places[name] != known.places[name]
    return HouseItem(
        name=name,
        text=_text(name),
        look=look,
        state=_told(states, old, look, bool(upon or within)),
        moved=moved,
        turned=states != old,
        lit='on' in states,
        shut='closed' in states,
        upon=upon,
        within=within,
    )


def _text(name: str) -> str:
    if not name:
        return 'in no room'
    return 'person' if class_of(name) == PERSON else class_of(name)


def _told(states: frozenset[str], old: frozenset[str], look: Look, holds: bool) -> str:
    """Return the states to show of an object; a change as `off → on`."""
    parts = []
    news = states - old
    for pair in OPPOSITES:
        for was, now in (pair, pair[::-1]):
            if now in news and was in old:
                parts.append(f'{was} → {now}')
                news -= {now}
    shown = WORDS | news
    if look == 'furniture' or holds:
        shown |= {'open', 'closed'}
    if 'off' not in old:
        shown |= {'on'}
    told = {word for part in parts for word in part.split(' → ')}
    return ', '.join([*sorted((states & shown) - told), *parts])


def _counted(things: Sequence[HouseItem]) -> tuple[HouseItem, ...]:
    """Return items, equal ones that did not change as one with its count."""
    plain = [t if t.is_leaf and not t.changed and t.look != 'ghost' else None for t in things]
    kinds = Counter((t.text, t.look, t.state) for t in plain if t is not None)
    found: list[HouseItem] = []
    for thing, same in zip(things, plain, strict=True):
        n = 1 if same is None else kinds.pop((same.text, same.look, same.state), 0)
        if n > 1:
            found.append(replace(thing, text=f'{thing.text} ×{n}', count=n))
        elif n == 1:
            found.append(thing)
    return tuple(found)


def _only_changes(thing: HouseItem) -> HouseItem:
    return replace(thing, upon=_kept(thing.upon), within=_kept(thing.within))


def _kept(things: Sequence[HouseItem]) -> tuple[HouseItem, ...]:
    """Return what changed, and how much else there is as one more item."""
    kept = [_only_changes(thing) for thing in things if _matters(thing)]
    if n := sum(_n_in(thing) for thing in things if not _matters(thing)):
        text = f'+ {n}' if kept else f'{n} things' if n > 1 else '1 thing'
        kept.append(HouseItem(name='', text=text, look='rest', count=n))
    return tuple(kept)


def _matters(thing: HouseItem) -> bool:
    special = thing.changed or thing.look in ('person', 'ghost')
    return special or any(_matters(other) for other in (*thing.upon, *thing.within))


def _n_in(thing: HouseItem) -> int:
    return thing.count + sum(_n_in(other) for other in (*thing.upon, *thing.within))
