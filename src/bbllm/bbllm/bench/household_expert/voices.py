"""Who of `expert` answers which planner: one voice a planner, each in a file of its own."""

from __future__ import annotations

from bbllm.bench.household_expert.fltrnn_voice import fltrnn_voice
from bbllm.bench.household_expert.inner_monologue_voice import inner_monologue_voice
from bbllm.bench.household_expert.llm_state_voice import llm_state_voice
from bbllm.bench.household_expert.prog_replan_voice import prog_replan_voice
from bbllm.bench.household_expert.told import Voice

VOICES: tuple[Voice, ...] = (
    llm_state_voice,
    fltrnn_voice,
    inner_monologue_voice,
    prog_replan_voice,
)
"""Asked in this order before the planners of `prompts`."""
