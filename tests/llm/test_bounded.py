from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from bbllm.llm.openai.timeouts import Bounded, TooLateError

OnOpen = Callable[[Callable[[], None]], None]


def test_items_come_in_order() -> None:
    bounded = Bounded(lambda _: iter(range(1000)), first_s=5.0, gap_s=5.0, total_s=5.0)

    assert list(bounded) == list(range(1000))


def test_an_error_of_the_work_is_raised_in_the_callers_thread() -> None:
    def make(_: OnOpen) -> Iterator[int]:
        yield 1
        raise KeyError('lost')

    items = iter(Bounded(make, first_s=5.0, gap_s=5.0, total_s=5.0))

    assert next(items) == 1
    with pytest.raises(KeyError, match='lost'):
        next(items)


@pytest.mark.parametrize(
    ('limits', 'message'),
    [
        ((0.05, 5.0, 5.0), 'the first word'),
        ((5.0, 5.0, 0.05), 'the whole reply'),
    ],
)
def test_work_that_hangs_is_left_and_broken_off(
    limits: tuple[float, float, float], message: str
) -> None:
    broken_off = threading.Event()

    def make(on_open: OnOpen) -> Iterator[int]:
        on_open(broken_off.set)
        broken_off.wait(10.0)
        yield 1

    first_s, gap_s, total_s = limits
    with pytest.raises(TooLateError, match=message):
        list(Bounded(make, first_s=first_s, gap_s=gap_s, total_s=total_s))
    assert broken_off.is_set()


def test_a_gap_between_items_is_limited_apart() -> None:
    closed = threading.Event()

    def make(on_open: OnOpen) -> Iterator[int]:
        on_open(closed.set)
        yield 1
        closed.wait(10.0)

    with pytest.raises(TooLateError, match='the next word'):
        list(Bounded(make, first_s=5.0, gap_s=0.05, total_s=5.0))


def test_a_consumer_that_leaves_ends_the_work() -> None:
    ended = threading.Event()

    def make(_: OnOpen) -> Iterator[int]:
        try:
            yield from range(10**9)
        finally:
            ended.set()

    items = iter(Bounded(make, first_s=5.0, gap_s=5.0, total_s=5.0))
    next(items)
    items.close()  # type: ignore[attr-defined]  # that of a generator

    assert ended.wait(5.0)


def test_the_beat_is_heard_while_nothing_comes_and_may_give_up() -> None:
    done = threading.Event()

    def make(_: OnOpen) -> Iterator[int]:
        done.wait(10.0)
        yield 1

    def beat() -> None:
        raise InterruptedError('enough')

    begun_s = time.monotonic()
    with pytest.raises(InterruptedError, match='enough'):
        list(Bounded(make, first_s=9.0, gap_s=9.0, total_s=9.0, beat=beat))
    assert time.monotonic() - begun_s < 8.0
    done.set()
