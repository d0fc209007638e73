"""The entry points of the oracles; the modules that answer are imported when one is built."""

from collections.abc import Mapping
from functools import partial

from bbllm.core.protocols import ChatModel
from bbllm.core.registry import ModelProvider

_WITH_GOAL = 'is a deterministic stand-in that receives the goal, not a language model'
_PLUMBING = 'it measures the plumbing, not planning'


def _offline(_: Mapping[str, object] | None) -> ChatModel:
    from bbllm_bench.oracle.model import offline

    return offline()


def _expert(goal: Mapping[str, object] | None, *, gather: bool) -> ChatModel:
    from bbllm_bench.oracle.model import expert

    return expert({**(goal or {}), 'gather': gather})


OFFLINE = ModelProvider(
    build=_offline,
    remark='is a deterministic stand-in, not a language model',
    short='a deterministic stand-in, not a language model',
    fallback=True,
)
EXPERT = ModelProvider(
    build=partial(_expert, gather=True),
    remark=f'{_WITH_GOAL}: {_PLUMBING}',
    short='a program that receives the goal, not a language model',
    needs_goal=True,
)
UNINFORMED = ModelProvider(
    build=partial(_expert, gather=False),
    remark=f'{_WITH_GOAL}, and guesses what it does not know: {_PLUMBING}',
    short='a program that receives the goal and guesses, not a language model',
    roles=('brain',),
    needs_goal=True,
)
