"""A household after some actions of a plan, and what a planner can name of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bbllm.core.errors import BbllmError
from bbllm.planners.common.grounding import effort
from bbllm.worlds.household.checks import above, close_ids
from bbllm.worlds.household.derived import Derived, derived
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.visibility import FULL, Visibility, visible
from bbllm.worlds.household.vocabulary import HANDS, Action, Relation, State
from bbllm_bench.suites.house_goals import HouseCondition, HouseholdGoal
from bbllm_bench.suites.household import HouseView, judge_household

GOING = frozenset({Action.WALK, Action.RUN, Action.FIND})
PUTTING = frozenset({Action.PUTIN, Action.PUTBACK})


class NoPlanError(BbllmError):
    """No plan reaches the goal; the text names the condition or the step."""


def held_by(graph: Graph) -> set[int]:
    me = graph.character
    return set() if me is None else {t for hand in HANDS for t in graph.targets(me, hand)}


@dataclass(frozen=True, slots=True)
class HouseState:
    """A household after some actions of a plan."""

    household: Household
    derived: Derived = frozenset()
    """What has become of objects so far, see `worlds.household.derived`."""
    found: int | None = None
    """Id of what the character walked to last."""
    known: frozenset[int] | None = None
    """Ids of what can be named; None: everything."""
    sight: Visibility = FULL
    by_class: bool = False
    """Whether the planner names classes, which it grounds by the policy `nearest`."""
    only: Mapping[str, int] = field(default_factory=dict)
    """By class: the one object that counts in all conditions."""
    lines: tuple[ScriptLine, ...] = ()
    """The plan so far."""

    @classmethod
    def beginning(
        cls, household: Household, *, sight: Visibility = FULL, by_class: bool = False
    ) -> HouseState:
        """Return the state of a household in which nothing was done yet."""
        known = None if sight.reach == 'full' else visible(household.graph, sight)
        become = derived(household.graph)
        return cls(household, become, known=known, sight=sight, by_class=by_class)

    @property
    def graph(self) -> Graph:
        """The household's graph; not to be changed."""
        return self.household.graph

    @property
    def view(self) -> HouseView:
        """The household as conditions are checked against it."""
        return HouseView(self.graph, self.derived, only=self.only)

    @property
    def me(self) -> int:
        assert self.graph.character is not None  # a household has one
        return self.graph.character

    @property
    def held(self) -> list[int]:
        """Ids of what is in the hands, sorted."""
        return sorted(held_by(self.graph))

    def can(self, action: Action, *ids: int) -> bool:
        """Whether an action can be done now, in the planner's own words."""
        return self._can_express(action, ids) and self.household.can(self._line(action, ids))

    def after(self, action: Action, *ids: int) -> HouseState:
        """
        Return the state after an action.

        Raises:
            NoPlanError: The action fails, or the planner's words for it mean something else.
        """
        line = self._line(action, ids)
        household = self.household.copy()
        if not self._can_express(action, ids) or not household.step(line).succeeded:
            raise NoPlanError(f'{line} cannot be done.')
        known = self.known
        if known is not None:
            known |= visible(household.graph, self.sight)
        return replace(
            self,
            household=household,
            derived=derived(household.graph, self.derived, line),
            found=ids[0] if action in GOING else self.found,
            known=known,
            lines=(*self.lines, line),
        )

    def holds(self, conditions: Sequence[HouseCondition], same: Iterable[str] = ()) -> bool:
        """Whether conditions hold; of the classes in `same`, of the same object."""
        # Without validation: the parts of a goal need not be a goal that makes sense by itself.
        goal = HouseholdGoal.model_construct(
            kind='household', all=tuple(conditions), same=tuple(same)
        )
        return judge_household(goal, self.graph, self.derived).passed

    def shut_around(self, item: int) -> list[int]:
        """Return the closed containers around an object, the outermost first."""
        shut = {
            other
            for below in (item, *above(self.graph, item))
            for other in self.graph.targets(below, Relation.INSIDE)
            if State.CLOSED in self.graph.nodes[other].states
            and not self.graph.nodes[other].is_room
        }
        return sorted(shut, key=lambda n: (len(above(self.graph, n)), n))

    def _line(self, action: Action, ids: Sequence[int]) -> ScriptLine:
        return ScriptLine(action, tuple((self.graph.nodes[n].class_name, n) for n in ids))

    def _can_express(self, action: Action, ids: Sequence[int]) -> bool:
        if self.known is not None and not self.known.issuperset(ids):
            return False
        return not self.by_class or all(
            self._meant(action, i, self.graph.nodes[n].class_name) == n for i, n in enumerate(ids)
        )

    def _meant(self, action: Action, i: int, name: str) -> int | None:
        """Return which object a class means, as `planners.common.program` decides it."""
        graph, held = self.graph, held_by(self.graph)
        ids = sorted(n for n, node in graph.nodes.items() if node.class_name == name)
        if self.known is not None:
            ids = [n for n in ids if n in self.known]
        if action in PUTTING and i == 0:
            return next((n for n in ids if n in held), None)
        if len(ids) == 1:
            return ids[0]
        recalled = self.found if action not in GOING else None
        if recalled in ids and (action is not Action.GRAB or recalled not in held):
            return recalled
        here, close = graph.room_of(self.me), close_ids(graph, self.me)

        def order(n: int) -> int:
            return effort(
                action.skill,
                held=n in held,
                hidden=bool(self.shut_around(n)),
                close=n in close,
                here=here is not None and graph.room_of(n) == here,
            )

        return min(ids, key=order, default=None)
