"""
What `expert` answers where things go into containers: a step for each that is not there yet.

It reads the prompts of prog_prompt, lang_prompt and huang, and by the eyes of `offline` those of
brain_body and base_llm, which tell what is where by now.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from bbllm.llm.expert.prog_prompt import COMMENT, NEXT_STEP, PROGRAM, STEPS
from bbllm.llm.offline.sight import Sight, UnreadableError, is_prompt, read_prompt
from bbllm.llm.stand_in import numbered

PLANNERS = ('prog_prompt', 'lang_prompt', 'huang', 'brain_body', 'base_llm')
"""Planners whose prompts it reads."""
ACTION = 'grab_and_putin'
THERE = ('in', 'on')
"""Predicates that say that a thing is where it belongs."""

Pair = tuple[str, str]
"""A thing and the container that it goes into."""


def answer_containing(users: Sequence[str], inside: Mapping[str, str]) -> str:
    """
    Answer the latest prompt of a conversation.

    Args:
        users: What the planner has said in it.
        inside: What goes into which container.
    """
    for text in reversed(users):
        if found := PROGRAM.match(text):
            return _program(text, found[1] or '', list(inside.items()))
        if found := NEXT_STEP.search(text):
            number, steps = int(found[1]), [*_steps(inside.items()), 'Done']
            return f'{number}: {steps[min(number, len(inside))]}'
        if STEPS.search(text):
            return numbered(_steps(inside.items()))
        if is_prompt(text):
            try:
                return _labelled(read_prompt(text), inside)
            except UnreadableError as error:
                return f'cannot: {error}'
    return f'cannot: of containers expert reads only the prompts of {", ".join(PLANNERS)}.'


def _program(text: str, listed: str, pairs: Sequence[Pair]) -> str:
    """Write a part for each thing, as the functions in the prompt are written."""
    there = re.findall(r"'([^']*)'", listed)
    if missing := [name for pair in pairs for name in pair if name not in there]:
        return f'cannot: there is no {missing[0]} among the objects.'
    lines = []
    for i, (thing, container) in enumerate(pairs, 1):
        lines += [f'# {i}: put the {thing} in the {container}'] if COMMENT in text else []
        lines.append(f'{ACTION}({thing!r}, {container!r})')
    return '\n'.join(lines)


def _labelled(sight: Sight, inside: Mapping[str, str]) -> str:
    there = {(thing, other) for thing, predicate, other in sight.facts if predicate in THERE}
    left = [pair for pair in inside.items() if pair not in there]
    left.sort(key=lambda pair: pair[0] != sight.held)  # what is in the hand is put away first
    start = sight.error_step or 0
    if sight.direct:
        steps = [f'<rob0>[{ACTION}] <{thing}><{container}>' for thing, container in left]
    else:
        steps = _steps(left)
    if sight.error_step is None:
        return numbered(steps)
    return '\n'.join(
        [
            f'Explanation: {len(left)} of {len(inside)} things are not where they belong.',
            'New plan:',
            numbered(steps, start),
        ]
    )


def _steps(pairs: Iterable[Pair]) -> list[str]:
    return [f'grab the {thing} and put it in the {container}' for thing, container in pairs]
