"""Models that go on with the monologue of Inner Monologue as rules say."""

import re
from collections.abc import Callable

from bbllm.core.text import without_delimiters
from bbllm.llm.scripted import Request, ScriptedModel

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
