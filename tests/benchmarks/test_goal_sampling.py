"""What is drawn before it is proven: never too much of a class, never twice, always told."""

from collections import Counter
from typing import Any

import pytest

from bbllm.worlds.household.household import Household
from bbllm.worlds.household.houses import load_house
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action
from bbllm_bench.benchmarks.goals import sampling as goal_sampling
from bbllm_bench.benchmarks.goals.sampling import (
    LONG_STEPS,
    MOST_OF_A_CLASS,
    SPLITS,
    Drawing,
    Sampled,
    sample,
)
from bbllm_bench.optimal.least_steps import Least
from bbllm_bench.optimal.relaxed_house import NotProvenError
from bbllm_bench.suites.house_predicates import clashing

N_EACH = 12
STEP = ScriptLine(Action.STANDUP, ())


class Proofs:
    """Proves each goal at once, but for those that are refused; keeps where they begin."""

    def __init__(self, refused: int = 0):
        self.refused = refused
        self.starts: list[Household] = []

    def __call__(self, household: Household, goal: Any, *, effort: int = 0) -> Least:
        self.starts.append(household)
        if self.refused:
            self.refused -= 1
            raise NotProvenError('<plum> (7): it can be carried')
        return Least((STEP,) * LONG_STEPS, 1)


@pytest.fixture(scope='module')
def drawn() -> tuple[Drawing, Proofs, list[int]]:
    proofs, told = Proofs(), list[int]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(goal_sampling, 'least_steps', proofs)
        drawing = sample(N_EACH, 3, lambda now: told.append(len(now.found)))
    return drawing, proofs, told


def moved(item: Sampled) -> Counter[str]:
    """Return how many things of each class a goal has moved or held."""
    counts: Counter[str] = Counter()
    for each in item.goal.all:
        if not each.is_:
            counts[each.thing or each.held or ''] += each.count
    return counts


def test_no_goal_wants_more_of_a_class_than_there_is_or_contradicts_itself(
    drawn: tuple[Drawing, Proofs, list[int]],
) -> None:
    for item in drawn[0].found:
        graph = load_house(item.house).graph
        there = Counter(node.class_name for node in graph.nodes.values())
        assert all(n <= there[name] for name, n in moved(item).items()), item.name
        assert clashing(item.goal, graph) is None
        split = SPLITS[item.split]
        assert set(moved(item)) <= {*split.things, *split.held}
        for each in item.goal.all:
            assert 1 <= each.count <= MOST_OF_A_CLASS
            assert there[each.place or each.thing or each.held or '']


def test_no_goal_is_drawn_twice_in_a_house_and_what_is_drawn_anew_is_counted() -> None:
    proofs = Proofs(refused=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(goal_sampling, 'least_steps', proofs)
        one_kind = goal_sampling.Split(
            name='small', houses=('studio',), things=('plum',), inside=('fridge',), on=(),
            states=(),
        )  # fmt: skip
        patch.setattr(goal_sampling, 'SPLITS', {'small': one_kind})
        drawing = sample(1, 3)
        with pytest.raises(NotProvenError, match=r'no goal for small_00\d in studio'):
            sample(9, 3)  # there are fewer goals than that

    assert drawing.drawn_anew['it can be carried'] == len(drawing.lost_s) == 2
    assert len(drawing.found) == 1


def test_a_goal_that_contradicts_itself_is_drawn_anew_and_counted() -> None:
    door = goal_sampling.Split(
        name='door', houses=('studio',), things=('plum',), inside=('fridge',), on=(),
        states=(('fridge', 'open'), ('fridge', 'closed')),
    )  # fmt: skip
    n_anew = 0
    for seed in range(12):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(goal_sampling, 'least_steps', Proofs())
            patch.setattr(goal_sampling, 'SPLITS', {'door': door})
            drawing = sample(1, seed)
        (item,) = drawing.found
        assert len([each for each in item.goal.all if each.is_]) < 2
        n_anew += drawing.drawn_anew['drawn before, contradictory or too little']
    assert n_anew
