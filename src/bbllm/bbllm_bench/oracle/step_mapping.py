"""One step in plain words becomes one line of program, as the Body of brain_body takes it."""

import re

from bbllm.core.observation import lost_names
from bbllm.core.types import Scene
from bbllm_bench.oracle.instruction import read_instruction
from bbllm_bench.oracle.table_goals import (
    Act,
    Arrange,
    RefusalError,
    TableGoal,
    TableObject,
    Use,
    objects_of,
)

PASS = '<pass>'
"""The reply where no skill does what a step says."""
MAX_CHARACTERS = 500
TABLE = 'table'
"""Name of the table in scenes; to place an object on it is to put it at a free place."""
_PUT_IN = re.compile(
    r'(?:grab|pick up|pick|take) (?:the )?(.+?) and (?:put|place) it (?:in|on|into) (?:the )?(.+)'
)


def call_text(step: str, scene: Scene | None) -> str:
    """Return the call for a step, or `<pass>`."""
    if scene is None or scene.is_symbolic or len(step) > MAX_CHARACTERS:
        return PASS
    skills = {skill.name: len(skill.params) for skill in scene.skills}
    for name, n_args in skills.items():
        words = step.removeprefix(f'{name.replace("_", " ")} ').split()
        if len(words) == n_args > 1 and {*words} <= {*scene.names}:
            return f'<rob0>[{name}] {"".join(f"<{word}>" for word in words)}'
    # A step about an object that got lost is to be refused by the world, not passed over.
    lost = {name: TableObject(name, 'other') for name in lost_names(scene)}
    objects = objects_of(scene) | lost
    pair = _PUT_IN.fullmatch(step.strip().rstrip('.').lower())
    if pair and 'grab_and_putin' in skills:
        words = [name.strip().replace(' ', '_') for name in pair.groups()]
        return (
            f'<rob0>[grab_and_putin] <{words[0]}><{words[1]}>' if {*words} <= {*objects} else PASS
        )
    try:
        # `it` is what is in the hand; what it is makes no difference to a call.
        held = scene.held or next((n for n, entity in objects.items() if entity.movable), None)
        (goal, *_) = read_instruction(step, objects, held, answers=None)
    except RefusalError:
        return PASS
    skill, *args = _call(goal)
    if skill not in skills:
        return PASS
    if args == [TABLE] and not (TABLE in scene.names and re.search(r'\b(table|down)\b', step)):
        return PASS
    return f'<rob0>[{skill}] {"".join(f"<{arg}>" for arg in args)}'.strip()


def _call(goal: TableGoal) -> tuple[str, ...]:
    """Return a skill and its arguments."""
    match goal:
        case Act(verb='pick'):
            return 'pick', goal.items[0].names[0]
        case Act(verb='reach'):
            return 'reach', goal.place
        case Use():
            return goal.skill, goal.items[0].names[0], *goal.values
        case Act(verb='wait'):
            return 'wait', f'{goal.seconds:g}'
        case Act():
            return ({'home': 'return_to_base'}.get(goal.verb, f'{goal.verb}_gripper'),)
        case Arrange(shape='free'):
            return 'place', TABLE
        case Arrange(spots=(spot, *_)):
            return 'place', spot
        case Arrange(shape='tower'):
            return 'place', goal.items[0].names[0]
    return ('',)
