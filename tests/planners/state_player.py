"""Models that answer the three roles of LLM-State as rules say."""

import re
from collections.abc import Callable

from bbllm.llm.scripted import Request, ScriptedModel

_BLOCK = r'^==== {0} ====\n(.*?)\n==== end of {0} ====$'

Role = Callable[[str], str]
"""What a role answers to its prompt."""


def roles(
    policy: Role,
    *,
    attention: Role = lambda prompt: 'none',
    estimator: Role = lambda prompt: 'none',
    n_replies: int = 1000,
) -> ScriptedModel:
    """Return a model with a rule for each role; it can be asked `n_replies` times."""

    def answer(request: Request) -> str:
        prompt = request.prompt
        role = {'attention': attention, 'memory': estimator, 'policy': policy}[role_of(prompt)]
        return role(prompt)

    return ScriptedModel([answer] * n_replies)


def role_of(prompt: str) -> str:
    """Return whose prompt it is: `attention`, `memory` or `policy`."""
    if prompt.startswith('You plan for a robot.'):
        return 'policy'
    found = re.match(r'You are the (attention|memory) of a robot\.', prompt)
    assert found is not None, prompt[:200]
    return found[1]


def block(name: str, prompt: str) -> str:
    """Return what a prompt tells under a heading, such as `history actions`."""
    found = re.search(_BLOCK.format(name), prompt, re.MULTILINE | re.DOTALL)
    assert found is not None, f'There is no {name} in:\n{prompt}'
    return found[1]
