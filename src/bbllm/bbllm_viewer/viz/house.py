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
Style = Literal['room', 'furniture', 'thing', 'person', 'ghost', 'rest']
Place = tuple[Relation, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseItem:
    """An object, several equal ones, or a room, with all that it contains, supports or carries."""

    name: str
    """As in the scene; of a ghost, the name of the object that was there."""
    text: str
    style: Style
    state: str = ''
    """What is shown beside its name."""
    moved: bool = False
    turned: bool = False
    """Whether its states are other than before."""
    lit: bool = False
    """Whether it is on."""
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
        return not (self.upon or self.within)


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a scene says of a household."""

    kinds: Mapping[str, Kind]
    loose: frozenset[str]
    """What a hand can take."""
    states: Mapping[str, frozenset[str]]
    places: Mapping[str, Place]
    contents: Mapping[str, Sequence[Place]]
    """By place: what is there, and how."""


def rooms_of(
    scene: Scene,
    before: Scene | None = None,
    *,
    ahead: bool = False,
    changes_only: bool = False,
) -> tuple[HouseItem, ...]:
    """
    Return the rooms of a household with all that is in them, in the scene's order.

    What moved since *before* leaves a ghost there. With *ahead*, that is the scene to come. With
    *changes_only*, only changes, their places and the person are shown one by one, and all else is
    counted.
    """
    now = _facts(scene)
    old = now if before is None else _facts(before)
    rooms = [name for name, kind in now.kinds.items() if kind is Kind.LOCATION]
    if now.contents.get(''):
        rooms.append('')
    found = tuple(_item(name, now, old, ahead=ahead) for name in rooms)
    return tuple(_only_changes(room) for room in found) if changes_only else found


def _facts(scene: Scene) -> _Facts:
    kinds = {item.name: item.kind for item in scene.objects}
    reported: dict[tuple[str, str], list[str]] = defaultdict(list)
    for fact in scene.facts:
        if fact.object is not None and fact.object != fact.subject:
            reported[fact.predicate, fact.subject].append(fact.object)
    items = [name for name, kind in kinds.items() if kind is not Kind.LOCATION]
    places = {name: _place(name, kinds, reported) for name in items}
    for name in items:
        if _in_a_ring(name, places):
            places[name] = ('in', '')
    contents: dict[str, list[Place]] = defaultdict(list)
    for name, (relation, place) in places.items():
        contents[place].append((relation, name))
    return _Facts(
        kinds=kinds,
        loose=frozenset(name for name in items if 'grabbable' in reported['affords', name]),
        states={name: frozenset(reported['is', name]) for name in kinds},
        places=places,
        contents=contents,
    )


def _place(
    name: str, kinds: Mapping[str, Kind], reported: Mapping[tuple[str, str], Sequence[str]]
) -> Place:
    """Return where an object is: in a hand, on or in another, in a room, or in ''."""
    choices: list[Place] = [('held', other) for other in reported['held_by', name]]
    for other in reported['on', name]:
        if kinds[name] is not Kind.FIXTURE or class_of(other) not in GROUND:
            choices.append(('on', other))
    inside = [*reported['inside', name], *reported['in_room', name]]
    inside.sort(key=lambda other: kinds.get(other) is Kind.LOCATION)  # rooms last
    choices += [('in', other) for other in inside]
    return next((choice for choice in choices if choice[1] in kinds), ('in', ''))


def _in_a_ring(name: str, places: Mapping[str, Place]) -> bool:
    """Whether an object is in or on itself by way of others, as in some foreign graphs."""
    seen = {name}
    here = places[name][1]
    while here in places and here not in seen:
        seen.add(here)
        here = places[here][1]
    return here == name


def _item(name: str, now: _Facts, old: _Facts, *, ahead: bool = False) -> HouseItem:
    children: dict[Relation, list[HouseItem]] = {'in': [], 'on': [], 'held': []}
    for relation, other in now.contents.get(name, ()):
        child = _item(other, now, old, ahead=ahead)
        if not (class_of(other) in PLAIN and child.is_leaf and not child.changed):
            children[relation].append(child)
    for relation, other in old.contents.get(name, ()):
        if now.places.get(other, (relation, name)) != (relation, name):
            children[relation].append(HouseItem(name=other, text=_text(other), style='ghost'))
    upon = _counted([*children['held'], *children['on']])
    within = _counted(children['in'])
    view: Style = 'thing' if name in now.loose else 'furniture'
    if name not in now.places:
        view = 'room'
    elif class_of(name) == PERSON:
        view = 'person'
    states = now.states.get(name, frozenset())
    before = old.states.get(name, states)
    then, later = (states, before) if ahead else (before, states)
    return HouseItem(
        name=name,
        text=_text(name),
        style=view,
        state=_reported(later, then, view, bool(upon or within)),
        moved=now.places.get(name) != old.places.get(name, now.places.get(name)),
        turned=states != before,
        lit='on' in states,
        upon=upon,
        within=within,
    )


def _text(name: str) -> str:
    if not name:
        return 'in no room'
    return 'person' if class_of(name) == PERSON else class_of(name)


def _reported(states: frozenset[str], old: frozenset[str], view: Style, holds: bool) -> str:
    """Return the states to show of an object; a change as `off → on`."""
    pairs = [pair for both in OPPOSITES for pair in (both, both[::-1])]
    turns = [(was, now) for was, now in pairs if was in old - states and now in states - old]
    shown = WORDS | (states - old)
    if view == 'furniture' or holds:
        shown |= {'open', 'closed'}
    if 'off' not in old:
        shown |= {'on'}
    rest = (states & shown).difference(*turns)
    return ', '.join([*sorted(rest), *(f'{was} → {now}' for was, now in turns)])


def _counted(items: Sequence[HouseItem]) -> tuple[HouseItem, ...]:
    """Return items, equal ones that did not change as one with its count."""
    plain = [t if t.is_leaf and not t.changed and t.style != 'ghost' else None for t in items]
    kinds = Counter((t.text, t.style, t.state) for t in plain if t is not None)
    found: list[HouseItem] = []
    for item, same in zip(items, plain, strict=True):
        n = 1 if same is None else kinds.pop((same.text, same.style, same.state), 0)
        if n > 1:
            found.append(replace(item, text=f'{item.text} ×{n}', count=n))
        elif n == 1:
            found.append(item)
    return tuple(found)


def _only_changes(item: HouseItem) -> HouseItem:
    return replace(item, upon=_kept(item.upon), within=_kept(item.within))


def _kept(items: Sequence[HouseItem]) -> tuple[HouseItem, ...]:
    """Return what changed, and how much else there is as one more item."""
    kept = [_only_changes(item) for item in items if _matters(item)]
    if n := sum(_n_in(item) for item in items if not _matters(item)):
        text = f'+ {n}' if kept else f'{n} things' if n > 1 else '1 thing'
        kept.append(HouseItem(name='', text=text, style='rest', count=n))
    return tuple(kept)


def _matters(item: HouseItem) -> bool:
    special = item.changed or item.style in ('person', 'ghost')
    return special or any(_matters(other) for other in (*item.upon, *item.within))


def _n_in(item: HouseItem) -> int:
    return item.count + sum(_n_in(other) for other in (*item.upon, *item.within))
