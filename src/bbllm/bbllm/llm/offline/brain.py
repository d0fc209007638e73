"""The Brain's part of `offline`: goals, what is so already, and lessons become a plan."""

from __future__ import annotations

from bbllm.llm.offline.instructions import read_instruction
from bbllm.llm.offline.lessons import Lessons, learn
from bbllm.llm.offline.phrases import RefusalError
from bbllm.llm.offline.planning import Planning
from bbllm.llm.offline.sight import Sight
from bbllm.llm.stand_in import numbered


def answer_brain(sight: Sight) -> str:
    """Answer a planning or a feedback prompt."""
    try:
        lessons = learn(sight)
        goals = read_instruction(sight.task, sight)
        steps = Planning(sight, lessons).steps_for(goals, lessons.wishes)
    except RefusalError as error:
        return f'cannot: {str(error).strip()}'
    start = sight.error_step or 0
    plan = numbered(steps, start)
    if sight.error_step is None:
        return plan
    return f'Explanation: {_explanation(sight, lessons)}\nNew plan:\n{plan}'


def _explanation(sight: Sight, lessons: Lessons) -> str:
    text = f'{sight.feedback} The plan goes on from how the scene is now.'
    out = list(dict.fromkeys([*lessons.bad_things, *lessons.bad_places]))
    if out:
        text += f' Left out: {", ".join(out)}.'
    if lessons.notes:
        text += f' Not understood: {" / ".join(lessons.notes)}.'
    return text
