"""What one episode may use, and what it has used."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from bbllm.core.errors import BudgetError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one episode may use; None is no limit."""

    steps: int | None = 200
    """Calls executed."""
    model_calls: int | None = 300
    tokens: int | None = None
    """Prompt and completion tokens together; of a server that does not count, the prompts' as
    estimated (core.prompt_size)."""
    wall_s: float | None = None
    """Wall time [s]."""


class Budget:
    """Counts what an episode uses, and raises BudgetError where a limit is reached."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.time):
        self.limits = limits
        self._clock = clock
        self._started_s = clock()
        self._calls = 0
        self._model_calls = 0
        self._tokens = 0

    def spend_call(self) -> None:
        """Take one call."""
        _within('calls', self._calls, self.limits.steps)
        self._calls += 1

    def check_model_call(self) -> None:
        """Raise when no more model calls or tokens are left."""
        _within('model calls', self._model_calls, self.limits.model_calls)
        _within('tokens', self._tokens, self.limits.tokens)

    def add_model_call(self, tokens: int) -> None:
        """Count a model call that was made, wherever it was made."""
        self._model_calls += 1
        self._tokens += tokens

    def check_time(self) -> None:
        """Raise when the wall time is used up."""
        limit = self.limits.wall_s
        if limit is not None and self._clock() - self._started_s > limit:
            raise BudgetError(f'The episode took longer than its {limit:g} s.')


def _within(what: str, used: int, limit: int | None) -> None:
    if limit is not None and used >= limit:
        raise BudgetError(f'The limit of {limit} {what} is used up.')
