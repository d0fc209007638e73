"""What processes use of the machine, as the kernel tells it (Linux, proc(5))."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path


def memory_mb(pids: Sequence[int], kind: str) -> float:
    """
    Add up the memory of processes [MB].

    Args:
        pids: The processes.
        kind: `Rss`, or `Pss`, which counts what several share once.

    Raises:
        OSError: One of them has gone.
    """
    total_kb = 0
    for pid in pids:
        for line in Path(f'/proc/{pid}/smaps_rollup').read_text().splitlines():
            if line.startswith(f'{kind}:'):
                total_kb += int(line.split()[1])
    return total_kb / 1024


def cores_used(pids: Sequence[int], duration_s: float) -> float:
    """
    Watch processes for a time [s] and return how many cores they kept busy.

    Raises:
        OSError: One of them has gone.
    """

    def ticks() -> int:
        # Behind the name, which may have blanks and brackets: user and system time.
        stats = [Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2] for pid in pids]
        return sum(int(stat.split()[11]) + int(stat.split()[12]) for stat in stats)

    before = ticks()
    time.sleep(duration_s)
    return (ticks() - before) / os.sysconf('SC_CLK_TCK') / duration_s
