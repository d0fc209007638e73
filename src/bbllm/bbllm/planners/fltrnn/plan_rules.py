"""Which rules a call of a plan breaks, held against what a planner remembers of a household."""

from __future__ import annotations

from bbllm.core.types import Code, SkillCall
from bbllm.planners.fltrnn.memory_graph import ARITY, GOING, MemoryGraph


def fault_of(memory: MemoryGraph, call: SkillCall) -> tuple[Code, tuple[str, ...]]:
    """
    Return what is wrong with a call that a memory graph refuses, and which rules it breaks.

    The rules are those of `bench.faithfulness`, by which the same call is judged where a world
    hears of it.
    """
    if call.skill not in ARITY:
        return Code.UNKNOWN_SKILL, ('unknown_action',)
    if any(name not in memory.names for name in call.args):
        return Code.UNKNOWN_OBJECT, ('unknown_object',)
    if len(call.args) != ARITY[call.skill]:
        return Code.BAD_ARGUMENTS, ()
    states = memory.states(call.args[0]) if call.args else frozenset()
    elsewhere = call.skill not in GOING and any(
        name not in memory.held and memory.room_of(name) not in (None, memory.here)
        for name in call.args
    )
    broken = {
        'two_at_once': call.skill == 'grab' and bool(memory.held),
        'already_open': call.skill == 'open' and 'open' in states,
        'inside_closed': call.skill == 'grab' and memory.closed_around(call.args[0]) is not None,
        'not_in_room': elsewhere and memory.here is not None,
        'on_while_open': call.skill == 'switchon' and 'open' in states,
    }
    return Code.PRECONDITION, tuple(rule for rule, is_so in broken.items() if is_so)
