"""Models that answer the three roles of LLM-State, for a table and as rules say."""

from __future__ import annotations

import re
from collections.abc import Callable

from bbllm.llm.scripted import Request, ScriptedModel

_WANTED = re.compile(r'the ([a-z]+) (cube|cylinder) on (location_\w)')
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


def state_player() -> ScriptedModel:
    """Return a model that puts things on locations of a table, and stops when that fails."""
    return roles(_place, attention=_attend, estimator=_tell)


def _attend(prompt: str) -> str:
    things = [word for pair in _wanted(prompt) for word in pair]
    return '\n'.join(f'add_related_objects("{thing}")' for thing in things) or 'none'


def _tell(prompt: str) -> str:
    n_done = block('robot actions', prompt).count(' Success')
    return f'update_reasoning("The robot did {n_done} actions.")'


def _place(prompt: str) -> str:
    history = block('history actions', prompt)
    wanted = _wanted(prompt)
    if not wanted:
        return 'cannot: nothing in the task is a cube that goes somewhere'
    if failed := re.search(r'^(.*) Fail$', history, re.MULTILINE):
        return f'cannot: {failed[1]} has failed'
    if history != 'none yet':
        return 'done'
    calls = [call for name, place in wanted for call in (f'pick({name})', f'place({place})')]
    return '\n'.join(f'{i}. {call}' for i, call in enumerate(calls, 1))


def _wanted(prompt: str) -> list[tuple[str, str]]:
    task = re.findall(r'^Task goal: (.*)$', prompt, re.MULTILINE)[-1:]
    found = [item for text in task for item in _WANTED.findall(text)]
    return [(f'{color}_{kind}', place) for color, kind, place in found]
