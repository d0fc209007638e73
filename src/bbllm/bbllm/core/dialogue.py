"""What a planner asks a person during an episode, and what it reports to the person at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bbllm.core.constants import OptionWord
from bbllm.core.events import (
    AnswerGiven,
    Ending,
    EpisodeEnded,
    Event,
    GoalStated,
    PlanMade,
    QuestionAsked,
)
from bbllm.core.goals import LEFT_OUT, MET, NOT_CHECKED

MOST_QUESTIONS = 3
"""How many questions an episode may ask; after them the planner decides by itself."""
SAFEST = 'nobody answered; take the reading that moves least and changes nothing for good'
"""What stands for an answer where none came in time and the safest reading is wanted."""


class AskMode(OptionWord):
    """Whether a planner may ask how a task is meant."""

    AUTO = 'auto'
    """Where a person can answer, or answers were given in advance."""
    YES = 'yes'
    NO = 'no'
    SAFEST = 'safest'
    """Yes; where nobody answers in time, the planner takes the safest reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingRules:
    """How the questions of an episode are answered."""

    timeout_s: float = 300.0
    """How long a person is waited for, wall clock [s]."""
    safest: bool = False
    """Whether the planner goes on with the safest reading after that; if not, the episode ends
    with the question."""
    answers: tuple[str, ...] = ()
    """Answers that were given in advance, in the order of the questions."""
    person: bool = True
    """Whether a person can answer those that are left."""
    reply: Callable[[QuestionAsked], str] | None = None
    """Answers those that are left in place of a person, at once."""


def summary_of(events: Iterable[Event], end: EpisodeEnded) -> str:
    """
    Return what was done, and what not and why, in sentences for the person.

    They are made of the record alone: of how it ended, of what the settled scene shows, and of
    what the plan assumes and leaves out in the words of its planner.
    """
    plan, goal, answers, assumed = None, GoalStated(), list[str](), ''
    for event in events:
        match event.data:
            case PlanMade():
                plan = event.data
                assumed = plan.assumed or assumed  # a repair seldom states it again
            case GoalStated():
                goal = event.data
            case AnswerGiven(text):
                answers.append(text)
    if end.ending is Ending.ANSWERED:
        return ' '.join(answers)
    beside = (NOT_CHECKED, LEFT_OUT)
    conditions = [text for text in goal.conditions if not text.startswith(beside)]
    unchecked = [text for text in goal.conditions if text.startswith(NOT_CHECKED)]
    heads = {Ending.FINISHED: 'Done.', Ending.PARTLY_DONE: 'Partly done.'}
    is_early = end.ending not in heads
    lines = [heads.get(end.ending, 'Not finished.' if end.goal == MET else 'Not done.')]
    if end.message:
        lines.append(end.message)
    if is_early and end.goal == MET:
        lines.append('The goal was met by then.')
    if end.ending is Ending.FINISHED and end.goal == MET and conditions:
        lines.append(f'Checked: {"; ".join(conditions)}.')
    if assumed:
        lines.append(f'Assumed: {assumed}'.rstrip('.') + '.')
    if plan is not None and plan.rest and plan.rest not in end.message:
        lines.append(f'Left out: {plan.rest}'.rstrip('.') + '.')
    if end.ending in (Ending.FINISHED, Ending.PARTLY_DONE) and end.goal == NOT_CHECKED:
        what = '; '.join(text.partition(':')[2].strip() for text in unchecked) or goal.why
        lines.append(f'Not checked: {what}'.rstrip('.') + '.' if what else 'Not checked.')
    return ' '.join([*lines, *answers])
