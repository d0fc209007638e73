"""
Actions without parameters, found by asking the skills themselves.

Nothing here describes a precondition. An action exists where `ImaginedTable` carries out its call
on a table with nothing but what the call names; it needs a fact where it is refused in the same
scene with that fact changed; its effects are the facts that are other ones afterwards. What stands
beside an object is asked for in pairs: the grips that a neighbour leaves are those of the motion
in a scene of both. An action is then made for each set of neighbours that leaves a grip.

Positions are made discrete: an object stands where it is, at a location, in a container, on
another object, at a free spot that `place` itself finds on the furniture, or where the goal asks.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bbllm import Fact, Kind, Scene, SceneObject, SkillCall
from bbllm.planning import MOVABLE
from bbllm.tables import (
    MAX_WIDTH_M,
    Hand,
    ImaginedTable,
    Rejection,
    is_round,
    plan_motion,
    yaw_pose,
)
from bbllm_planners.pddl.formulas import Action, Atom

FREE_SPOTS = 6
"""How many free spots on the furniture are considered."""
NEAR_M = 0.22
"""Beyond this distance of middles, what stands beside an object leaves it all its grips: the palm
reaches 10 cm to each side [m]."""
SAME_M = 0.02
"""An object stands at a location when its middle is this near, as scenes have it [m]."""
TURNS_DEG = (0, 15, 30, 45, 60, 75)
"""Yaws that are tried at a location where one of them leaves more room than another."""
GHOST = 'ghost_of_the_planner'
"""Stands for any other object where a fact is probed."""
EMPTY = Atom('handempty')
_OPEN = Hand(
    tcp=yaw_pose((0.3, 0.0, 0.5), 0.0),
    width_m=MAX_WIDTH_M,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where one object may stand: on furniture, at a location or in a container."""

    name: str
    target: str
    """Argument of `place`; a pose without its height where *pose* is set."""
    only: str = ''
    """The one object that it is for; '' for any."""
    shared: bool = False
    """Whether it takes several objects, as a container does."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a goal adds to positions, and what has to hold at any moment."""

    at: tuple[tuple[str, tuple[float, ...]], ...] = ()
    """Objects, and where the goal has them [m]."""
    tallest: int | None = None
    """How many objects may stand on each other."""
    only_on: frozenset[str] | None = None
    """What things may be put down on; None: anywhere."""


class Grounding:
    """The actions of one scene, and what is so in it."""

    def __init__(self, scene: Scene, wishes: Wishes):
        self._scene, self._wishes = scene, wishes
        self._known: dict[tuple[object, ...], frozenset[tuple[float, ...]]] = {}
        self.movable = [item for item in scene.objects if item.kind in MOVABLE]
        self._static = [item for item in scene.objects if item.kind not in (*MOVABLE, Kind.HAND)]
        self._below = _below(scene)
        self.home = {item.name: self._home(item) for item in self.movable}
        self._holding = {item.name: self._held(item) for item in self.movable}
        self.spots = [*self._spots()]
        self.resting: dict[tuple[str, str], tuple[SceneObject, tuple[str, ...]]] = {}
        """Where an object would stand, by object and spot, with the arguments of `place`."""
        for item, spot in itertools.product(self.movable, self.spots):
            if (found := self._rest(item, spot)) is not None:
                self.resting[item.name, spot.name] = found
        self.stacked = {
            (item.name, other.name): lies
            for item, other in itertools.permutations(self.movable, 2)
            if (lies := self._rest_on(item, other)) is not None
        }
        """How an object would stand on another one where that is now."""
        self.so = frozenset(self._so())
        self.actions = tuple(dict.fromkeys([*self._picks(), *self._places()]))

    # --- what is so -------------------------------------------------------------------------

    def _so(self) -> Iterator[Atom]:
        held = self._scene.held
        bodies = {item.name for item in self.movable}
        for atom in _atoms(self._scene.facts):
            if atom.predicate != 'on' or atom.args[1] in bodies:  # else its spot states it
                yield atom
        if held is None:
            yield EMPTY
        covered = {fact.object for fact in self._scene.facts if fact.predicate == 'on'}
        for item in self.movable:
            if item.name not in (held, *covered):
                yield Atom('clear', (item.name,))
        taken = {self.home[item.name] for item in self.movable if item.name != held}
        for item in self.movable:
            if item.name != held:
                yield Atom('at', (item.name, self.home[item.name]))
                yield from self._level(item.name, self._depth(item.name))
        yield from (Atom('free', (s.name,)) for s in self.spots if s.name not in taken)

    def _level(self, name: str, level: int) -> Iterator[Atom]:
        if self._wishes.tallest is not None and level <= self._wishes.tallest:
            yield Atom('level', (name, str(level)))

    def _depth(self, name: str) -> int:
        below = self._below.get(name)
        return 1 if below is None else 1 + self._depth(below)

    # --- positions --------------------------------------------------------------------------

    def _home(self, item: SceneObject) -> str:
        """Return the name of the spot at which an object stands now."""
        if item.name not in self._below:
            x, y, z = item.pose.position_m
            for place in self._static:
                lx, ly, lz = place.pose.position_m
                level = abs(z - item.size_m[2] / 2 - lz) < SAME_M
                if place.kind is Kind.LOCATION and math.dist((x, y), (lx, ly)) <= SAME_M and level:
                    return place.name
        return f'home of {item.name}'

    def _spots(self) -> Iterator[Spot]:
        for place in self._static:
            if place.kind in (Kind.LOCATION, Kind.CONTAINER):
                yield Spot(name=place.name, target=place.name, shared=place.kind is Kind.CONTAINER)
        for i, at in enumerate(self._free_spots()):
            yield Spot(name=f'free spot {i + 1}', target=_text(at[:2]))
        for name, at in self._wishes.at:
            yield Spot(name=f'{name} at {_text(at)}', target=_text(at[:2]), only=name)
        for item in self.movable:
            home = self.home[item.name]
            if home.startswith('home') and item.name not in self._below:
                yield Spot(name=home, target=_text(item.pose.position_m[:2]), only=item.name)

    def _free_spots(self) -> Iterator[tuple[float, ...]]:
        """Yield where `place` would put one object after the other on the furniture."""
        tables = [item for item in self._static if item.kind is Kind.FIXTURE]
        carried = [name for name, held in self._holding.items() if held is not None]
        if not tables or not carried:
            return
        largest = max(carried, key=lambda name: math.hypot(*self._scene.object(name).size_m[:2]))
        held = self._holding[largest]
        assert held is not None  # it is among those that can be carried
        others = [item for item in self._scene.objects if item.name != largest]
        # Its place now becomes free, but only once it has left.
        stays = replace(self._scene.object(largest), name=f'{GHOST}_0')
        scene = replace(held, objects=(*others, held.object(largest), stays))
        for i in range(1, FREE_SPOTS + 1):
            table = ImaginedTable(scene)
            motion = plan_motion(SkillCall('place', (tables[0].name,)), scene, _hand(scene))
            if isinstance(motion, Rejection) or motion.rest is None:
                return
            at = motion.rest.target.centre_m
            yield at
            lies = replace(
                table.observe().object(largest), name=f'{GHOST}_{i}', pose=yaw_pose(at, 0.0)
            )
            scene = replace(scene, objects=(*scene.objects, lies))

    def _alone(self, *items: SceneObject, facts: Iterable[Fact] = ()) -> Scene:
        """Return the table with nothing that can be moved but some objects."""
        static = {item.name for item in self._static}
        reach = [
            fact
            for fact in self._scene.facts
            if fact.predicate == 'reachable' and fact.subject in static
        ]
        clear = [Fact(item.name, 'is', 'clear') for item in items]
        return replace(
            self._scene,
            objects=(*self._static, *items),
            facts=(*reach, *clear, Fact('hand', 'is', 'empty'), *facts),
        )

    def _reach(self, name: str, spot: str) -> tuple[Fact, ...]:
        """Return whether an object is in reach at a spot, as the scene has it."""
        of = name if spot == self.home[name] else spot
        return tuple(
            replace(fact, subject=name)
            for fact in self._scene.facts
            if (fact.subject, fact.predicate) == (of, 'reachable')
        )

    def _held(self, item: SceneObject) -> Scene | None:
        """Return the table with an object in the hand; None where it cannot be picked."""
        if self._scene.held == item.name and self._scene.hand is None:
            # How it is gripped is not observed: as a pick from the table would.
            (x, y, _), height = item.pose.position_m, item.size_m[2] / 2
            lies = replace(item, pose=yaw_pose((x, y, height), 0.0))
            return _after(self._alone(lies), ('pick', item.name))
        if self._scene.held == item.name:
            others = {other.name for other in self.movable} - {item.name}
            return replace(
                self._scene,
                objects=tuple(each for each in self._scene.objects if each.name not in others),
                facts=tuple(
                    fact
                    for fact in self._scene.facts
                    if fact.subject not in others and fact.object not in others
                ),
            )
        scene = self._alone(item, facts=self._reach(item.name, self.home[item.name]))
        return _after(scene, ('pick', item.name))

    def _rest(self, item: SceneObject, spot: Spot) -> tuple[SceneObject, tuple[str, ...]] | None:
        """Return how an object stands at a spot, and the target; None where it cannot."""
        if spot.only not in ('', item.name):
            return None
        held = self._holding[item.name]
        if spot.name == self.home[item.name] and self._scene.held != item.name:
            at = item.pose.position_m
            target = spot.target if spot.target in self._scene.names else _pose_text(item, at)
            return item, (target,)
        if held is None:
            return None
        target = spot.target
        if target not in self._scene.names:
            height = item.size_m[2] / 2
            target = f'{target} {_text((height,))}'
        after = _after(held, ('place', target))
        if after is None:
            return None
        turned = [target]
        if spot.name in self._scene.names and not spot.shared and not is_round(item):
            x, y, z = after.object(item.name).pose.position_m
            turned += [f'{_text((x, y, z))} {yaw}' for yaw in TURNS_DEG]
        return after.object(item.name), tuple(turned)

    def lying(self, other: SceneObject) -> SceneObject | None:
        """Return an object as others can be put on it: one in the hand as it would be set down."""
        if other.name != self._scene.held:
            far = self._scene.has(other.name, 'reachable', 'no')
            return None if far and self._holding[other.name] is None else other
        stands = (rest for (name, _), (rest, _) in self.resting.items() if name == other.name)
        return next(stands, None)

    def _rest_on(self, item: SceneObject, other: SceneObject) -> SceneObject | None:
        held, below = self._holding[item.name], self.lying(other)
        if held is None or below is None:
            return None
        after = _after(_with(held, below), ('place', other.name))
        return None if after is None else after.object(item.name)

    # --- actions ----------------------------------------------------------------------------

    def _picks(self) -> Iterator[Action]:
        for item in self.movable:
            name = item.name
            for spot, rest in self._stands(name):
                scene = self._alone(rest, facts=self._reach(name, spot.name))
                call = ('pick', name)
                needs = self._facts_needed(call, scene)
                added, removed = _effects(scene, call)
                below = self._below.get(name) if spot.name == self.home[name] else None
                more = frozenset() if spot.shared else {Atom('free', (spot.name,))}
                gone = {Atom('at', (name, spot.name)), *self._levels(name)}
                if below is not None:
                    gone |= {Atom('on', (name, below))}
                    more = {Atom('clear', (below,))}
                for never in self._variants(call, scene, name, rest, spot):
                    yield Action(
                        call=call,
                        needs=needs | {Atom('at', (name, spot.name))},
                        never=never,
                        adds=added | more,
                        removes=removed | gone,
                        cost=1,
                    )
            for other in self.movable:
                if (name, other.name) not in self.stacked:
                    continue
                scene = self._alone(item)
                added, removed = _effects(scene, ('pick', name))
                on = Atom('on', (name, other.name))
                yield Action(
                    call=('pick', name),
                    needs=self._facts_needed(('pick', name), scene) | {on},
                    never=frozenset({Atom('at', (name, self.home[name]))}),
                    adds=added | {Atom('clear', (other.name,))},
                    removes=removed | {on, *self._levels(name)},
                    cost=1,
                )

    def _places(self) -> Iterator[Action]:
        only = self._wishes.only_on
        for item in self.movable:
            name, held = item.name, self._holding[item.name]
            if held is None:
                continue
            for spot in self.spots:
                allowed = only is None or spot.target in only
                if (name, spot.name) in self.resting and allowed:
                    yield from self._places_at(name, spot, held)
            for other in self.movable:
                if (name, other.name) in self.stacked and (only is None or other.name in only):
                    yield from self._places_on(name, other, held)

    def _places_at(self, name: str, spot: Spot, held: Scene) -> Iterator[Action]:
        _, targets = self.resting[name, spot.name]
        seen: set[frozenset[Atom]] = set()
        for target in targets:
            call = ('place', target)
            after = _after(held, call)
            if after is None:
                continue
            added, removed = _effects(held, call)
            lies = after.object(name)
            for never in self._variants(call, held, name, lies, spot):
                if any(never >= other for other in seen):
                    continue  # a turn that leaves no more room
                seen.add(never)
                free = frozenset() if spot.shared else frozenset({Atom('free', (spot.name,))})
                yield Action(
                    call=call,
                    needs=self._facts_needed(call, held) | free,
                    never=never,
                    adds=added | {Atom('at', (name, spot.name)), *self._level(name, 1)},
                    removes=removed | free,
                )
            if not any(seen):
                return  # nothing is ever in its way

    def _places_on(self, name: str, other: SceneObject, held: Scene) -> Iterator[Action]:
        below = self.lying(other)
        assert below is not None  # something can be put on it
        call = ('place', other.name)
        scene = _with(held, below)
        needs = set(self._facts_needed(call, scene))
        above = replace(self.stacked[name, other.name], name=GHOST)
        if _after(_with(scene, above), call) is None:
            needs.add(Atom('clear', (other.name,)))
        added, removed = _effects(scene, call)
        added |= {Atom('on', (name, other.name))}
        tallest = self._wishes.tallest
        for level in range(1, tallest) if tallest is not None else (0,):
            at = {Atom('level', (other.name, str(level)))} if level else set()
            yield Action(
                call=call,
                needs=frozenset(needs | at),
                adds=added | {*self._level(name, level + 1)},
                removes=removed | {Atom('clear', (other.name,))},
            )

    def _levels(self, name: str) -> Iterator[Atom]:
        for level in range(1, (self._wishes.tallest or 0) + 1):
            yield Atom('level', (name, str(level)))

    def _stands(self, name: str) -> Iterator[tuple[Spot, SceneObject]]:
        """Yield the spots at which an object may stand, its own one first."""
        known = {spot.name: spot for spot in self.spots}
        home = self.home[name]
        if name != self._scene.held and self._holding[name] is not None:
            yield known.get(home, Spot(name=home, target='')), self._scene.object(name)
        for spot in self.spots:
            if spot.name != home and (name, spot.name) in self.resting:
                yield spot, self.resting[name, spot.name][0]

    # --- probes -----------------------------------------------------------------------------

    def _facts_needed(self, call: tuple[str, ...], scene: Scene) -> frozenset[Atom]:
        """Return the facts without which a call is refused in a scene that is fit for it."""
        needs = set()
        if call[0] == 'pick':
            full = replace(scene, facts=(*scene.facts, Fact(GHOST, 'held_by', 'hand')))
            if _after(full, call) is None:
                needs.add(EMPTY)
            covered = replace(scene, facts=(*scene.facts, Fact(GHOST, 'on', call[1])))
            if _after(covered, call) is None:
                needs.add(Atom('clear', (call[1],)))
        held = scene.held
        if call[0] == 'place' and held is not None:
            let_go = (fact for fact in scene.facts if fact.predicate != 'held_by')
            if _after(replace(scene, facts=tuple(let_go)), call) is None:
                needs.add(Atom('holding', (held,)))
        return frozenset(needs)

    def _variants(
        self, call: tuple[str, ...], scene: Scene, name: str, rest: SceneObject, spot: Spot
    ) -> Iterator[frozenset[Atom]]:
        """Yield the sets of neighbours of which none may be there, each for some of the grips."""
        alike = self._shape(call, scene, rest)
        grips = self._grips(alike, call, scene)
        if not grips:
            return
        blocked: dict[tuple[float, ...], set[Atom]] = {grip: set() for grip in grips}
        for atom, other in self._beside(name, rest, spot):
            left = self._grips((*alike, _solid(other)), call, scene, other)
            for grip, by in blocked.items():
                if grip not in left:
                    by.add(atom)
        sets = {frozenset(by) for by in blocked.values()}
        yield from sorted(
            (one for one in sets if not any(other < one for other in sets)),
            key=lambda one: (len(one), sorted(map(str, one))),
        )

    def _shape(self, call: tuple[str, ...], scene: Scene, rest: SceneObject) -> tuple[object, ...]:
        """Return what the grips of a call depend on: objects of one shape have the same."""
        hand = scene.hand
        tcp = None if hand is None or call[0] == 'pick' else (hand.tcp, round(hand.width_m, 4))
        held = None if scene.held is None else _solid(scene.object(scene.held))
        named = call[1] in (item.name for item in self._static)
        return call[0], call[1] if named else '', _solid(rest), held, tcp

    def _grips(
        self, alike: tuple[object, ...], call: tuple[str, ...], scene: Scene, *others: SceneObject
    ) -> frozenset[tuple[float, ...]]:
        if alike not in self._known:
            self._known[alike] = _grips(call, _with(scene, *others))
        return self._known[alike]

    def _beside(
        self, name: str, rest: SceneObject, spot: Spot
    ) -> Iterator[tuple[Atom, SceneObject]]:
        """
        Yield what may stand near an object at a spot, each with where that is.

        Two are not at one spot, unless it is shared; there the skill itself finds room.
        """
        x, y, _ = rest.pose.position_m
        for other in self.movable:
            if other.name == name:
                continue
            places = [(self.home[other.name], other)] if other.name != self._scene.held else []
            places += [
                (spot.name, self.resting[other.name, spot.name][0])
                for spot in self.spots
                if spot.name != self.home[other.name] and (other.name, spot.name) in self.resting
            ]
            for spot_name, lies in places:
                if spot_name == spot.name:
                    continue
                if math.dist((x, y), lies.pose.position_m[:2]) <= NEAR_M:
                    yield Atom('at', (other.name, spot_name)), lies


def _below(scene: Scene) -> Mapping[str, str]:
    """Return the object that each object stands on, for those that stand on one."""
    movable = {item.name for item in scene.objects if item.kind in MOVABLE}
    return {
        fact.subject: fact.object
        for fact in scene.facts
        if fact.predicate == 'on' and fact.object in movable and fact.subject in movable
    }


def _atoms(facts: Iterable[Fact]) -> frozenset[Atom]:
    """Return what facts state of the hand and of objects on each other."""
    found = set()
    for fact in facts:
        match fact.predicate, fact.object:
            case 'held_by', _:
                found.add(Atom('holding', (fact.subject,)))
            case 'is', 'empty' if fact.subject == 'hand':
                found.add(EMPTY)
            case 'is', 'clear':
                found.add(Atom('clear', (fact.subject,)))
            case 'on', _:
                found.add(Atom('on', (fact.subject, fact.object)))
    return frozenset(found)


def _effects(scene: Scene, call: tuple[str, ...]) -> tuple[frozenset[Atom], frozenset[Atom]]:
    """Return what a call adds and removes, but for what an object stands on."""
    after = _after(scene, call)
    assert after is not None  # the caller has tried it
    before, now = _atoms(scene.facts), _atoms(after.facts)
    added, removed = now - before, before - now
    return (
        frozenset(atom for atom in added if atom.predicate != 'on'),
        frozenset(atom for atom in removed if atom.predicate != 'on'),
    )


def _after(scene: Scene, call: tuple[str, ...]) -> Scene | None:
    """Return the scene after a call, None where it is refused."""
    table = ImaginedTable(scene)
    made = SkillCall(call[0], call[1:])
    return table.observe() if table.execute(made).succeeded else None


def _with(scene: Scene, *items: SceneObject) -> Scene:
    clear = [Fact(item.name, 'is', 'clear') for item in items]
    return replace(scene, objects=(*scene.objects, *items), facts=(*scene.facts, *clear))


def _solid(item: SceneObject) -> tuple[object, ...]:
    """Return kind, size and pose of an object."""
    numbers = (*item.size_m, *item.pose.position_m, *item.pose.quat_xyzw)
    return item.kind, tuple(round(number, 4) for number in numbers)


def _hand(scene: Scene) -> Hand:
    reading = scene.hand
    return _OPEN if reading is None else Hand(tcp=reading.tcp, width_m=reading.width_m)


def _grips(call: tuple[str, ...], scene: Scene) -> frozenset[tuple[float, ...]]:
    """Return where the hand would be for each grip of a call, none where it is refused."""
    motion = plan_motion(SkillCall(call[0], call[1:]), scene, _hand(scene))
    if isinstance(motion, Rejection) or motion.above is None:
        return frozenset()
    return frozenset(
        (*(round(value, 3) for value in grip.position_m[:2]), round(grip.yaw_rad, 2))
        for grip in motion.above.grips
    )


def _text(values: Sequence[float]) -> str:
    return ' '.join(f'{round(value, 4) + 0.0:g}' for value in values)


def _pose_text(item: SceneObject, at: Sequence[float]) -> str:
    x, y, z, w = item.pose.quat_xyzw
    yaw = math.degrees(2 * math.atan2(z, w)) if abs(x) + abs(y) < 1e-3 else 0.0
    return f'{_text(at)} {round(yaw, 1) + 0.0:g}'
