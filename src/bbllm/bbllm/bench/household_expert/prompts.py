"""Which planner's prompt it is, and what its fixed parts say; by the planners' own labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from bbllm.core.errors import ParseError
from bbllm.planners.common.plan_grammar import parse_plan
from bbllm.planners.common.program import HANDS, Assertion, Condition
from bbllm.planners.common.scene_graph import squeezed
from bbllm.planners.prog_prompt.assertion_checking import STATE_WORDS
from bbllm.planners.prog_prompt.grammar import parse_program

PROGRAM = re.compile(
    r'from actions import .*\ndef \w+\(\):\s*(?:objects = \[([^\]\n]*)\])?\s*\Z', re.DOTALL
)
"""The whole prompt for a program; its group is what is there, where the last head tells."""
COMMENT = '\t# '
"""What the functions of a prompt have where a program is to have comments."""
STEPS = re.compile(r'^Go on with the steps of the next task\b', re.MULTILINE)
NEXT_STEP = re.compile(r'^Next is line (\d+)\.\Z', re.MULTILINE)


class Asked(str, Enum):
    """What a prompt asks for."""

    PROGRAM = 'program'
    VERDICT = 'verdict'
    STEPS = 'steps'
    NEXT_STEP = 'next step'
    PLAN = 'plan'
    REPAIR = 'repair'
    CALL = 'call'
    CALLS = 'calls'


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt of a planner of households."""

    asked: Asked
    text: str
    plan: tuple[str, ...] = ()
    """Steps so far, or those of the plan that failed."""
    start: int = 0
    """Number of the first step that is asked for."""
    step: str = ''
    """The step that is to become a call."""
    actions: frozenset[str] = frozenset()
    """What can be done, by name."""
    failures: tuple[tuple[int, str], ...] = ()
    """Numbers of the steps that failed, and what is told of why, oldest first."""

    def refused(self, index: int) -> Iterator[str]:
        """Yield why a step failed, for each time that it did."""
        return (why for number, why in self.failures if number == index)


_ENDS = {
    'Step-by-step plan:': Asked.PLAN,
    'Action Plan:': Asked.CALL,
    'New plan:': Asked.REPAIR,
    'Program:': Asked.CALLS,
}
_ACTION = re.compile(r'^- (\w+)\(', re.MULTILINE)
_EARLIER = re.compile(r'^Earlier plan:\n(.*?)\nError step: (\d+)$', re.MULTILINE | re.DOTALL)
_FEEDBACK = re.compile(r'^Feedback: (.*)$', re.MULTILINE)
_FAILED_BEFORE = re.compile(r'^- step (\d+) \([^\n]*?\): (.*)$', re.MULTILINE)
_ASSERTED = re.compile(r'(You see: [^\n]*)\n(assert\([^\n]*\))\s*\Z')


def read_prompt(text: str) -> Prompt | None:
    """Return what a message asks for; None where it is no prompt that is known."""
    if PROGRAM.match(text):
        return Prompt(asked=Asked.PROGRAM, text=text)
    if text.startswith('Does the assertion hold'):
        return Prompt(asked=Asked.VERDICT, text=text)
    if found := NEXT_STEP.search(text):
        return Prompt(asked=Asked.NEXT_STEP, text=text, start=int(found[1]))
    if STEPS.search(text):
        return Prompt(asked=Asked.STEPS, text=text)
    last = text.rstrip().rsplit('\n', 1)[-1]
    asked = _ENDS.get(last)
    # The same labels end the prompts for a table, of which nothing is known here.
    if asked is None or 'that keeps house.' not in text.split('\n', 1)[0]:
        return None
    return _labelled(asked, text)


def _labelled(asked: Asked, text: str) -> Prompt:
    listed = text.rsplit('\nAvailable actions:\n', 1)[-1]
    actions = frozenset(_ACTION.findall(listed))
    steps = re.findall(r'^Step: (.*)$', text, re.MULTILINE)
    plan: tuple[str, ...] = ()
    failures: tuple[tuple[int, str], ...] = ()
    start = 0
    if asked is Asked.REPAIR and (blocks := [*_EARLIER.finditer(text)]):
        shown, number = blocks[-1].groups()  # those before it are the examples'
        plan, start = tuple(step.text for step in parse_plan(shown)), int(number)
        told = text[blocks[-1].end() :]
        earlier = [(int(index), why) for index, why in _FAILED_BEFORE.findall(told)]
        failures = (*earlier, *((start, why) for why in _FEEDBACK.findall(told)))
    return Prompt(
        asked=asked,
        text=text,
        plan=plan,
        start=start,
        step=steps[-1] if steps else '',
        actions=actions,
        failures=failures,
    )


def verdict(text: str) -> bool:
    """Tell whether the assertion at the end of a prompt holds by the state that is told there."""
    found = _ASSERTED.search(text)
    if found is None:
        return False
    try:
        (goal,) = parse_program(found[2]).sub_goals
    except (ParseError, ValueError):
        return False
    (statement,) = goal.statements
    assert isinstance(statement, Assertion)
    condition = statement.condition
    return _is_so(condition, found[1]) is not condition.negated


def _is_so(condition: Condition, state: str) -> bool:
    seen, _, have = state.removeprefix('You see: ').partition(' You have: ')
    items = seen.rstrip('.').split(', ')
    held = have.rstrip('.').split(', ') if have else []
    if condition.relation == 'close':
        return condition.subject in (*held, *(item.split(' ')[0] for item in items))
    if condition.relation == 'is':
        word = squeezed(condition.object)
        wanted = STATE_WORDS.get(word, word)
        told = [item.partition(' is ') for item in items]
        return any(
            name == condition.subject and wanted in states.split(' and ')
            for name, _, states in told
        )
    if condition.object == HANDS:
        return condition.subject in held
    relation = 'inside' if condition.relation == 'in' else condition.relation
    return f'{condition.subject} {relation} {condition.object}' in items
