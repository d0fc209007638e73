"""
How long small packets take to the robot and back, five hundred of them in a second.

The robot wants an answer to each of its packets within a millisecond; libfranka's documentation
asks for less than half of it between reading and writing. What `ping` measures is less than that:
the way to the robot's control and back, answered by its kernel. The driver's own cycle, under load
and with real-time priority, shows itself only in the robot's control_command_success_rate.
"""

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

PERIOD_S = 0.002
"""The shortest that `ping` grants to users [s]."""
COUNT = 500
LATE_S = 5.0
"""How long `ping` may take beyond its packets, wall clock [s]."""


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """What came back of the packets."""

    sent: int
    times_ms: tuple[float, ...]
    """Round trip of each that came back [ms]."""

    @property
    def lost(self) -> int:
        return self.sent - len(self.times_ms)

    def at(self, percent: float) -> float:
        """Return the time below which so many percent of the round trips stay [ms]."""
        return float(np.percentile(self.times_ms, percent))


def measure(
    host: str, count: int = COUNT, on_progress: Callable[[str], None] = lambda doing: None
) -> RoundTrips | str:
    """Let the program `ping` send packets, and wait; returns why that cannot be done."""
    on_progress(f'sending {count} packets to {host}')
    try:
        done = subprocess.run(
            ['ping', '-n', '-i', f'{PERIOD_S:g}', '-c', f'{count}', '-W', '1', host],
            capture_output=True,
            text=True,
            timeout=count * PERIOD_S + LATE_S,
            env={**os.environ, 'LC_ALL': 'C'},
        )
    except FileNotFoundError:
        return 'there is no program ping: apt install iputils-ping'
    except subprocess.TimeoutExpired:
        return f'ping to {host} hangs'
    return trips_of(done.stdout) or f'ping: {done.stderr.strip() or "no statistics"}'


def trips_of(text: str) -> RoundTrips | None:
    """Read what `ping` printed; None where it has not sent anything."""
    sent = re.search(r'^(\d+) packets transmitted', text, re.MULTILINE)
    times_ms = re.findall(r' time=([\d.]+) ms$', text, re.MULTILINE)
    return RoundTrips(int(sent[1]), tuple(map(float, times_ms))) if sent else None
