"""A copy of the house of an episode, kept up to date from outcomes, and what failures teach."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from bbllm.core.events import Event
from bbllm.core.naming import class_of, id_of
from bbllm.core.types import Outcome, Scene, SkillCall
from bbllm.worlds.household.checks import ActionSituation, Check, above
from bbllm.worlds.household.constraints import AboutObject, Constraint
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.vocabulary import Action, State
from bbllm.worlds.household.world import HouseholdWorld, line_of
from bbllm_bench.oracle.household.house_state import GOING, HouseState
from bbllm_bench.oracle.household.subplan import lying_at
from bbllm_bench.suites.case import HouseStart

NO_GRIP, NO_ROOM, NOT_STEADY = 'not_graspable', 'no_room_left', 'not_steady'
RUNS, STUCK = 'runs', 'stuck'
"""Names of the checks of `worlds.household.constraints`, as outcomes carry them in `raw`."""


class HouseCopy:
    """
    The house as it is after what was done in it.

    Args:
        start: The house as the trial finds it.
        events: Returns what has happened in the episode so far.
        on_seen: Receives each scene that the planner may have seen.
    """

    def __init__(
        self,
        start: HouseStart,
        events: Callable[[], Sequence[Event]],
        on_seen: Callable[[Scene], None],
    ):
        self._sight = start.sight
        self._world = HouseholdWorld(start.build(), mode=start.mode, visibility=self._sight)
        self._events = events
        self._n_events = 0
        self._on_seen = on_seen
        on_seen(self._world.observe())
        self.failed: Counter[SkillCall] = Counter()
        self.n_succeeded = 0
        self.touched: dict[str, None] = {}
        """Names of what was acted on, in that order."""
        self._gripless: set[int] = set()
        self._stuck: set[int] = set()
        self._shut_while_on: set[str] = set()
        """Classes of devices."""
        self._room: dict[int, int] = {}
        """By id of a place: how many objects there is room for."""

    @property
    def graph(self) -> Graph:
        """The house; not to be changed."""
        return self._world.graph

    def observe(self) -> Scene:
        return self._world.observe()

    def shared_classes(self) -> set[str]:
        """Return the classes that several objects in sight have, so that a class is ambiguous."""
        found = Counter(map(class_of, self.observe().names))
        return {name for name, count in found.items() if count > 1}

    def catch_up(self) -> None:
        """Repeat what was done since the last time."""
        events = self._events()
        for data in (event.data for event in events[self._n_events :]):
            if not isinstance(data, Outcome):
                continue
            if data.succeeded:
                self._world.execute(data.call)
                self._on_seen(self._world.observe())
                self.n_succeeded += 1
                self.touched.update(dict.fromkeys(data.call.args))
            else:
                self.failed[data.call] += 1
                self._learn(data)
        self._n_events = len(events)

    def state(self, *, by_class: bool) -> HouseState:
        """Return where plans begin; see `HouseState`."""
        world = self._world
        ways = [line for line in world.lines if line.action in GOING]
        seen = frozenset(n for name in world.observe().names if (n := id_of(name)) is not None)
        return HouseState(
            Household(
                world.graph,
                mode=world.household.mode,
                constraints=[
                    Constraint(shut_while_on=AboutObject(thing=name))
                    for name in sorted(self._shut_while_on)
                ],
            ).with_checks(self._checks()),
            world.derived.now,
            found=ways[-1].objects[0][1] if ways else None,
            known=None if self._sight.reach == 'full' else seen,
            sight=self._sight,
            by_class=by_class,
        )

    def _learn(self, outcome: Outcome) -> None:
        """Learn from a failed action of a constraint that no scene shows."""
        if outcome.raw not in (NO_GRIP, NO_ROOM, NOT_STEADY, RUNS, STUCK):
            return
        nodes, ids = self.graph.nodes, [n for _, n in line_of(outcome.call, self.graph).objects]
        if outcome.raw == NO_GRIP:
            self._gripless.add(ids[0])
        elif outcome.raw == STUCK:
            self._stuck.add(ids[0])
        elif outcome.raw == RUNS:
            around = ids[1:] or above(self.graph, ids[0])
            on = (nodes[n].class_name for n in around if State.ON in nodes[n].states)
            self._shut_while_on.update(on)
        else:
            n = len(lying_at(self.graph, ids[1])) if outcome.raw == NO_ROOM else 0
            self._room[ids[1]] = min(n, self._room.get(ids[1], n))

    def _checks(self) -> Mapping[Action, Check]:
        """Return checks by which the same actions fail in a plan."""

        def has_grip(s: ActionSituation) -> bool:
            return s.objects[0].id not in self._gripless

        def has_room(s: ActionSituation) -> bool:
            item, place = (node.id for node in s.objects)
            n = sum(other != item for other in lying_at(s.graph, place))
            return n < self._room.get(place, n + 1)

        def moves(s: ActionSituation) -> bool:
            return s.objects[0].id not in self._stuck

        full = Check(NO_ROOM, has_room, 'no room left at {b}')
        checks: dict[Action, Check] = {}
        if self._gripless:
            checks[Action.GRAB] = Check(NO_GRIP, has_grip, '{C} gets no grip on {a}')
        if self._stuck:
            stuck = Check(STUCK, moves, '{a} is stuck')
            checks.update(dict.fromkeys((Action.OPEN, Action.SWITCHON), stuck))
        if self._room:
            checks.update(dict.fromkeys((Action.PUTIN, Action.PUTBACK), full))
        return checks
