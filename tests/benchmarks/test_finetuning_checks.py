"""What a pair must be to be trained on: its form, and physics that could have been."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bbllm.planners.llm_pop.fine_tuned import FtRound, Question, Vector
from bbllm.planners.llm_pop.fine_tuned_grammar import parse_actions
from bbllm_bench.benchmarks.finetuning.collected import Checked
from bbllm_bench.benchmarks.finetuning.pairs import Pair
from tests.benchmarks import made_pairs as made
from tests.benchmarks.made_pairs import look, pair, weighing


def refused(*pairs: Pair) -> dict[str, str]:
    """Return the rules that were broken, with what was found."""
    checked = Checked()
    checked.take(pairs)
    assert len(checked.pairs) == len(pairs) - checked.refused.total()
    return checked.examples


@pytest.mark.parametrize('question', [Question.ENOUGH, Question.GATHER, Question.SOLVE])
def test_a_pair_that_was_measured_is_good_with_and_without_known_masses(
    question: Question,
) -> None:
    assert refused(pair(question)) == {}
    assert refused(pair(question, masses_kg={})) == {}


def test_a_pick_of_what_is_fixed_is_good_where_nothing_moved() -> None:
    stuck = FtRound(
        'Lift it. Failed: red_cube did not rise: it took more than 10 N.',
        parse_actions("[pick('red_cube')]"),
        (look(hand=made.OVER_RED),),
    )
    moved = replace(stuck, vectors=(look((0.45, -0.12, 0.02), hand=made.OVER_RED),))

    assert refused(pair(weighed=stuck)) == {}
    before = FtRound('Wait.', parse_actions('[wait()]'), (look(),))
    two = replace(stuck, actions=(*before.actions, *stuck.actions))
    assert refused(pair(weighed=replace(two, vectors=(look(), *stuck.vectors)))) == {}
    assert 'fixed block moved' in refused(
        pair(weighed=replace(two, vectors=(look(), *moved.vectors)))
    )


def after_pick(**changes: Any) -> FtRound:
    """Return the round of weighing whose first observation is another one."""
    usual: dict[str, Any] = {
        'red': (0.45, -0.10, 0.100),
        'hand': made.OVER_RED,
        'holds_kg': 0.08,
        'opening_m': 0.040,
    }
    first = look(**(usual | changes))
    return weighing((first, *made.WEIGHED[1:]))


def after_place(vector: Vector) -> FtRound:
    return weighing((made.WEIGHED[0], vector, *made.WEIGHED[2:]))


def lifted_late(risen_m: float) -> FtRound:
    """Return the round in which the second block, whose first place was seen, rises so far."""
    vector = look(
        blue=(0.50, 0.15, 0.020 + risen_m),
        hand=(0.50, 0.15, 0.032 + risen_m),
        holds_kg=0.15,
        opening_m=0.040,
    )
    return weighing((*made.WEIGHED[:2], vector, made.WEIGHED[3]))


@pytest.mark.parametrize(
    ('round_', 'rule', 'found'),
    [
        (after_pick(red=(0.45, -0.20, 0.100)), 'block away from the hand', '0.101 m away'),
        (after_pick(opening_m=0.064), 'open fingers', 'red_cube is held by fingers'),
        (after_pick(holds_kg=0.15), 'force', 'red_cube weighs 0.78 N, but pulls 1.47 N'),
        (after_pick(holds_kg=-0.08), 'force', 'red_cube weighs 0.78 N, but pulls -0.78 N'),
        (
            after_pick(red=made.RED, hand=made.RED),
            'pick without a lift',
            'red_cube rose by 0.000 m',
        ),
        (lifted_late(0.0), 'pick without a lift', 'blue_cube rose by 0.000 m'),
        (
            after_place(look(hand=made.OVER_RED, opening_m=0.04)),
            'closed fingers',
            'red_cube was placed',
        ),
        (
            after_place(look((0.45, -0.05, 0.02), hand=made.OVER_RED)),
            'placed elsewhere',
            '0.050 m from where it was let go',
        ),
    ],
)
def test_observations_that_do_not_fit_what_was_done_are_refused(
    round_: FtRound, rule: str, found: str
) -> None:
    assert found in refused(pair(weighed=round_))[rule]


def test_forces_that_nobody_measured_are_no_data() -> None:
    def without_force(vector: Vector) -> Vector:
        return (*vector[:21], 0.0, 0.0, 0.0, *vector[24:])

    vectors = tuple(map(without_force, made.WEIGHED))

    assert 'no force' in refused(pair(weighed=weighing(vectors)))


def test_the_present_must_follow_from_the_past() -> None:
    elsewhere = look((0.40, -0.10, 0.020), hand=made.OVER_BLUE)

    assert 'red_cube is 0.050 m from where it was' in str(
        refused(pair(current=elsewhere))['past and present']
    )


@pytest.mark.parametrize(
    ('change', 'rule'),
    [
        (lambda p: replace(p, instruction=p.instruction.replace('Blocks', 'Bricks')), 'layout'),
        (lambda p: replace(p, instruction=p.instruction.replace('Which', 'What')), 'question'),
        (lambda p: replace(p, input=p.input.replace('Current: [', 'Current: [0.1, ')), 'numbers'),
        (lambda p: replace(p, input=p.input.replace('; ', ', ', 1)), 'observations for actions'),
        (lambda p: replace(p, input=p.input.replace('Round 2:', 'Second:')), 'layout'),
        (lambda p: replace(p, input=p.input.replace('0.100', 'high')), 'layout'),
        (lambda p: replace(p, input=p.input.replace('1.000', '0.900')), 'quaternion'),
        (lambda p: replace(p, input=p.input.replace('0.020', '-0.020')), 'under the table'),
        (
            lambda p: replace(p, instruction=p.instruction.replace('blue_cube', 'red_cube')),
            'layout',
        ),
        (lambda p: replace(p, output='Just do it.'), 'answer'),
        (
            lambda p: replace(p, output=made.SOLVE.replace('red_cube', 'pink_cube')),
            'unknown block',
        ),
        (lambda p: replace(p, output=made.SOLVE.replace('[1, 0', '[0, 0')), 'pose'),
        (lambda p: replace(p, output=made.SOLVE.replace('0.5,', '5,')), 'pose'),
        (
            lambda p: replace(p, output=made.SOLVE.replace("place('red", "place('blue")),
            'empty hand',
        ),
        (
            lambda p: replace(
                p, output="EXPLAIN: .\nACTION: [pick('red_cube'), pick('blue_cube')]"
            ),
            'full hand',
        ),
        (lambda p: replace(p, output='EXPLAIN: .\nACTION: [reset(), reset()]'), 'repetition'),
    ],
)
def test_a_pair_of_another_form_is_refused(change: Callable[[Pair], Pair], rule: str) -> None:
    assert list(refused(change(pair()))) == [rule]


def test_an_answer_to_another_question_is_refused() -> None:
    assert (
        'must begin with Yes or No' in refused(pair(Question.ENOUGH, answer=made.SOLVE))['answer']
    )
    assert 'at least one' in refused(pair(Question.GATHER, answer=made.KNOWN))['answer']


def test_the_same_pair_twice_counts_once() -> None:
    assert list(refused(pair(), pair())) == ['duplicate']
