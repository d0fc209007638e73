"""A plan as a difference to the one before."""

import pytest

from bbllm.core.plan_change import plan_change


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
