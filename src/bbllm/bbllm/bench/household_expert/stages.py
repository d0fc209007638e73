"""What a condition of many things is reached by: one after the other, or two things at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bbllm.bench.household_expert.costs import makers_of, of_class
from bbllm.bench.household_expert.moves import Standing
from bbllm.bench.optimal.zones import held_by
from bbllm.bench.suites.house_goals import HouseCondition, HouseholdGoal
from bbllm.bench.suites.household import judge_household, lying, things_of
from bbllm.worlds.household.derived import WORDS, Derived, by_device
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.vocabulary import HANDS, Relation


def holds(
    conditions: Sequence[HouseCondition], graph: Graph, known: Derived, same: Iterable[str] = ()
) -> bool:
    """Tell whether all conditions hold; of the classes in `same`, of one and the same thing."""
    # Not checked: while things are counted up, one stage may say the same as another condition.
    goal = HouseholdGoal.model_construct(kind='household', all=tuple(conditions), same=tuple(same))
    return judge_household(goal, graph, known).findings[0].passed


def stages_of(
    condition: HouseCondition, standing: Standing, *, at_once: int = 1
) -> Iterator[HouseCondition]:
    """Yield a condition of many things in steps of a few things, so that each is found soon."""
    counts: Iterable[int] = (*range(at_once, condition.count, at_once), condition.count)
    if condition.not_:
        n_now = len(things_of(condition, standing.household.graph))
        counts = range(n_now, condition.count - 1, -1)
    for n in counts:
        stage = condition.model_copy(update={'count': n})
        graph, known = standing.household.graph, standing.derived
        if n == condition.count or not holds([stage], graph, known):
            yield stage


def made_together(condition: HouseCondition) -> bool:
    """Tell whether it asks for something to be made of several things."""
    made = condition.is_ in WORDS and not condition.not_
    return made and condition.count > 1 and condition.thing is not None


def fit_to_begin(standing: Standing, stage: HouseCondition) -> bool:
    """Tell whether two things can be begun with: none is on its way, and as many are missing."""
    graph = standing.household.graph
    raw = set(things_of(stage, graph)) - made_of(standing, stage)
    into, _ = makers_of(graph, str(stage.is_), stage.by)
    devices = [n for name in into for n in of_class(graph, name)]
    begun = raw & (held_by(graph) | lying(graph, Relation.INSIDE, devices))
    if begun or len(raw) < len(HANDS):
        return False
    fewer = stage.model_copy(update={'count': stage.count - len(HANDS) + 1})
    return not holds([fewer], graph, standing.derived)


def made_of(standing: Standing, stage: HouseCondition) -> set[int]:
    """Return the ids of what has become so, by the device that is meant where one is."""
    word = str(stage.is_)
    wanted = word if stage.by is None else by_device(word, stage.by)
    return {thing for thing, become in standing.derived if become == wanted}
