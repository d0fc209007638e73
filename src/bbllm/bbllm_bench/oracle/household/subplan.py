"""
From conditions to a plan, by means and ends: object by object, each with an empty hand before.

Each condition is made true of one object after the other, and each action first makes true what
it needs: to grab an object, go to it; to go to it, open what it is shut in. Plans are simulated in
copies of the household, so that an object or place with which a step fails gives way to the next
one. They keep FLTRNN's rules (one object in the hands, doors closed before a device starts), and
they are not the shortest.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, product

from bbllm.worlds.household.checks import above
from bbllm.worlds.household.derived import (
    FAUCETS,
    HEATED,
    HEATING,
    PHONES,
    SINKS,
    TOASTED,
    TOASTERS,
    USED,
    WASHED,
    WASHING,
    WORDS,
    can_become,
    can_wash,
)
from bbllm.worlds.household.graph import Graph, Node
from bbllm.worlds.household.vocabulary import HANDS, Action, Property, Relation, State
from bbllm_bench.oracle.household.house_state import HouseState, NoPlanError
from bbllm_bench.suites.house_goals import ANYTHING, HouseCondition, HouseholdGoal
from bbllm_bench.suites.household import lying

PASSES = 3
"""How often all conditions are gone through: a later one can undo an earlier one."""
TRIES = 60
"""How many pairs of an object and a place are tried for one object of a condition."""
CHOICES = 12
"""How many choices of the objects of `same` are tried."""
MAKERS = {HEATED: HEATING, TOASTED: TOASTERS, WASHED: WASHING | SINKS, USED: PHONES}
TURNS = {
    'on': (Action.SWITCHON, State.OFF),
    'off': (Action.SWITCHOFF, State.ON),
    'open': (Action.OPEN, State.CLOSED),
    'closed': (Action.CLOSE, State.OPEN),
}
"""By state: the action that leads to it, and the state that it leads from."""
OPPOSITE = {'on': 'off', 'off': 'on', 'open': 'closed', 'closed': 'open'}

Step = Callable[[HouseState], HouseState]


def plan_for(
    start: HouseState, goal: HouseholdGoal, *, keep: Sequence[HouseCondition] = ()
) -> HouseState:
    """
    Return a state in which a goal is reached; its `lines` are the plan.

    Args:
        start: Where the plan begins.
        goal: What must be so.
        keep: Conditions that are met and stay so.

    Raises:
        NoPlanError: No plan was found; names a condition or a step.
    """
    reason: NoPlanError | None = None
    choices = product(*(_nearest_first(start, start.view.of_class(name)) for name in goal.same))
    for ids in islice(choices, CHOICES):
        only = dict(zip(goal.same, ids, strict=True))
        try:
            return _reach(replace(start, only=only), goal, keep)
        except NoPlanError as error:
            reason = reason or error
    raise reason or NoPlanError(f'There is none of {", ".join(goal.same)}.')


def _reach(state: HouseState, goal: HouseholdGoal, keep: Sequence[HouseCondition]) -> HouseState:
    wanted = [*goal.all, *keep]
    for _ in range(PASSES):
        for condition in sorted(goal.all, key=_rank):
            state = _Achiever(wanted).achieve(state, condition)
        if state.holds(goal.all, goal.same):
            return state
    missing = next((each for each in goal.all if not state.holds([each])), goal.all[0])
    raise NoPlanError(f'No plan was found that makes it so that {missing}.')


def _rank(condition: HouseCondition) -> int:
    """Order conditions: doors close when all is inside, devices start when doors are closed."""
    if condition.person:
        return 7
    if condition.held:
        return 6 if not condition.not_ else 5
    if condition.place or condition.is_ in WORDS:
        return 1 if condition.not_ else 0
    return {'off': 2, 'open': 2, 'closed': 3}.get(str(condition.is_), 4)


def _nearest_first(state: HouseState, ids: Iterable[int]) -> list[int]:
    """Order objects by the effort to get at them: held, close, in this room, in no container."""
    graph, held = state.graph, state.held
    close, here = graph.targets(state.me, Relation.CLOSE), graph.room_of(state.me)

    def effort(n: int) -> tuple[bool, int, bool, bool, int]:
        n_shut = len(state.shut_around(n))
        return n not in held, n_shut, n not in close, graph.room_of(n) != here, n

    return sorted(ids, key=effort)


class _Achiever:
    """Makes conditions true one by one, and leaves alone what others need."""

    def __init__(self, wanted: Sequence[HouseCondition]):
        self._wanted = wanted

    def achieve(self, state: HouseState, condition: HouseCondition) -> HouseState:
        """
        Return a state in which a condition is met.

        Raises:
            NoPlanError: No object and place was found with which it can be made so.
        """
        reason = ''
        for _ in range(len(state.graph.nodes)):
            if state.holds([condition]):
                return state
            for way in islice(self._ways(state, condition), TRIES):
                try:
                    state = way(state)
                    break
                except NoPlanError as error:
                    reason = reason or f' {error}'
            else:
                break
        raise NoPlanError(f'No plan was found that makes it so that {condition}.{reason}')

    def _ways(self, state: HouseState, condition: HouseCondition) -> Iterator[Step]:
        """Yield ways to make a condition true of one more object, the easiest first."""
        if condition.person:
            yield from _posture(state, condition)
        elif condition.held == ANYTHING and condition.not_:
            yield from (partial(self._lay_down, n=n) for n in state.held)
        elif condition.not_:
            fitting = _nearest_first(state, state.view.fitting(condition))
            for n in sorted(fitting, key=lambda n: self._needed(state, condition, n)):
                if condition.place or condition.held:
                    yield partial(self._take_away, n=n)
                elif condition.is_ in OPPOSITE:
                    yield partial(turn, n=n, word=OPPOSITE[str(condition.is_)])
        elif condition.held:
            for n in self._usable(state, condition):
                yield partial(self._fetch, n=n)
        elif condition.is_ in TURNS:
            for n in self._usable(state, condition):
                yield partial(turn, n=n, word=str(condition.is_))
        else:
            yield from self._made_and_put(state, condition)

    def _usable(self, state: HouseState, condition: HouseCondition) -> list[int]:
        """Return objects that do not meet a condition yet and that others can spare."""
        ids, fits = state.view.objects_of(condition), state.view.fitting(condition)
        free = (n for n in ids if n not in fits and not self._needed(state, condition, n))
        return _nearest_first(state, free)

    def _needed(self, state: HouseState, condition: HouseCondition, n: int) -> bool:
        """Whether an object is where another condition wants it and no other can replace it."""
        if state.graph.nodes[n].class_name in state.only:
            return False
        for each in self._wanted:
            if each == condition or each.not_ or each.is_ in TURNS or each.person:
                continue
            fits = state.view.fitting(each)
            if n in fits and len(fits) <= each.count:
                return True
        return False

    def _made_and_put(self, state: HouseState, condition: HouseCondition) -> Iterator[Step]:
        """Yield ways to heat, toast or wash an object, and to put it somewhere."""
        relation = Relation.INSIDE if condition.inside else Relation.ON
        places: list[int | None] = [None]
        if condition.place:
            ids = _nearest_first(state, state.view.of_class(condition.place))
            used = [p for n in state.view.fitting(condition) for p in _places(state, n)]
            places = sorted(ids, key=lambda p: p not in used)
        is_made = partial(_is_made, state, condition)
        # One that is made already only has to be put.
        items = sorted(self._usable(state, condition), key=lambda n: not is_made(n))
        for n, place in product(items, places):
            if n == place:
                continue
            put = partial(self._put, n=n, relation=relation, place=place)
            if is_made(n):
                yield put
                continue
            for device in _devices(state, condition, n):
                yield partial(self._make, n=n, device=device, then=put)

    def _make(self, state: HouseState, n: int, device: int, then: Step) -> HouseState:
        node = state.graph.nodes[device]
        if n != device:
            state = self._put(state, n, Relation.INSIDE, device)
        if not _is(node, SINKS):
            if Property.CAN_OPEN in node.properties and n != device:
                state = turn(state, device, 'closed')
            return then(turn(state, device, 'on'))
        room = state.graph.room_of(device)
        for tap in [x.id for x in state.graph.nodes.values() if _is(x, FAUCETS)]:
            if state.graph.room_of(tap) == room:
                return then(turn(state, tap, 'on'))
        raise NoPlanError(f'No faucet is near {node}.')

    def _put(self, state: HouseState, n: int, relation: Relation, place: int | None) -> HouseState:
        if place is None or n in lying(state.graph, relation, [place]):
            return state
        state = go(self._fetch(state, n), place)
        if relation is not Relation.INSIDE:
            return _at_rest(state, [place], Action.PUTBACK, n, place)
        if Property.CAN_OPEN in state.graph.nodes[place].properties:
            state = turn(state, place, 'open')
        return _at_rest(state, [place], Action.PUTIN, n, place)

    def _fetch(self, state: HouseState, n: int) -> HouseState:
        """Take an object into a hand; what no condition wants in a hand is put down before."""
        if n in state.held:
            return state
        wanted = {name.held for name in self._wanted if name.held and not name.not_}
        for other in state.held:
            full = len(state.held) >= len(HANDS)
            if full or state.graph.nodes[other].class_name not in wanted:
                state = self._lay_down(state, other)
        if Property.GRABBABLE not in state.graph.nodes[n].properties:
            raise NoPlanError(f'{state.graph.nodes[n]} cannot be grabbed.')
        return _at_rest(go(state, n), above(state.graph, n), Action.GRAB, n)

    def _take_away(self, state: HouseState, n: int) -> HouseState:
        return self._lay_down(self._fetch(state, n), n)

    def _lay_down(self, state: HouseState, n: int) -> HouseState:
        """Put something down that is in the way, on furniture that no condition speaks of."""
        places = {each.on or each.inside for each in self._wanted if each.not_}
        surfaces = [
            node.id
            for node in state.graph.nodes.values()
            if Property.SURFACES in node.properties
            and not {Property.GRABBABLE, Property.SITTABLE, Property.LIEABLE} & node.properties
            and node.category not in ('Floor', 'Floors')
            and node.class_name not in places
            and not state.shut_around(node.id)
        ]
        for place in _nearest_first(state, surfaces)[:TRIES]:
            try:
                return go(state, place).after(Action.PUTBACK, n, place)
            except NoPlanError:
                continue
        raise NoPlanError(f'There is nothing to lay {state.graph.nodes[n]} on.')


# --- actions with what they need -----------------------------------------------------------------


def turn(state: HouseState, n: int, word: str) -> HouseState:
    """Open, close or switch an object, if it is not so already."""
    action, before = TURNS[word]
    states = state.graph.nodes[n].states
    if before not in states:
        if State(word.upper()) in states:
            return state
        raise NoPlanError(f'{state.graph.nodes[n]} cannot be {word}.')
    if word == 'open' and State.ON in states:
        state = turn(state, n, 'off')
    if word == 'on' and State.OPEN in states:
        state = turn(state, n, 'closed')
    return go(state, n).after(action, n)


def _at_rest(state: HouseState, devices: Iterable[int], action: Action, *ids: int) -> HouseState:
    """Do an action; where it cannot be done, with devices switched off before that are on."""
    if not state.can(action, *ids):
        for device in sorted(devices):
            if State.ON in state.graph.nodes[device].states:
                state = turn(state, device, 'off')
    return state.after(action, *ids)


def go(state: HouseState, n: int) -> HouseState:
    """Go to an object, if the character is not close to it, and open what it is shut in."""
    for shut in state.shut_around(n):
        state = turn(state, shut, 'open')
    if n in state.held or state.can(Action.TOUCH, n):
        return state
    if State.SITTING in state.graph.nodes[state.me].states:
        state = state.after(Action.STANDUP)
    # A class can mean another object; then its place is gone to, or what lies there.
    graph, places = state.graph, _places(state, n)
    beside = [other for place in (*places, n) for other in lying_at(state.graph, place)]
    stops = [n, *places, *sorted(beside, key=lambda other: other in state.held)]
    room = graph.room_of(n)
    ways = [[stop] for stop in stops]
    if room is not None:
        ways += [[room, stop] for stop in stops]
    for way in ways:
        there = state
        for stop in way:
            if there.can(Action.WALK, stop):
                there = there.after(Action.WALK, stop)
        if there.can(Action.TOUCH, n):
            return there
    raise NoPlanError(f'{state.graph.nodes[n]} cannot be gone to.')


def _posture(state: HouseState, condition: HouseCondition) -> Iterator[Step]:
    if condition.not_:
        yield lambda state: state.after(Action.STANDUP)
    elif condition.person == 'sitting':
        seats = [
            node.id
            for node in state.graph.nodes.values()
            if Property.SITTABLE in node.properties and condition.on in (None, node.class_name)
        ]
        for seat in _nearest_first(state, seats):
            yield partial(_sit_on, seat=seat)


def _sit_on(state: HouseState, seat: int) -> HouseState:
    return go(state, seat).after(Action.SIT, seat)


def _devices(state: HouseState, condition: HouseCondition, n: int) -> list[int]:
    """Return what makes an object heated, toasted, washed or used, the nearest first."""
    word, nodes = str(condition.is_), state.graph.nodes
    if word == USED:
        return [n] if _is(nodes[n], PHONES) else []
    by = condition.by and condition.by.replace('_', '').lower()
    # What a sink washes is washed by its faucet.
    able = [
        node.id
        for node in nodes.values()
        if _is(node, MAKERS.get(word, frozenset()))
        and (by is None or _plain(node) == by or (_is(node, SINKS) and by in FAUCETS))
        and (_is(node, SINKS) or can_become(state.graph, n, word, node.class_name))
        and can_wash(node, nodes[n])
        and State.PLUGGED_OUT not in node.states
    ]
    return _nearest_first(state, able)


def _is_made(state: HouseState, condition: HouseCondition, n: int) -> bool:
    made = condition.model_copy(update={'inside': None, 'on': None})
    return condition.is_ is None or n in state.view.fitting(made)


def _places(state: HouseState, n: int) -> list[int]:
    """Return what an object is in or on, rooms left out."""
    places = state.graph.targets(n, Relation.ON) | state.graph.targets(n, Relation.INSIDE)
    return sorted(p for p in places if not state.graph.nodes[p].is_room)


def lying_at(graph: Graph, place: int) -> list[int]:
    """Return what is directly in or on an object, sorted."""
    return sorted(graph.sources(place, Relation.ON) | graph.sources(place, Relation.INSIDE))


def _is(node: Node, names: Iterable[str]) -> bool:
    return _plain(node) in names


def _plain(node: Node) -> str:
    return node.class_name.replace('_', '').lower()
