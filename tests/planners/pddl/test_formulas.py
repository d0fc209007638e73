"""Formulas of PDDL: how they are simplified, and their text."""

from bbllm_planners.pddl.formulas import (
    FALSE,
    TRUE,
    Action,
    Atom,
    Not,
    Problem,
    all_of,
    any_of,
    negation,
)

A, B = Atom('at', ('Red_Cube', 'location_A')), Atom('clear', ('and',))


def test_what_is_certain_leaves_a_formula() -> None:
    assert all_of([TRUE, A, A]) == A
    assert all_of([A, FALSE]) == FALSE
    assert any_of([FALSE, A]) == A
    assert any_of([A, TRUE]) == TRUE
    assert (all_of([]), any_of([])) == (TRUE, FALSE)
    assert negation(negation(A)) == A
    assert negation(TRUE) == FALSE


def test_names_of_a_scene_become_names_of_pddl() -> None:
    action = Action(
        call=('pick', 'Red_Cube'),
        needs=frozenset({A}),
        never=frozenset({B}),
        adds=frozenset({B}),
        removes=frozenset({A}),
        cost=1,
    )

    domain, problem = Problem([action], frozenset({A}), any_of([A, Not(B)])).texts()

    red, place, word = 'x0_red_cube', 'x1_location_a', 'x2_and'
    assert f':precondition (and (at {red} {place}) (not (clear {word})))' in domain
    assert (
        f':effect (and (not (at {red} {place})) (clear {word}) (increase (total-cost) 1))'
        in domain
    )
    assert f'(:constants {red} {place} {word})' in domain
    assert f'(:init (= (total-cost) 0) (at {red} {place}))' in problem
    assert f'(:goal (or (at {red} {place}) (not (clear {word}))))' in problem


def test_a_plan_is_carried_out_in_thought() -> None:
    there, done = Atom('at', ('b', 'c')), Atom('done')
    move = Action(
        call=('m',), needs=frozenset({A}), adds=frozenset({there}), removes=frozenset({A})
    )
    end = Action(
        call=('e',),
        needs=frozenset({there}),
        never=frozenset({A}),
        adds=frozenset({done}),
        removes=frozenset(),
    )
    problem = Problem([move, end], frozenset({A}), all_of([done, Not(A)]))

    assert problem.is_solved_by([move, end])
    assert not problem.is_solved_by([move])  # cut
    assert not problem.is_solved_by([end, move])
    assert not Problem([], problem.so, problem.goal, {end: A}).is_solved_by([move, end])
