"""How rules of the safety envelope are broken and refused: where, by which name and words."""

from __future__ import annotations

import math

import numpy as np

from bbllm.arm.driver import Array
from bbllm.arm.envelope import Rule, refusal
from bbllm.arm.failures import SkillError
from bbllm.core.types import Code

SLACK_M = 5e-4
"""How much deeper than at its start a motion may break a rule, for noise and rounding [m]."""


def unsafe(rule: Rule, doing: str, why: str) -> SkillError:
    """Return the refusal of a rule; *why* ends with what would do."""
    return SkillError(Code.UNSAFE, refusal(rule, doing, why), f'safety rule {rule.value}')


def rounded_up(value: float) -> str:
    """Write a number rounded up, so that what is asked for is enough."""
    return f'{math.ceil(value * 100) / 100:.2f}'


def broken_at(depth: Array) -> int | None:
    """
    Return where along a motion a rule is broken most, None where it is kept.

    Args:
        depth: How far beyond the rule, negative within it, shape (n,) [m]. NaN breaks it.
    """
    start = max(float(depth[0]), 0.0)
    worst = int(np.argmax(np.nan_to_num(depth, nan=np.inf)))
    if not float(depth[worst]) <= start + SLACK_M:
        return worst
    return len(depth) - 1 if start > SLACK_M and not float(depth[-1]) < start else None
