"""
The grammar of plans that a Brain may reply with.

A plan is numbered lines, `0: pick red_cube`, that count up by one from the requested number; a
whole plan may also count from 1. The line `Done` alone is a plan without steps. Lines `cannot:`,
`assumed:` and `answer:` beside the steps are kept for the person. Other lines (markdown, chatter,
an explanation) are ignored. `goal: withdraw <condition>: <reason>` in a repair takes a condition
of the goal back that the task does not ask for. The single line `cannot: <reason>` means that
there is no plan; `ask: <question> | <option> | ...` and `answer: <text>` alone are no plans either
(`reply_diagnostics.raise_if_spoken`). No text is ever executed. What each other kind of reply
comes to: docs/planners/brain-body.md.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bbllm.core.constants import MAX_STEP_LENGTH, MAX_STEPS
from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.types import Plan, PlanStep, Scene
from bbllm.planners.common.reply_diagnostics import (
    explains,
    is_done_line,
    line_after,
    reason_of,
)
from bbllm.planners.domains.languages import language_of

MAX_CYCLE = 4
"""Longest group of steps whose repetition is noticed."""
MAX_REPEATS = 10
"""How often a group of steps may stand in a row; more come from models that repeat themselves."""

_BEFORE = ' \t>*_#`~-•'
_AFTER = ' \t\r*_`~'
_STEP = re.compile(
    r'(?:step\s+)?(\d{1,4})(?:\s*(?:[:)、]|\.(?!\d))|\s+[-–—](?=\s))[\s*_`]*(.*)', re.IGNORECASE
)
_NEW_PLAN = re.compile(
    r'(?:the )?(?:new|updated|revised|corrected) plan[*_` ]*:[*_` ]*(.*)', re.IGNORECASE
)
_WITHDRAWN = re.compile(r'goal[*_` ]*:\s*withdraw\s+(.+?\))\W*:\s*(.+)', re.IGNORECASE)
_NEXT_EXAMPLE = re.compile(r'(?:task|environment)[*_` ]*:', re.IGNORECASE)
"""Begins what a model writes that goes on with examples of its own."""
_OPENING = re.compile(
    r'(?:te?xt|plain(?:text)?|markdown|md|(?:the )?plan[*_` ]*:?)?', re.IGNORECASE
)
"""What is left of a line that opens a block of code, and the heading of a plan."""
_ASIDE = re.compile(r'(?:language|assumed|answer)[*_` ]*:', re.IGNORECASE)
"""Begins a line for the person, which may stand before the steps."""
_WAIT = re.compile(
    r'wait(?: for)? (\d+(?:\.\d+)?) ?(?:(h|hours?|m|min|minutes?)|s|secs?|seconds?)?\.?',
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PlanForm:
    """What refusals of a reply say in the words of its domain."""

    example: str = '<step>'
    """A step that the scene allows."""
    longest_wait_s: float | None = None
    """The longest single wait [s]; None where there is no such limit."""

    def wanted(self, start: int) -> str:
        """Return the whole form of a reply."""
        return (
            f'Write one step per line, numbered from {start} without gaps, such as '
            f'`{start}: {self.example}`, or the single line `cannot: <reason>`.'
        )


def plan_form(scene: Scene) -> PlanForm:
    """Return the form of plans for a scene: `pick red_cube`, or in a household `walk to milk`."""
    language = language_of(scene)
    return PlanForm(language.example(scene)[0], language.longest_wait_s(scene))


def program_form(scene: Scene) -> PlanForm:
    """Return the form of programs, whose steps are calls: `<rob0>[pick] <red_cube>`."""
    return PlanForm(language_of(scene).example(scene)[1])


def parse_plan(text: str, start: int = 0, *, form: PlanForm = PlanForm()) -> tuple[PlanStep, ...]:
    """
    Return the steps of a reply, numbered from `start`; none if it is only `Done`.

    If the reply repeats the old plan, only the text from `New plan:` counts; nothing counts from
    the line on that begins another example. Raises GaveUpError for the line `cannot: <reason>`,
    ParseError for what is no plan, with the whole form of one.
    """
    try:
        steps = _read(text, start)
        _check(steps, form)
    except ParseError as error:
        raise ParseError(f'{error} {form.wanted(start)}') from error
    return steps


def _read(text: str, start: int) -> tuple[PlanStep, ...]:
    lines = _own_lines(text)
    marks = [i for i, line in enumerate(lines) if _NEW_PLAN.match(line)]
    steps: list[PlanStep] = []
    explaining = ended = False
    shift = 0
    for line in lines[marks[-1] if marks else 0 :]:
        while heading := _NEW_PLAN.match(line):
            line = _bare(heading[1])
        if explains(line) and not steps:
            explaining = True
        elif found := _STEP.match(line):
            number, words = int(found[1]), found[2].strip(_AFTER)
            # Only a whole plan from 1 is unambiguous: part of one might leave a step out.
            shift = 1 if (start, number, steps, explaining) == (0, 1, [], False) else shift
            wanted = start + shift + len(steps)
            if number != wanted:
                if explaining:  # an explanation may number its reasons
                    continue
                what = f'After step {wanted - 1} it goes on' if steps else 'The plan begins'
                raise ParseError(f'{what} with number {number}, but number {wanted} was to come.')
            explaining = False
            if is_done_line(words):
                return tuple(steps)
            steps.append(_step(number, words, number - shift, len(steps)))
        elif not (steps or ended) and (reason := reason_of(line)):
            raise GaveUpError(reason)
        elif is_done_line(line):
            if steps:
                break
            ended = True
    if not (steps or ended):
        raise ParseError('No numbered step was found.')
    return tuple(steps)


def _own_lines(text: str) -> list[str]:
    """Return the lines of a reply without markup, up to an example that the model made up."""
    lines = [_bare(line) for line in text.split('\n')]
    begun = False
    for i, line in enumerate(lines):
        if begun and _NEXT_EXAMPLE.match(line):
            return lines[:i]
        begun = begun or _STEP.match(line) is not None or is_done_line(line)
    return lines


def _check(steps: Sequence[PlanStep], form: PlanForm) -> None:
    texts = [step.text.lower() for step in steps]
    for length in range(1, MAX_CYCLE + 1):
        for i in range(len(texts) - MAX_REPEATS * length):
            group, end = texts[i : i + length], i + MAX_REPEATS * length
            waiting = all(map(_WAIT.fullmatch, group))
            if not waiting and texts[i:end] == texts[i + length : end + length]:
                raise ParseError(
                    f'From step {steps[i].index} on the plan repeats {", ".join(group)!r} more '
                    f'than {MAX_REPEATS} times. Write each step as often as the task needs it.'
                )
    if form.longest_wait_s is None:
        return
    for step in steps:
        seconds = _seconds_of(step.text)
        if seconds > form.longest_wait_s:
            raise ParseError(
                f'Step {step.index} waits {seconds:g} seconds, but a single wait lasts at most '
                f'{form.longest_wait_s:g}. Write several.'
            )


def _seconds_of(text: str) -> float:
    """Return how long a step such as `wait for 2 minutes` waits [s]; 0 for other steps."""
    found = _WAIT.fullmatch(text)
    if found is None:
        return 0.0
    return float(found[1]) * {'m': 60, 'h': 3600}.get((found[2] or 's')[0].lower(), 1)


def _bare(line: str) -> str:
    return line.lstrip(_BEFORE).rstrip(_AFTER)


def _step(number: int, text: str, index: int, n_steps: int) -> PlanStep:
    if not text:
        raise ParseError(f'Step {number} is empty. Each number is followed by one action.')
    if len(text) > MAX_STEP_LENGTH:
        raise ParseError(
            f'Step {number} has {len(text)} characters; at most {MAX_STEP_LENGTH} are '
            'accepted. Each step is one short action.'
        )
    if n_steps == MAX_STEPS:
        raise ParseError(f'The plan has more than {MAX_STEPS} steps. Write a shorter one.')
    return PlanStep(index, ' '.join(text.split()))


@dataclass(frozen=True, slots=True)
class PartialPlan:
    """The steps of a reply, and what of the task they leave undone."""

    steps: tuple[PlanStep, ...]
    rest: str = ''
    """What is left undone and why; '' for nothing."""
    assumed: str = ''
    """How the task is read where it leaves something open; '' for nothing."""
    answer: str = ''
    """The answer to a question that the task contains; '' for none."""
    withdrawn: tuple[tuple[str, str], ...] = ()
    """Conditions of the goal that the task does not ask for, and why."""


def parse_partial_plan(text: str, start: int = 0, *, form: PlanForm = PlanForm()) -> PartialPlan:
    """
    Parse a plan as `parse_plan` does, with a line `cannot: <rest>` after its steps or `Done`.

    Lines `assumed:` and `answer:` may stand anywhere in it. Without steps before it, a line
    `cannot:` refuses the whole task: GaveUpError.
    """
    steps = parse_plan(text, start, form=form)
    lines = _own_lines(text)
    rests = [rest for line in lines if (rest := reason_of(line))]
    if steps and (numbered := reason_of(steps[-1].text)):
        steps, rests = steps[:-1], [numbered]
        if not steps:
            raise GaveUpError(numbered)
    assumed, answer = (line_after(word, lines) for word in ('assumed', 'answer'))
    return PartialPlan(
        steps, rests[-1] if rests else '', assumed, answer, tuple(withdrawals(lines))
    )


def withdrawals(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield condition and reason of each line `goal: withdraw <condition>: <reason>`."""
    for line in lines:
        if found := _WITHDRAWN.fullmatch(line.strip(_BEFORE + _AFTER)):
            yield found[1].strip(_AFTER), found[2]


def first_steps(
    text: str, start: int = 0, *, form: PlanForm = PlanForm(), headed: bool = False
) -> tuple[PlanStep, ...]:
    """
    Return the steps that a reply begins with, as far as it is written; none where that is unsure.

    `parse_partial_plan` finds the same steps first in the whole reply, unless that turns out to be
    malformed, or to replace its plan under a heading. So only whole lines count, and the plan must
    come first: nothing but a fence, `Plan:` or a line for the person may stand before it, or
    between it and `New plan:`.
    A *headed* plan needs that heading, as a reply that begins with a plan may repeat the old one.
    A last step that may be a refusal is left out.
    """
    head = text[: text.rfind('\n') + 1]
    lines = _own_lines(head)
    marks = [i for i, line in enumerate(lines) if _NEW_PLAN.match(line)]
    for line in lines[marks[-1] if marks else 0 :]:
        while heading := _NEW_PLAN.match(line):
            line = _bare(heading[1])
        if not (_OPENING.fullmatch(line) or _ASIDE.match(line)):
            break
    else:
        return ()
    if not _STEP.match(line) or (headed and not marks):
        return ()
    try:
        steps = _read(head, start)
        _check(steps, form)
    except (ParseError, GaveUpError):
        return ()
    return steps[:-1] if steps and reason_of(steps[-1].text) else steps


def plan_on(plan: Plan, start: int, steps: Sequence[PlanStep]) -> Plan:
    return Plan((*plan.steps[:start], *steps))
