"""A plan as a difference to the one before."""

import pytest

from bbllm.cli.views.output import Output
from bbllm.cli.views.question import show
from bbllm.core.approval import ApprovalRequest, RequestKind
from bbllm.core.plan_change import marked_lines, plan_change


def shown(*args: object) -> list[str]:
    return [f'{step.mark} {step}' for step in plan_change(*args)]  # type: ignore[arg-type]


def test_repaired_plan_shows_what_is_done_kept_new_and_dropped() -> None:
    before = ('pick a', 'place a', 'pick b', 'place b', 'rest')

    assert shown(('pick a', 'place a', 'pick c', 'place b', 'rest'), before, {0, 1}) == [
        *('done 0: pick a', 'done 1: place a', 'dropped 2: pick b', 'new 2: pick c'),
        *('kept 3: place b', 'kept 4: rest'),
    ]
    assert shown(('pick a',), ()) == ['kept 0: pick a']


@pytest.mark.parametrize(
    ('steps', 'before'),
    [((), ('a', 'b')), (('a', 'a', 'b'), ('a', 'b', 'a')), (('x',) * 300, ('x',) * 299)],
)
def test_every_step_of_both_plans_is_shown_once(
    steps: tuple[str, ...], before: tuple[str, ...]
) -> None:
    change = plan_change(steps, before)

    assert [step.text for step in change if step.mark != 'dropped'] == [*steps]
    kept_or_dropped = [step.text for step in change if step.mark in ('kept', 'dropped')]
    assert kept_or_dropped == [*before]


def request(*steps: str, episode: str = 'e1') -> ApprovalRequest:
    return ApprovalRequest(
        kind=RequestKind.PLAN,
        title='A plan',
        steps=steps,
        goal=('it is on A',),
        episode_id=episode,
    )


def test_the_lines_of_a_request_are_marked_by_the_one_before_it() -> None:
    first, second = request('pick a', 'place a on B'), request('pick a', 'place a on C')

    assert list(marked_lines(second, first, {0})) == [
        ('done', '0: pick a'),
        ('dropped', '1: place a on B'),
        ('new', '1: place a on C'),
        ('', 'the planner states: checked at the end: it is on A'),
    ]


def test_the_request_of_another_episode_is_no_plan_before() -> None:
    other = request('pick b', episode='e0')

    assert [mark for mark, _ in marked_lines(request('pick a'), other)] == ['kept', '']
    assert [mark for mark, _ in marked_lines(request('pick a'), None)] == ['kept', '']


def test_a_request_that_is_no_plan_drops_no_step_of_one() -> None:
    stopped = ApprovalRequest(
        kind=RequestKind.RESUME, title='It has stopped', about=('a reflex',), episode_id='e1'
    )

    assert list(marked_lines(stopped, request('pick a'))) == [('', 'a reflex')]


def test_a_terminal_shows_what_has_become_of_each_step(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = request('pick a', 'place a on B'), request('pick a', 'place a on C')

    show(second, Output(), '', first, {0})

    shown = capsys.readouterr().out
    assert 'done 0: pick a' in shown and 'dropped 1: place a on B' in shown
    assert 'new 1: place a on C' in shown
