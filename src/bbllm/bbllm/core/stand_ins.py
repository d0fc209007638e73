"""What people are told of a model by its name: `offline` and its like are no language models."""

from __future__ import annotations

STAND_INS = {
    'offline': 'a deterministic stand-in, not a language model',
    'expert': 'a program that is told the goal, not a language model',
}


def with_remark(model: str) -> str:
    """Return the name of a model, with what it is where it is a stand-in."""
    remark = STAND_INS.get(model)
    return f'{model} ({remark})' if remark else model
