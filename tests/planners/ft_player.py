"""
A model that answers FT-CoT's and FT-Vanilla's prompts for tasks like `put the red cube on
location_A`.

As one that was tuned, it knows from elsewhere what the prompts do not tell: where the locations
of the busy table are.
"""

from __future__ import annotations

import math
import re

from bbllm.core.text import without_delimiters
from bbllm.llm.scripted import Request, ScriptedModel

PLACES = {'location_A': (0.54, -0.18), 'location_B': (0.48, -0.12)}
_WANTED = re.compile(r'the (\w+) (cube|cylinder) on (location_\w)')


def ft_player() -> ScriptedModel:
    """Return a model that plays by what the prompts show, for up to forty requests."""
    return ScriptedModel([_answer] * 40)


def _answer(request: Request) -> str:
    head, _, past = without_delimiters(request.messages[0].content).partition('\nPast:\n')
    told = dict(line.split(': ', 1) for line in head.splitlines())
    wanted = {f'{color}_{kind}': place for color, kind, place in _WANTED.findall(told['Task'])}
    failed = re.findall(r'Failed: ([^\]]*)', past)
    if failed or not wanted:
        return f'cannot: {failed[-1] if failed else "there is nothing to place"}'
    if told['Question'].startswith('Is enough known'):
        return 'EXPLAIN: Yes. It is all in the task.\nACTION: <nooutput>'
    values = [float(word) for word in told['Current'].strip('[]').split(', ')]
    blocks = told['Blocks'].split(', ')
    at = {name: values[7 * i : 7 * i + 2] for i, name in enumerate(blocks)}
    actions = []
    for name, place in wanted.items():
        x, y = PLACES[place]
        if math.dist(at[name], (x, y)) > 0.02:
            actions += [f"pick('{name}')", f"place('{name}', [{x}, {y}, 0.02], [1, 0, 0, 0])"]
    listed = f'[{", ".join(actions)}]' if actions else '<nooutput>'
    return f'EXPLAIN: Each on its place.\nACTION: {listed}'
