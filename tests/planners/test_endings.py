"""What models write in place of a plan: that all is done, or that it cannot be done."""

from __future__ import annotations

import pytest

from bbllm.planners.common.termination import MAX_REASON, reason_of, says_done


@pytest.mark.parametrize(
    'line',
    ['done', 'Done.', '# done', '**All done!**', 'done()', '- done', 'Done. (The salmon is in.)'],
)
def test_a_line_says_that_all_is_done_however_it_is_put(line: str) -> None:
    assert says_done(line)


@pytest.mark.parametrize(
    'line',
    [
        '',
        'done with the salmon',
        'undone',
        'I am done',
        'done(fridge1)',
        'done: no',
        f'done{" " * 100_000}x',
        f'done{"." * 300}',
    ],
)
def test_a_line_that_says_more_does_not_say_that_all_is_done(line: str) -> None:
    assert not says_done(line)


@pytest.mark.parametrize(
    ('line', 'reason'),
    [
        ('cannot: no tv', 'no tv'),
        ('> **Cannot**: no tv', 'no tv'),
        ('# cannot : no tv `', 'no tv'),
        ('I cannot: no tv', None),
        ('cannot open it', None),
        ('cannot:  ', None),
    ],
)
def test_the_reason_is_what_stands_behind_the_colon(line: str, reason: str | None) -> None:
    assert reason_of(line) == reason


def test_a_reason_without_end_is_cut() -> None:
    assert reason_of(f'cannot: {"x" * 10_000}') == 'x' * MAX_REASON
