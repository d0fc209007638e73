"""What counts as found out in time, on journals of episodes that never were."""

import pytest

from bbllm.core.errors import UnknownNameError
from bbllm.core.types import Code, Status
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.scorers.information import (
    GATED,
    REST_IS_FIXED,
    REST_IS_MOVABLE,
    WEIGHED,
    Information,
    gathered,
)
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.suite import load_suite
from tests.bench.made_journals import Journal

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


def felt_both() -> Journal:
    """Both blocks were weighed, and put down again."""
    return Journal(STACK).reply().pick(LIGHT).place().pick(HEAVY).place()


def slipped(**how: bool) -> Journal:
    """The lighter block, of a plan made in one go, was put down by a call that failed."""
    journal = Journal(STACK).reply().pick(HEAVY).place().pick(LIGHT)
    return journal.place(HEAVY, status=Status.FAILED, **how)


def second(**how: bool) -> Journal:
    """The heavier block was lifted in a way that may not weigh it, and the stack is built."""
    journal = Journal(STACK).reply().pick(LIGHT).place().pick(HEAVY, **how).place()
    return journal.reply().pick(LIGHT).place(HEAVY)


JOURNALS: dict[str, tuple[Case, Journal, str]] = {
    'both are weighed, and then stacked': (
        STACK, felt_both().reply().pick(LIGHT).place(HEAVY).reply(), WEIGHED),
    'a plan made in one go that weighs all on its way': (
        STACK, Journal(STACK).reply().pick(HEAVY).place().pick(LIGHT).place(HEAVY).reply(),
        f'Weighed only after the reply that put {LIGHT} down: '
        f'{" and ".join(item.name for item in STACK.scene.movables)}.'),
    'a Body that is asked on the way': (
        STACK, Journal(STACK).reply().pick(HEAVY).reply('body').place().reply('body').pick(LIGHT)
        .reply('body').place(HEAVY).reply(), 'Weighed only after'),
    'what was up was not observed': (STACK, second(observed=False), f'Not weighed: {HEAVY}.'),
    'no force was measured': (STACK, second(felt=False), f'Not weighed: {HEAVY}.'),
    'it was not up': (STACK, second(up=False), f'Not weighed: {HEAVY}.'),
    'a later observation of what is still held': (
        STACK, Journal(STACK).reply().pick(LIGHT).place().pick(HEAVY, felt=False).wait().place()
        .reply().pick(LIGHT).place(HEAVY), WEIGHED),
    'the last of a tower is weighed when the others stand': (
        THREE, Journal(THREE).reply().pick(BOTTOM).place().pick(MIDDLE).reply().place(BOTTOM)
        .pick(TOP).reply().place(MIDDLE).reply(), WEIGHED),
    'a place that failed may have built the tower, and decides': (
        STACK, slipped().reply(), 'Weighed only after'),
    'what a place that failed kept in the hand is put down by the next': (
        STACK, slipped(keeps=True).reply().place(HEAVY).reply(), WEIGHED),
    'a hand opens on what a place that failed kept': (
        CORNER, Journal(CORNER).reply().pick(LOOSE).place(status=Status.FAILED, keeps=True)
        .reply().open_gripper().reply(), REST_IS_FIXED),
    'what a place that failed let go of high up is not weighed there': (
        THREE, Journal(THREE).reply().pick(BOTTOM).place().pick(MIDDLE).place(BOTTOM)
        .pick(TOP, felt=False).place(MIDDLE, status=Status.FAILED).wait()
        .reply().pick(TOP, felt=False).place(MIDDLE), f'Not weighed: {TOP}.'),
    'without a model nobody decided': (HOLD, Journal(HOLD).pick(MORE), 'No model was asked'),
    'nor who put it down': (
        STACK, Journal(STACK).pick(LIGHT).place(HEAVY),
        f'No model was asked before {LIGHT} was put down.'),
    'what is kept in the hand needs a last reply': (
        HOLD, Journal(HOLD).reply().pick(LESS).place().pick(MORE), 'Weighed only after'),
    'which decides': (HOLD, Journal(HOLD).reply().pick(LESS).place().pick(MORE).reply(), WEIGHED),
    'one try that rises': (
        CORNER, Journal(CORNER).reply().pick(LOOSE).reply().place().reply(), REST_IS_FIXED),
    'one try that does not rise': (
        ON_FIXED, Journal(ON_FIXED).reply().pick(BASE).reply().pick(FREE).place(BASE).reply(),
        REST_IS_MOVABLE),
    'a pick that says done while the block is still down': (
        CORNER, Journal(CORNER).reply().pick(LOOSE, up=False).reply().place(), 'Of 2 blocks'),
    'a grasp that failed for another reason': (
        CORNER, Journal(CORNER).reply().pick(BOLTED, code=Code.GRASP_FAILED).reply().pick(LOOSE)
        .place(), GATED),
    'a pick in the same reply that its place depends on': (
        ON_FIXED, Journal(ON_FIXED).reply().pick(FREE).place(BASE).reply(), GATED),
    'a pick after the place': (
        CORNER, Journal(CORNER).reply().place().pick(LOOSE).reply(), 'Nothing was put down'),
    # The tower decides, not what was last put beside it.
    'what was stacked by luck, and an observation of something else': (
        THREE, Journal(THREE).reply().pick(MIDDLE).place(BOTTOM).reply().pick(TOP).place(MIDDLE)
        .reply(), f'Not weighed: {BOTTOM}; weighed only'),
}  # fmt: skip
"""By what happened: the rule by which enough was known, or how what was lacking begins."""


@pytest.mark.parametrize(('case', 'journal', 'reported'), JOURNALS.values(), ids=JOURNALS.keys())
def test_only_what_was_found_out_before_the_reply_that_decides_informs(
    case: Case, journal: Journal, reported: str
) -> None:
    found = known(case, journal)

    assert (found.rule or found.reason).startswith(reported)
    assert found.holds is (reported in (WEIGHED, GATED, REST_IS_FIXED, REST_IS_MOVABLE))


@pytest.mark.parametrize(('observed', 'stays'), [(True, False), (True, True), (False, False)])
def test_a_hand_that_opens_after_a_place_that_let_go_decides_nothing_anew(
    observed: bool, stays: bool
) -> None:
    """Else the tower that was built blindly would be one that was built when all was known."""
    journal = slipped(observed=observed, stays=stays).reply().open_gripper().reply()

    assert not known(STACK, journal).holds


@pytest.mark.parametrize('planner', ['brain_body', 'base_llm'])
def test_a_planner_whose_prompts_have_no_force_is_not_informed_by_measurements(
    planner: str,
) -> None:
    """Whatever the journal holds: nobody was shown it, so whoever is right was lucky."""
    stack = Journal(STACK, planner).reply().pick(LIGHT).place().pick(HEAVY).place()
    stack.reply().pick(LIGHT).place(HEAVY).reply()
    hold = Journal(HOLD, planner).reply().pick(LESS).place().pick(MORE).reply()

    for case, journal in ((STACK, stack), (HOLD, hold)):
        assert known(case, journal).reason == f'The prompts of {planner} tell no force.'


def test_a_planner_that_is_not_installed_cannot_be_judged_informed() -> None:
    journal = Journal(STACK, 'gone').reply().pick(LIGHT).place(HEAVY).reply()

    with pytest.raises(UnknownNameError, match='gone'):
        gathered(STACK, journal.episode())
