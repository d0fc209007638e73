"""How long to wait before a request is sent again."""

from __future__ import annotations

import email.utils
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Waits that double, with a random part so that many clients do not return at once."""

    first_s: float = 0.5
    longest_s: float = 20.0
    patience_s: float = 60.0
    """A server that asks for a longer wait than this is taken for one that refuses [s]."""

    def wait_s(self, n_failed: int, asked_s: float | None, random: Callable[[], float]) -> float:
        """
        Return the wait before the next try [s].

        Args:
            n_failed: How many tries failed so far, at least 1.
            asked_s: What the server asked for in Retry-After [s]; it is honoured in full.
            random: Returns a number from 0 to 1.
        """
        wait_s = min(self.first_s * 2.0 ** min(n_failed - 1, 30), self.longest_s)
        wait_s *= 0.5 + 0.5 * random()
        return wait_s if asked_s is None else max(asked_s, wait_s)


def retry_after_s(
    headers: Mapping[str, str], clock: Callable[[], float] = time.time
) -> float | None:
    """Return the wait that a server asks for, in seconds or as a date [s]; None if it does not."""
    for name, per_second in (('retry-after-ms', 1000.0), ('retry-after', 1.0)):
        try:
            asked_s = float(headers.get(name, '')) / per_second
        except ValueError:
            continue
        if math.isfinite(asked_s):
            return max(asked_s, 0.0)
    try:
        date = email.utils.parsedate_to_datetime(headers.get('retry-after', ''))
    except (TypeError, ValueError):
        return None
    return max(date.timestamp() - clock(), 0.0)
