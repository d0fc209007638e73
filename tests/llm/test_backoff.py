from __future__ import annotations

from bbllm.llm.openai.client import Backoff
from bbllm.llm.openai.failures import retry_after_s


def test_waits_double_up_to_the_longest() -> None:
    backoff = Backoff(first_s=1.0, longest_s=5.0)

    assert [backoff.wait_s(n, None, lambda: 1.0) for n in (1, 2, 3, 4, 99)] == [1, 2, 4, 5, 5]


def test_the_random_part_only_shortens_a_wait() -> None:
    assert Backoff(first_s=1.0).wait_s(1, None, lambda: 0.0) == 0.5


def test_what_the_server_asks_for_is_never_shortened() -> None:
    assert Backoff(first_s=1.0).wait_s(1, 9.0, lambda: 0.0) == 9.0


def test_retry_after_is_read_as_seconds_milliseconds_or_date() -> None:
    date = 'Thu, 01 Jan 1970 00:01:40 GMT'

    assert retry_after_s({'retry-after': '3'}) == 3.0
    assert retry_after_s({'retry-after-ms': '250', 'retry-after': '3'}) == 0.25
    assert retry_after_s({'retry-after': date}, clock=lambda: 40.0) == 60.0
    assert retry_after_s({'retry-after': date}, clock=lambda: 400.0) == 0.0


def test_nonsense_in_retry_after_is_ignored() -> None:
    for text in ('soon', '', 'nan', 'inf'):
        assert retry_after_s({'retry-after': text}) is None
