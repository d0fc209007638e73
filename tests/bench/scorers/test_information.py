"""What counts as found out in time, on journals of episodes that never were."""

import pytest
from made_journals import Journal

from bbllm.bench.scene_sampling.generator import make_case
from bbllm.bench.scorers.information import (
    REST_IS_FIXED,
    REST_IS_MOVABLE,
    WEIGHED,
    Information,
    gathered,
)
from bbllm.bench.suites.case import Case
from bbllm.bench.suites.suite import load_suite
from bbllm.core.errors import UnknownNameError
from bbllm.core.types import Code, Status

SUITE = load_suite('partial')


def case_of(task: str) -> Case:
    return make_case(SUITE, task, seed=0, trial=0)


def by_weight(case: Case) -> list[str]:
    """Names, the lightest first."""
    return [spec.name for spec in sorted(case.scene.objects, key=lambda spec: spec.mass)]


def loose_and_fixed(case: Case) -> tuple[str, str]:
    one, other = sorted(case.scene.objects, key=lambda spec: spec.fixed)
    return one.name, other.name


STACK = case_of('lighter_on_heavier')
LIGHT, HEAVY = by_weight(STACK)
HOLD = case_of('pick_heavier')
LESS, MORE = by_weight(HOLD)
CORNER = case_of('movable_to_corner')
LOOSE, BOLTED = loose_and_fixed(CORNER)
ON_FIXED = case_of('movable_on_fixed')
FREE, BASE = loose_and_fixed(ON_FIXED)
THREE = case_of('tower_by_weight')
TOP, MIDDLE, BOTTOM = by_weight(THREE)


def known(case: Case, journal: Journal) -> Information:
    found = gathered(case, journal.episode())
    assert found.needed == case.needs
    # There is a rule where it was enough, and a sentence where it was not.
    assert bool(found.rule) == found.holds
    assert found.holds == (found.reason == '')
    return found


@pytest.mark.parametrize('task', ['stack', 'corners', 'three_tower'])
def test_where_nothing_is_needed_nothing_is_lacking(task: str) -> None:
    case = case_of(task)

    assert gathered(case, Journal(case).episode()) == Information(needed='none')


def test_who_weighs_both_and_then_stacks_is_informed() -> None:
    journal = Journal(STACK).reply().pick(LIGHT).place().pick(HEAVY).place()
    journal.reply().pick(LIGHT).place(HEAVY).reply()

    assert known(STACK, journal).rule == WEIGHED


def test_a_plan_made_in_one_go_is_not_informed_though_it_weighs_all_on_its_way() -> None:
    journal = Journal(STACK).reply().pick(HEAVY).place().pick(LIGHT).place(HEAVY).reply()

    assert known(STACK, journal).reason == (
        f'Weighed only after the reply that put {LIGHT} down: {_in_order(STACK)}.'
    )


def _in_order(case: Case) -> str:
    return ' and '.join(item.name for item in case.scene.movables)


def test_a_body_that_is_asked_on_the_way_does_not_make_a_plan_informed() -> None:
    journal = Journal(STACK).reply().pick(HEAVY).reply('body').place()
    journal.reply('body').pick(LIGHT).reply('body').place(HEAVY).reply()

    assert not known(STACK, journal).holds


@pytest.mark.parametrize(
    'journal',
    [
        Journal(STACK).reply().pick(LIGHT).place().pick(HEAVY, look=False).place(),
        Journal(STACK).reply().pick(LIGHT).place().pick(HEAVY, felt=False).place(),
        Journal(STACK).reply().pick(LIGHT).place().pick(HEAVY, up=False).place(),
    ],
    ids=['nobody looked', 'no force was measured', 'it was not up'],
)
def test_a_block_that_was_not_felt_up_in_the_hand_is_not_weighed(journal: Journal) -> None:
    journal.reply().pick(LIGHT).place(HEAVY)

    assert known(STACK, journal).reason == f'Not weighed: {HEAVY}.'


def test_a_later_look_at_what_is_still_held_weighs_it() -> None:
    journal = Journal(STACK).reply().pick(LIGHT).place().pick(HEAVY, felt=False).wait().place()
    journal.reply().pick(LIGHT).place(HEAVY)

    assert known(STACK, journal).holds


def test_the_last_block_of_a_tower_may_be_weighed_when_the_others_stand() -> None:
    journal = Journal(THREE).reply().pick(BOTTOM).place().pick(MIDDLE).reply().place(BOTTOM)
    journal.pick(TOP).reply().place(MIDDLE).reply()

    assert known(THREE, journal).rule == WEIGHED


def test_a_place_that_failed_may_still_have_built_the_tower_and_so_decides() -> None:
    journal = Journal(STACK).reply().pick(HEAVY).place().pick(LIGHT)
    journal.place(HEAVY, status=Status.FAILED).reply()

    assert not known(STACK, journal).holds


def test_what_a_place_that_failed_kept_in_the_hand_is_put_down_by_the_next_one() -> None:
    journal = Journal(STACK).reply().pick(HEAVY).place().pick(LIGHT)
    journal.place(HEAVY, status=Status.FAILED, keeps=True)

    assert known(STACK, journal.reply().place(HEAVY).reply()).holds


@pytest.mark.parametrize(('look', 'stays'), [(True, False), (True, True), (False, False)])
def test_a_hand_that_opens_after_a_place_that_let_go_decides_nothing_anew(
    look: bool, stays: bool
) -> None:
    """Else the tower that was built blindly would be one that was built when all was known."""
    journal = Journal(STACK).reply().pick(HEAVY).place().pick(LIGHT)
    journal.place(HEAVY, status=Status.FAILED, look=look, stays=stays)
    journal.reply().open_gripper().reply()

    assert not known(STACK, journal).holds


def test_a_hand_that_opens_on_what_a_place_that_failed_kept_decides() -> None:
    journal = Journal(CORNER).reply().pick(LOOSE).place(status=Status.FAILED, keeps=True)
    journal.reply().open_gripper().reply()

    assert known(CORNER, journal).rule == REST_IS_FIXED


def test_what_a_place_that_failed_let_go_of_high_up_is_not_weighed_there() -> None:
    journal = Journal(THREE).reply().pick(BOTTOM).place().pick(MIDDLE).place(BOTTOM)
    journal.pick(TOP, felt=False).place(MIDDLE, status=Status.FAILED).wait()

    assert known(THREE, journal.reply().pick(TOP, felt=False).place(MIDDLE)).reason == (
        f'Not weighed: {TOP}.'
    )


@pytest.mark.parametrize('planner', ['brain_body', 'base_llm'])
def test_a_planner_whose_prompts_tell_no_force_is_not_informed_by_what_was_measured(
    planner: str,
) -> None:
    """Whatever the journal holds: nobody was shown it, so whoever is right was lucky."""
    stack = Journal(STACK, planner).reply().pick(LIGHT).place().pick(HEAVY).place()
    stack.reply().pick(LIGHT).place(HEAVY).reply()
    hold = Journal(HOLD, planner).reply().pick(LESS).place().pick(MORE).reply()

    for case, journal in ((STACK, stack), (HOLD, hold)):
        assert known(case, journal).reason == f'The prompts of {planner} tell no force.'


def test_of_a_planner_that_is_not_installed_nobody_can_say_what_it_knew() -> None:
    journal = Journal(STACK, 'gone').reply().pick(LIGHT).place(HEAVY).reply()

    with pytest.raises(UnknownNameError, match='gone'):
        gathered(STACK, journal.episode())


def test_without_a_model_nobody_decided() -> None:
    assert known(HOLD, Journal(HOLD).pick(MORE)).reason.startswith('No model was asked')
    put = Journal(STACK).pick(LIGHT).place(HEAVY)
    assert known(STACK, put).reason == f'No model was asked before {LIGHT} was put down.'


def test_to_keep_the_heavier_block_in_the_hand_is_decided_by_the_last_reply() -> None:
    journal = Journal(HOLD).reply().pick(LESS).place().pick(MORE)

    assert not known(HOLD, journal).holds
    assert known(HOLD, journal.reply()).rule == WEIGHED


def test_one_try_that_rises_tells_which_block_is_fixed() -> None:
    journal = Journal(CORNER).reply().pick(LOOSE).reply().place().reply()

    assert known(CORNER, journal).rule == REST_IS_FIXED


def test_one_try_that_does_not_rise_tells_which_block_can_be_moved() -> None:
    journal = Journal(ON_FIXED).reply().pick(BASE).reply().pick(FREE).place(BASE).reply()

    assert known(ON_FIXED, journal).rule == REST_IS_MOVABLE


def test_a_pick_that_says_done_while_the_block_is_still_down_tells_nothing() -> None:
    journal = Journal(CORNER).reply().pick(LOOSE, up=False).reply().place()

    assert not known(CORNER, journal).holds


def test_a_grasp_that_failed_for_another_reason_tells_nothing() -> None:
    journal = Journal(CORNER).reply().pick(BOLTED, code=Code.GRASP_FAILED)

    assert not known(CORNER, journal.reply().pick(LOOSE).place()).holds


def test_what_was_stacked_by_luck_is_not_informed_by_a_look_at_something_else() -> None:
    """The tower decides, not what was last put beside it."""
    journal = Journal(THREE).reply().pick(MIDDLE).place(BOTTOM).reply()
    journal.pick(TOP).place(MIDDLE).reply()

    assert known(THREE, journal).reason.startswith(f'Not weighed: {BOTTOM}; weighed only')
