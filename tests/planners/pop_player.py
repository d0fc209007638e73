"""A model that answers LLM-POP's prompts for tasks like `put the red cube on location_A`."""

from __future__ import annotations

import math
import re

from bbllm.core.text import without_delimiters
from bbllm.llm.scripted import Request, ScriptedModel

_WANTED = re.compile(r'the (\w+) (cube|cylinder) on (location_\w)')


def pop_player() -> ScriptedModel:
    """Return a model that plays by what the prompts show, for up to forty requests."""
    return ScriptedModel([_answer] * 40)


def _answer(request: Request) -> str:
    prompt = without_delimiters(request.messages[0].content)
    task = re.findall(r'^Task: (.*)$', prompt, re.MULTILINE)[-1]
    wanted = {f'{color}_{kind}': place for color, kind, place in _WANTED.findall(task)}
    places = {
        name: (float(x), float(y))
        for name, x, y in re.findall(r'^Location: (\w+), centre (\S+) (\S+)$', prompt, re.M)
    }
    line = re.findall(r'^Observation: (.*)$', prompt, re.MULTILINE)[-1]
    seen = {
        name: [float(number) for number in numbers.split()]
        for name, numbers in re.findall(r'(\w+): \[([-. \d]*)\]', line)
    }
    left = [
        name for name, place in wanted.items() if math.dist(seen[name][:2], places[place]) > 0.02
    ]
    failed = re.findall(r'^Result \d+: failed: (.*)$', prompt, re.MULTILINE)
    done = bool(wanted) and not left
    if prompt.splitlines()[-1].startswith('Evaluate:'):
        return 'SUCCESS' if done else f'FAIL\nTo be placed: {left}. {"".join(failed[-1:])}'
    if done:
        return 'EXPLAIN\nAll stand where they shall.\nEXECUTE\nDONE'
    if failed or not wanted:
        return f'cannot: {failed[-1] if failed else "there is nothing to place"}'
    lines = ['EXPLAIN', f'Place {left}.', 'EXECUTE']
    for name in left:
        x, y = places[wanted[name]]
        lines += [f'ACTION PICK {name}', f'ACTION PLACE [{x} {y} 0.02 1 0 0 0]']
    return '\n'.join(lines)
