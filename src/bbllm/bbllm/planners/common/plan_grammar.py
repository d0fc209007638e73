"""
The grammar of plans that a Brain may reply with.

A plan is numbered lines, `0: pick red_cube`, that count up by one from the requested number.
Other lines (markdown, chatter, an explanation) are ignored. The single line `cannot: <reason>`
means that there is no plan. No text is ever executed.
"""

import re
from collections.abc import Sequence

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.types import Plan, PlanStep
from bbllm.planners.common.reply_diagnostics import reason_of, says_done

MAX_STEPS = 200
"""Longer plans come from models that repeat themselves."""
MAX_STEP_LENGTH = 500
"""Maximum length of the text of a step [characters]."""

_BEFORE = ' \t>*_#`~-•'
_AFTER = ' \t\r*_`~'
_STEP = re.compile(r'(?:step\s+)?(\d{1,4})\s*(?::|\)|\.(?!\d))[\s*_`]*(.*)', re.IGNORECASE)
_NEW_PLAN = re.compile(
    r'(?:the )?(?:new|updated|revised|corrected) plan[*_` ]*:[*_` ]*(.*)', re.IGNORECASE
)
_EXPLANATION = re.compile(r'(?:explanation|reason(?:ing)?)[*_` ]*:', re.IGNORECASE)


def parse_plan(text: str, start: int = 0) -> tuple[PlanStep, ...]:
    """
    Return the steps of a reply, numbered from `start`; none if it is only `Done`.

    If the reply repeats the old plan, only the text from `New plan:` counts. Raises GaveUpError
    for the line `cannot: <reason>`, ParseError for what is no plan.
    """
    lines = [_bare(line) for line in text.split('\n')]
    marks = [i for i, line in enumerate(lines) if _NEW_PLAN.match(line)]
    steps: list[PlanStep] = []
    explaining = False
    for line in lines[marks[-1] if marks else 0 :]:
        while heading := _NEW_PLAN.match(line):
            line = _bare(heading[1])
        if _EXPLANATION.match(line) and not steps:
            explaining = True
        elif found := _STEP.match(line):
            number, words = int(found[1]), found[2].strip(_AFTER)
            if number != start + len(steps):
                if explaining:  # an explanation may number its reasons
                    continue
                wanted = start + len(steps)
                what = f'After step {wanted - 1} it goes on' if steps else 'The plan begins'
                raise ParseError(
                    f'{what} with number {number}, but number {wanted} was to come. Steps must be '
                    f'numbered from {start}, one by one, without gaps.'
                )
            explaining = False
            if says_done(words):
                return tuple(steps)
            steps.append(_step(number, words, len(steps)))
        elif not steps and (reason := reason_of(line)):
            raise GaveUpError(reason)
        elif steps and says_done(line):
            break
    if not steps:
        raise ParseError(
            f'No numbered step was found. The reply must have lines like `{start}: pick red_cube`,'
            f' numbered from {start}, or be one line `cannot: <reason>`.'
        )
    return tuple(steps)


def _bare(line: str) -> str:
    return line.lstrip(_BEFORE).rstrip(_AFTER)


def _step(number: int, text: str, n_steps: int) -> PlanStep:
    if not text:
        raise ParseError(f'Step {number} is empty. Each number is followed by one action.')
    if len(text) > MAX_STEP_LENGTH:
        raise ParseError(
            f'Step {number} has {len(text)} characters; at most {MAX_STEP_LENGTH} are '
            'accepted. Each step is one short action.'
        )
    if n_steps == MAX_STEPS:
        raise ParseError(f'The plan has more than {MAX_STEPS} steps. Write a shorter one.')
    return PlanStep(number, ' '.join(text.split()))


def plan_on(plan: Plan, start: int, steps: Sequence[PlanStep]) -> Plan:
    return Plan((*plan.steps[:start], *steps))
