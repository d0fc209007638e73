"""
The grammar of plans: what a Brain may answer, and what is made of it.

A plan is numbered lines, `0: pick red_cube`, that go up by one from the number that was asked
for. Whatever stands around them (markdown, chatter, an explanation) is left out. A single line
`cannot: <reason>` says that there is no plan. Nothing here is ever executed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.types import Plan, PlanStep
from bbllm.planners.common.reply_diagnostics import reason_of, says_done

MAX_STEPS = 200
"""A longer plan is a model that repeats itself."""
MAX_STEP_LENGTH = 500
"""Longest text of one step [characters]."""

_BEFORE = ' \t>*_#`~-•'
_AFTER = ' \t\r*_`~'
_STEP = re.compile(r'(?:step\s+)?(\d{1,4})\s*(?::|\)|\.(?!\d))[\s*_`]*(.*)', re.IGNORECASE)
_NEW_PLAN = re.compile(
    r'(?:the )?(?:new|updated|revised|corrected) plan[*_` ]*:[*_` ]*(.*)', re.IGNORECASE
)
_EXPLANATION = re.compile(r'(?:explanation|reason(?:ing)?)[*_` ]*:', re.IGNORECASE)


class PlanReader:
    """
    Reads a plan while it is still being written.

    Feed it text as it arrives and take the steps that are complete; `close` when it is all there.
    """

    def __init__(self, start: int = 0):
        """
        Make a reader.

        Args:
            start: Number that the first step must have: 0, or the error step in a repair.
        """
        self._start = start
        self._rest = ''
        self._steps: list[PlanStep] = []
        self._explaining = False
        self._ended = False

    @property
    def steps(self) -> tuple[PlanStep, ...]:
        """All steps so far."""
        return tuple(self._steps)

    @property
    def ended(self) -> bool:
        """Whether the plan said `Done`; what comes after it is left out."""
        return self._ended

    def feed(self, text: str) -> tuple[PlanStep, ...]:
        """
        Take more text and return the steps that it completes.

        Raises:
            ParseError: Numbers with gaps, or a step or plan that is too long.
            GaveUpError: The line `cannot: <reason>` in place of a plan.
        """
        known = len(self._steps)
        *lines, self._rest = (self._rest + text).split('\n')
        for line in lines:
            self._take(line)
        return tuple(self._steps[known:])

    def close(self) -> tuple[PlanStep, ...]:
        """
        Say that no more text comes, and return the steps of the last line.

        Raises:
            ParseError: As `feed`, or there was no plan at all.
            GaveUpError: As `feed`.
        """
        last = self.feed('\n')
        if not self._steps and not self._ended:
            raise ParseError(
                f'No numbered step was found. The reply must have lines like '
                f'`{self._start}: pick red_cube`, numbered from {self._start}, or be one line '
                '`cannot: <reason>`.'
            )
        return last

    def _take(self, line: str) -> None:
        if self._ended:
            return
        text = line.lstrip(_BEFORE).rstrip(_AFTER)
        if plan := _NEW_PLAN.match(text):
            self._begin_new_plan(plan[1])
        elif _EXPLANATION.match(text) and not self._steps:
            self._explaining = True
        elif step := _STEP.match(text):
            self._take_step(int(step[1]), step[2].strip(_AFTER))
        elif (reason := reason_of(text)) and not self._steps:
            raise GaveUpError(reason)
        elif self._steps and says_done(text):
            self._ended = True

    def _begin_new_plan(self, rest: str) -> None:
        if self._steps:
            raise ParseError(
                f'A new plan begins after step {self._steps[-1].index}. Only one plan may be '
                f'given, numbered from {self._start}.'
            )
        self._explaining = False
        if rest:
            self._take(rest)

    def _take_step(self, number: int, text: str) -> None:
        wanted = self._start + len(self._steps)
        if number != wanted:
            if self._explaining:  # an explanation may count its reasons
                return
            what = 'The plan begins' if not self._steps else f'After step {wanted - 1} it goes on'
            raise ParseError(
                f'{what} with number {number}, but number {wanted} was to come. Steps must be '
                f'numbered from {self._start}, one by one, without gaps.'
            )
        self._explaining = False
        if says_done(text):
            self._ended = True
            return
        if not text:
            raise ParseError(f'Step {number} is empty. Each number is followed by one action.')
        if len(text) > MAX_STEP_LENGTH:
            raise ParseError(
                f'Step {number} has {len(text)} characters; at most {MAX_STEP_LENGTH} are '
                'accepted. Each step is one short action.'
            )
        if len(self._steps) == MAX_STEPS:
            raise ParseError(f'The plan has more than {MAX_STEPS} steps. Write a shorter one.')
        self._steps.append(PlanStep(number, ' '.join(text.split())))


def parse_plan(text: str, start: int = 0) -> tuple[PlanStep, ...]:
    """
    Read a whole reply of a Brain.

    Where it repeats the old plan before `New plan:`, only what comes after counts.

    Args:
        text: The reply.
        start: Number of the first step.

    Returns:
        The steps, numbered from `start` on; none where the reply says only `Done`.

    Raises:
        ParseError: Not a plan; says what was found and what would be accepted.
        GaveUpError: The line `cannot: <reason>` in place of a plan.
    """
    lines = text.split('\n')
    marks = [i for i, line in enumerate(lines) if _NEW_PLAN.match(line.lstrip(_BEFORE))]
    reader = PlanReader(start)
    reader.feed('\n'.join(lines[marks[-1] :] if marks else lines))
    reader.close()
    return reader.steps


def plan_on(plan: Plan, start: int, steps: Sequence[PlanStep]) -> Plan:
    """Keep a plan up to, not including, step `start`, and go on with new steps."""
    return Plan((*plan.steps[:start], *steps))
