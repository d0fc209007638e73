"""Models that answer ProgPrompt and its baselines for `put the red cube on location_A`."""

from __future__ import annotations

import re

from bbllm.bench.oracle.model import offline
from bbllm.core.text import without_delimiters
from bbllm.llm.scripted import Request, ScriptedModel

_WANTED = re.compile(r'the[ _]([a-z]+)[ _](cube|cylinder)[ _]on[ _](location_\w)')
_NOTHING = 'cannot: nothing in the task is a cube that goes somewhere'


def prog_player() -> ScriptedModel:
    """Return a model that writes a program of picks and places."""
    return ScriptedModel([_program] * 4)


def lang_player() -> ScriptedModel:
    """Return a model that lists steps, all at once or one by one, and is any Body besides."""
    return ScriptedModel([_steps] * 40)


def _program(request: Request) -> str:
    header = re.findall(r'^def (.*)\(\):$', without_delimiters(request.messages[0].content), re.M)[
        -1
    ]
    lines = [f'def {header}():', '\t# 0: begin']
    for name, place in _wanted(header):
        lines += [f'\t# put {name} there', f"\tpick('{name}')", f"\tplace('{place}')"]
    return '\n'.join(lines)


def _steps(request: Request) -> str:
    prompt = without_delimiters(request.messages[0].content)
    if not prompt.startswith('A robot works off tasks'):
        return offline().complete(request.messages, schema=request.schema).text
    task = re.findall(r'^Task: (.*)$', prompt, re.M)[-1]
    texts = [
        text for name, place in _wanted(task) for text in (f'pick {name}', f'place it at {place}')
    ]
    lines = [f'{i}: {text}' for i, text in enumerate([*texts, 'Done'])]
    asked = re.search(r'^Next is line (\d+)', prompt, re.M)
    if not texts:
        return _NOTHING
    return lines[int(asked[1])] if asked else '\n'.join(lines)


def _wanted(task: str) -> list[tuple[str, str]]:
    return [(f'{color}_{kind}', place[:10]) for color, kind, place in _WANTED.findall(task)]
