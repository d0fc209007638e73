"""Models that go on with the monologue of Inner Monologue, for a table and as rules say."""

from __future__ import annotations

import re
from collections.abc import Callable

from bbllm.core.text import without_delimiters
from bbllm.llm.scripted import Request, ScriptedModel

_WANTED = re.compile(r'the ([a-z]+) (cube|cylinder) on (location_\w)')
_STEP = re.compile(r'^Robot action: (.*)\nSuccess: (yes|no)', re.MULTILINE)


def monologuist(go_on: Callable[[str], str], n_replies: int = 400) -> ScriptedModel:
    """Return a model that says the next action by what the monologue tells."""

    def answer(request: Request) -> str:
        monologue = told(without_delimiters(request.messages[0].content))
        return f'I know what to do.\nRobot action: {go_on(monologue)}'

    return ScriptedModel([answer] * n_replies)


def told(prompt: str) -> str:
    """Return the monologue of a prompt."""
    return prompt.partition('==== monologue ====\n')[2]


def taken(monologue: str) -> list[tuple[str, str]]:
    """Return the actions that a monologue tells, each with `yes` or `no` for its success."""
    return _STEP.findall(monologue)


def monologue_player() -> ScriptedModel:
    """Return a model that puts things on locations of a table, and stops when that fails."""
    return monologuist(_place)


def _place(monologue: str) -> str:
    task = monologue.partition('\n')[0]
    wanted = [(f'{color}_{kind}', place) for color, kind, place in _WANTED.findall(task)]
    if not wanted:
        return 'cannot: nothing in the task is a cube that goes somewhere'
    steps = taken(monologue)
    if steps and steps[-1][1] == 'no':
        return f'cannot: {steps[-1][0]} has failed'
    calls = [call for name, place in wanted for call in (f'pick({name})', f'place({place})')]
    return [*calls, 'done'][len(steps)]
