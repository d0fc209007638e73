"""Shortest plans: as short as a search made for piles finds them, and never too low a bound."""

import itertools
import random
from collections.abc import Iterator, Sequence

import pytest

from bbllm_bench.scene_sampling.move_search import Piles, fewest_moves
from bbllm_planners.pddl import search, shortest
from bbllm_planners.pddl.formulas import (
    Action,
    Atom,
    Formula,
    Not,
    Problem,
    all_of,
    any_of,
)
from bbllm_planners.pddl.shortest import TooLargeError, shortened
from bbllm_planners.pddl.solver import NoPlanError

EMPTY = Atom('handempty')


def on(above: str, below: str) -> Atom:
    return Atom('on', (above, below))


def clear(name: str) -> Atom:
    return Atom('clear', (name,))


def standing(piles: Piles) -> Iterator[Atom]:
    for i, pile in enumerate(piles):
        yield from itertools.starmap(on, zip(pile, (f'place_{i}', *pile), strict=False))


def problem_of(start: Piles, goal: Formula) -> Problem:
    """Return piles on places as a problem: an action for each pick and each place."""
    names = sorted(itertools.chain(*start))
    bottoms = [f'place_{i}' for i in range(len(start))]
    tops = [pile[-1] if pile else bottom for pile, bottom in zip(start, bottoms, strict=True)]
    actions = []
    for name, below in itertools.product(names, [*names, *bottoms]):
        if name == below:
            continue
        there = frozenset({EMPTY, clear(name), on(name, below)})
        held = frozenset({Atom('holding', (name,)), clear(below)})
        pick = Action(call=('pick', name), needs=there, adds=held, removes=there, cost=1)
        place = Action(call=('place', below), needs=held, adds=there, removes=held)
        actions += [pick, place]
    return Problem(actions, frozenset({EMPTY, *map(clear, tops), *standing(start)}), goal)


def dealt(dice: random.Random, n: int, places: int) -> Piles:
    piles: list[list[str]] = [[] for _ in range(places)]
    for name in dice.sample('abcdefgh'[:n], n):
        dice.choice(piles).append(name)
    return tuple(map(tuple, piles))


def picks(plan: Sequence[Action] | None) -> int:
    assert plan is not None
    return sum(action.cost for action in plan)


@pytest.mark.parametrize('seed', range(6))
def test_a_plan_is_as_short_as_a_search_made_for_piles_finds_it(seed: int) -> None:
    dice = random.Random(seed)
    start, goal = dealt(dice, 6, 3), dealt(dice, 6, 3)
    problem = problem_of(start, all_of([*standing(goal), EMPTY]))

    plan = shortest.shortest(problem)

    assert plan is not None
    assert problem.is_solved_by(plan)
    assert picks(plan) == len(fewest_moves(start, goal, lambda _, pile: True))


def test_no_bound_is_above_what_is_left_of_a_shortest_plan() -> None:
    for seed in range(6):
        dice = random.Random(seed)
        goal = all_of([*standing(dealt(dice, 5, 3)), EMPTY])
        problem = problem_of(dealt(dice, 5, 3), goal)
        plan = shortest.shortest(problem)
        assert plan is not None
        so, left = problem.so, picks(plan)
        for action in plan:
            assert shortest.fewest_picks(Problem(problem.actions, so, goal)) <= left
            so, left = action.after(so), left - action.cost


def test_what_has_to_leave_and_come_back_counts_twice() -> None:
    start: Piles = (('a', 'b', 'c'), (), ())
    problem = problem_of(start, all_of([on('b', 'place_1'), on('c', 'b'), EMPTY]))

    assert shortest.fewest_picks(problem) == picks(shortest.shortest(problem)) == 3


def test_what_does_not_have_to_move_stays() -> None:
    problem = problem_of((('a', 'b'), ('c',), ()), any_of([on('a', 'c'), on('c', 'b')]))

    plan = shortest.shortest(problem)

    assert plan is not None
    assert [action.call for action in plan] == [('pick', 'c'), ('place', 'b')]


def test_what_a_checked_plan_has_shown_is_kept_to() -> None:
    problem = problem_of((('a',), ('b',), (), ()), on('a', 'place_2'))
    direct = next(action for action in problem.actions if action.adds >= {on('a', 'place_2')})
    away = Problem(problem.actions, problem.so, problem.goal, {direct: Not(on('b', 'place_1'))})

    assert picks(shortest.shortest(problem)) == 1
    assert picks(shortest.shortest(away)) == 2


@pytest.mark.parametrize(
    'goal',
    [all_of([on('a', 'b'), on('b', 'a')]), on('a', 'place_9'), all_of([on('a', 'b'), Not(EMPTY)])],
)
def test_it_is_proved_that_there_is_no_plan(goal: Formula) -> None:
    problem = problem_of((('a',), ('b',)), goal)

    assert shortest.shortest(problem) is None
    with pytest.raises(NoPlanError, match='proved'):
        search.plan_of(problem)


def test_a_search_gives_up_after_a_number_of_states() -> None:
    dice = random.Random(1)
    start, goal = dealt(dice, 8, 3), dealt(dice, 8, 3)
    problem = problem_of(start, all_of([*standing(goal), EMPTY]))

    with pytest.raises(TooLargeError):
        shortest.shortest(problem, 10)


def test_a_plan_of_kairos_is_shortened_where_the_search_is_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = problem_of((('a', 'b'), (), ('c',)), all_of([on('c', 'b'), EMPTY]))
    calls = ['c', 'place_1', 'b', 'c', 'b', 'a', 'c', 'b']
    plan = _plan(problem, calls)
    assert problem.is_solved_by(plan)
    monkeypatch.setattr(shortest, 'MOST_STATES', 0)
    monkeypatch.setattr(search, 'solve', lambda _, enough: plan)

    assert picks(plan) == 4
    found = search.plan_of(problem)
    assert problem.is_solved_by(found)
    assert picks(found) == 1


def test_parts_are_shortened_between_the_states_at_their_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = problem_of((('a',), (), ('c',), ()), all_of([on('a', 'c'), on('c', 'place_1')]))
    calls = ['a', 'place_1', 'a', 'place_3', 'c', 'place_1', 'a', 'c']
    monkeypatch.setattr(shortest, 'PARTS', (2,))

    found = shortened(problem, _plan(problem, calls))

    assert problem.is_solved_by(found)
    assert [action.call[1] for action in found] == ['a', 'place_3', 'c', 'place_1', 'a', 'c']


def _plan(problem: Problem, words: Sequence[str]) -> list[Action]:
    """Return the actions of calls that are possible one after the other."""
    so, plan = problem.so, []
    for i, word in enumerate(words):
        call = (('pick', 'place')[i % 2], word)
        plan.append(next(a for a in problem.actions if a.call == call and a.needs <= so))
        so = plan[-1].after(so)
    return plan


def test_nothing_is_put_on_others_on_the_way_where_that_can_be() -> None:
    goal = on('a', 'place_1')
    roomy = problem_of((('a', 'b'), (), ('c',), ()), goal)
    narrow = problem_of((('a', 'b'), (), ('c',)), goal)

    plan = search.plan_of(roomy, flat=True)
    assert [action.call[1] for action in plan] == ['b', 'place_3', 'a', 'place_1']
    assert [action.call[1] for action in search.plan_of(narrow, flat=True)][:2] == ['b', 'c']
