"""What the ledger makes of episodes."""

from dataclasses import replace

from bbllm.core.events import RepairBegun
from bbllm.core.types import Code, Outcome
from bbllm_bench.ledger.failures import NOT_TRIED, REHEARSED, failures_of
from tests.bench.ledger.failing_episodes import FAR, UNCOVER, far_table, play, stack
from tests.planners.symbolic_table import busy_table


def test_a_failure_is_recovered_where_the_same_call_succeeds_later() -> None:
    episode, brain = play(stack(), ['0: pick(red_cube)\n1: place(location_A)', UNCOVER])

    (failure,) = failures_of(episode)

    assert (failure.status, failure.code, failure.call) == (
        'REJECTED',
        'COVERED',
        'pick(red_cube)',
    )
    assert 'blue_cube' in failure.sentence
    assert failure.kinds == 'cube'
    assert failure.plan_before == 'pick(red_cube)\nplace(location_A)'
    assert failure.plan_after.split('\n')[:3] == [
        'pick(blue_cube)',
        'place(location_B)',
        'pick(red_cube)',
    ]
    assert failure.recovered == 'call'
    assert failure.worked == 'pick(blue_cube)\nplace(location_B)\npick(red_cube)'
    assert (failure.loops, failure.requests) == (1, 1)
    repair = brain.requests[1].prompt
    assert 0 < failure.tokens <= len(repair)
    assert failures_of(episode, 'failed')[0].recovered == 'call'


def test_a_failure_is_recovered_where_another_plan_does_the_task() -> None:
    episode, _ = play(far_table(), FAR)

    (failure,) = failures_of(episode)

    assert (failure.code, failure.recovered, failure.ending) == (
        'OUT_OF_WORKSPACE',
        'task',
        'FINISHED',
    )
    assert failure.plan_after == 'pick(red_cube)\nplace(location_A)'
    assert failure.worked == 'place(location_A)'
    # The bench's verdict counts for more than what the planner believes.
    assert failures_of(episode, 'passed')[0].recovered == 'task'
    assert failures_of(episode, 'failed')[0].recovered == ''
    assert failures_of(episode, 'failed')[0].worked == ''


def test_a_step_that_stays_failed_is_not_recovered_and_no_plan_follows_it() -> None:
    plan = '0: pick(red_cube)\n1: place(location_I)\n2: place(location_A)'
    episode, _ = play(far_table(), [plan], k=0)

    (failure,) = failures_of(episode, 'passed')

    assert (failure.plan_after, failure.recovered, failure.loops) == ('', '', 0)


def test_costs_end_with_the_recovery() -> None:
    slip = ('pick(red_cube)', Code.GRASP_FAILED, 'It slipped.')
    plan = '0: pick(red_cube)\n1: place(location_A)'
    repairs = ['New plan:\n0: pick(red_cube)\n1: place(location_I)', FAR[1]]
    episode, _ = play(busy_table(unreachable=['location_I'], faults=[slip]), [plan, *repairs])

    first, second = failures_of(episode)

    assert (first.sentence, first.recovered, first.loops, first.requests) == (
        'It slipped.',
        'call',
        1,
        1,
    )
    assert (second.number, second.call, second.loops) == (2, 'place(location_I)', 1)


def test_steps_without_a_call_are_failures_and_words_of_a_person_are_not() -> None:
    plans = ['0: pick(red_cube)\n1: place(location_A)', '0: pick(a unicorn)', FAR[0]]
    replies = [plans[0], *(f'New plan:\n{plan}' for plan in plans[1:]), FAR[1]]

    episode, _ = play(far_table(), replies, remark='leave the green cube')

    unknown, far = failures_of(episode)
    assert (unknown.status, unknown.code, unknown.call) == (NOT_TRIED, 'UNKNOWN_OBJECT', '')
    assert (unknown.step, unknown.recovered) == ('pick(a unicorn)', 'task')
    assert far.code == 'OUT_OF_WORKSPACE'
    assert (episode.feedback_loops, episode.remarks) == (2, 1)


def test_a_step_that_failed_in_a_rehearsal_is_a_failure_that_the_arm_did_not_have() -> None:
    episode, _ = play(far_table(), FAR)
    events = [
        replace(event, data=replace(event.data, rehearsed=True, code=Code.OUT_OF_WORKSPACE))
        if isinstance(event.data, RepairBegun)
        else event
        for event in episode.events
        if not (isinstance(event.data, Outcome) and not event.data.succeeded)
    ]

    (failure,) = failures_of(replace(episode, events=tuple(events)))

    assert (failure.status, failure.code, failure.call) == (REHEARSED, 'OUT_OF_WORKSPACE', '')
    assert (failure.step, failure.recovered) == ('place(location_I)', 'task')


def test_rules_of_a_world_are_errors_of_their_own() -> None:
    episode, _ = play(far_table(), FAR)
    (failure,) = failures_of(episode)

    assert failure.error == 'OUT_OF_WORKSPACE'
    assert (
        replace(failure, code='PRECONDITION', raw='both_hands').error == 'PRECONDITION both_hands'
    )
