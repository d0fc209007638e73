"""Who of `expert` answers which planner: one voice a planner, each in a file of its own."""

from __future__ import annotations

from bbllm.bench.household_expert.llm_state_voice import llm_state_voice
from bbllm.bench.household_expert.told import Voice

VOICES: tuple[Voice, ...] = (llm_state_voice,)
"""Asked in this order before the planners of `prompts`."""
