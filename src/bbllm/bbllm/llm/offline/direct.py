"""Base-LLM's part of `offline`: its plan, each step of which its own Body makes a call of."""

from __future__ import annotations

import re

from bbllm.llm.offline.body import PASS, answer_body
from bbllm.llm.offline.brain import answer_brain
from bbllm.llm.offline.sight import Sight, thing_from_name
from bbllm.llm.stand_in import numbered

_STEP = re.compile(r'\d+: (.+)$')
_DONE = 'Done'


def answer_direct(sight: Sight) -> str:
    """Answer a prompt for a whole program; what no action does is left out of it."""
    reply = answer_brain(sight)
    steps = [step[1] for line in reply.splitlines() if (step := _STEP.match(line))]
    if not steps:
        return reply
    calls = [_call(step, sight) for step in steps if step != _DONE]
    return numbered([call for call in calls if call != PASS])


def _call(step: str, sight: Sight) -> str:
    # A Body is shown names and actions, and nothing else of the scene.
    things = tuple(thing_from_name(thing.name) for thing in sight.things)
    return answer_body(Sight(things=things, actions=sight.actions, step=step))
