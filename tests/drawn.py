"""How many random inputs tests draw: a few in `make test`, all in `make test-all`."""

from typing import Any

from hypothesis import settings

FULL = 'full'
"""The profile of `make test-slow`; any other one draws a fifth."""


def examples(count: int, **more: Any) -> settings:
    """Return settings for *count* examples in the full profile; a fifth of them in others."""
    return settings(max_examples=max(1, count * settings().max_examples // 100), **more)


def full() -> bool:
    """Return whether this run draws all."""
    return settings.get_current_profile_name() == FULL
