"""Calls of one function, a few at once, each in a process that ends with them."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any, TypeVar

Result = TypeVar('Result')


def results_of(
    function: Callable[..., Result], jobs: Sequence[tuple[Any, ...]], processes: int
) -> Generator[Result, None, None]:
    """
    Yield the results of all jobs as they come, in any order.

    Where whoever asks wants no more of them, jobs that were not begun are dropped. Ctrl-C, which
    every process of a terminal gets, ends none of the others: it is up to whoever asks.

    Args:
        function: One of a module, so that other processes find it.
        jobs: Its arguments.
        processes: How many at once; with 1, all run in this process.
    """
    if processes == 1:
        for job in jobs:
            yield function(*job)
        return
    # Spawned, not forked: MuJoCo and NumPy may have threads already.
    context = multiprocessing.get_context('spawn')
    pool = ProcessPoolExecutor(processes, context, signal.signal, (signal.SIGINT, signal.SIG_IGN))
    try:
        for future in as_completed([pool.submit(function, *job) for job in jobs]):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)
