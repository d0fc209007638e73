"""The least number of steps in a small house, by trying every line in every situation."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import permutations
from typing import Any

from bbllm.bench.suites.house_goals import HouseCondition, HouseholdGoal
from bbllm.bench.suites.household import judge_household
from bbllm.worlds.household.constraints import Constraint
from bbllm.worlds.household.derived import derived
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.houses import build
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action

STEADY = (Constraint(puts_only_on='furniture'),)
IDLE = frozenset(
    {
        Action.RUN, Action.TURNTO, Action.LOOKAT, Action.LOOKAT_SHORT, Action.LOOKAT_LONG,
        Action.POINTAT, Action.TOUCH, Action.WATCH, Action.GREET, Action.READ, Action.DRINK,
        Action.EAT, Action.TYPE, Action.PUSH, Action.PULL, Action.MOVE, Action.SQUEEZE,
        Action.CUT, Action.SLEEP, Action.WAKEUP, Action.LIE, Action.WASH, Action.RINSE,
        Action.SCRUB, Action.WIPE, Action.PLUGIN,
    }
)  # fmt: skip
"""Actions that change nothing here, or do what another one does as well."""


def house(*items: Any, **rooms: Any) -> Household:
    return Household(
        build({'rooms': {'kitchen': list(items), **rooms}}, 'made up'), constraints=STEADY
    )


def goal(*conditions: dict[str, Any]) -> HouseholdGoal:
    return HouseholdGoal(
        kind='household', all=tuple(HouseCondition.model_validate(c) for c in conditions)
    )


def brute_force(household: Household, wanted: HouseholdGoal, most: int) -> int | None:
    """Return the least number of steps by trying every line in every situation."""
    lines = list(all_lines(household.graph))
    known = {situation(household)}
    front = [household]
    for n_steps in range(most + 1):
        if any(holds(wanted, each) for each in front):
            return n_steps
        after = []
        for each in front:
            for line in lines:
                if not each.can(line):
                    continue
                copy = each.copy()
                copy.step(line)
                if (key := situation(copy)) not in known:
                    known.add(key)
                    after.append(copy)
        front = after
    return None


def all_lines(graph: Graph) -> Iterator[ScriptLine]:
    things = [(n.class_name, i) for i, n in sorted(graph.nodes.items()) if i != graph.character]
    for action in Action:
        if action not in IDLE:
            for objects in permutations(things, action.arity):
                yield ScriptLine(action, objects)


def situation(household: Household) -> Hashable:
    states = tuple(sorted((i, tuple(sorted(n.states))) for i, n in household.graph.nodes.items()))
    return tuple(household.graph.edges()), states


def holds(wanted: HouseholdGoal, household: Household) -> bool:
    graph = household.graph
    return judge_household(wanted, graph, derived(graph)).passed
