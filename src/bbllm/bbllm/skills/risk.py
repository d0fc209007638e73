"""
Which calls require approval, and why; decided from the scene, the call and the plan's words.

`risk` names the physical risk of a call. `unmentioned` compares a call with the text of its plan
step: a person approves the text, and a model produces the call later, so what the text does not
name is not approved.

A call that is not named here can only disturb what it is about: it takes an object that stands
alone, sets one down on a free surface, or moves the hand where nothing is.
"""

import re
from collections.abc import Iterator

from bbllm.core.skill_calls import PoseLiteral, format_pose, looks_like_pose, parse_pose, plain
from bbllm.core.types import MOVABLE, Scene, SceneObject, SkillCall
from bbllm.skills.shapes import bottom_z, is_solid, outline, polygon_gap, top_z

TOUCH_M = 0.005
"""Objects nearer to each other than this may touch [m]."""
DROP_M = 0.01
"""An object that is let go higher than this above what is below it falls [m]."""

STILL_SKILLS = frozenset({'wait'})
"""Skills that move nothing and need no approval: `arm.execution.executor` neither closes the hand
nor switches a controller for them, whatever the call before has left undone."""


def moves(call: SkillCall) -> bool:
    return plain(call.skill) not in STILL_SKILLS


def risk(call: SkillCall, scene: Scene) -> str:
    """Return why a call is risky, in a clause such as `it puts a on top of b`; empty if not."""
    return ', and '.join(_reasons(call, scene))


def _reasons(call: SkillCall, scene: Scene) -> Iterator[str]:
    for arg in call.args:
        if moves(call) and looks_like_pose(arg):
            yield f'it goes to {arg}, a place in numbers and not one of the scene'
    if call.skill == 'pick':
        yield from _of_picking(scene.object(call.args[0]), scene)
    elif call.skill == 'place' and call.args[0] in scene.names:
        target = scene.object(call.args[0])
        if target.kind in MOVABLE:
            yield f'it puts {scene.held or "what is held"} on top of {target.name}'
    elif call.skill == 'open_gripper' and scene.held is not None:
        fall_m = _fall_m(scene.object(scene.held), scene)
        if fall_m > DROP_M:
            yield f'it lets go of {scene.held} {fall_m * 100:.0f} cm above what is below it'
    elif call.skill == 'close_gripper' and scene.held is None:
        yield 'it closes the fingers on whatever is between them'


def _of_picking(item: SceneObject, scene: Scene) -> Iterator[str]:
    others = [other for other in scene.objects if other.kind in MOVABLE and other is not item]
    carried = [other.name for other in others if scene.has(other.name, 'on', item.name)]
    if carried:
        yield f'{item.name} carries {" and ".join(carried)}'
    shape = outline(item)
    touching = [
        other.name
        for other in others
        if other.name not in carried
        and not scene.has(item.name, 'on', other.name)
        and bottom_z(other) < top_z(item)
        and bottom_z(item) < top_z(other)
        and polygon_gap(shape, outline(other)) < TOUCH_M
    ]
    if touching:
        yield f'{item.name} touches {" and ".join(touching)}'


def _fall_m(item: SceneObject, scene: Scene) -> float:
    """Return how far an object would fall onto the highest solid object below it [m]."""
    foot, shape = bottom_z(item), outline(item)
    below = [
        top_z(other)
        for other in scene.objects
        if other is not item
        and is_solid(other)
        and top_z(other) < foot + DROP_M
        and polygon_gap(shape, outline(other)) < 0.0
    ]
    return foot - max(below, default=0.0)


_NUMBER = re.compile(r'[-+]?(?:\d+\.?\d*|\.\d+)')
PHRASES = {
    'return_to_base': (('home',), ('back', 'base'), ('to', 'base')),
    'open_gripper': (('open', 'hand'), ('open', 'fingers'), ('release',), ('let', 'go')),
    'close_gripper': (('close', 'hand'), ('close', 'fingers')),
}
"""Other words for skills without arguments, each a set of words that a step must contain."""
SAME = 1e-6
"""Numbers that differ by less were written down differently [m, deg]."""


def unmentioned(call: SkillCall, text: str, scene: Scene) -> str:
    """Return what of a call the text of its step does not name, in one clause, if anything."""
    said = _words(text)
    for arg in call.args:
        if looks_like_pose(arg):
            if not _says_numbers(text, arg):
                return f'its step does not name the pose {arg}'
        elif arg in scene.names and not _names(said, arg, scene.names):
            return f'its step does not name {arg}'
    verbs = {skill.name: (skill.name, *skill.aliases) for skill in scene.skills}
    heard = [name for name, words in verbs.items() if any(_words(w) in said for w in words)]
    if heard and call.skill not in heard:
        return f'its step says {" and ".join(heard)}, not {call.skill}'
    if not heard and not call.args and not _paraphrased(call.skill, said):
        # What a call with arguments is about, its step names at least.
        return f'its step does not say {call.skill}'
    return ''


def _paraphrased(skill: str, said: str) -> bool:
    choices = (tuple(skill.split('_')), *PHRASES.get(skill, ()))
    return any(all(_words(word) in said for word in choice) for choice in choices)


def _words(text: str) -> str:
    return '_' + re.sub(r'[\W_]+', '_', text.casefold()).strip('_') + '_'


def _names(said: str, name: str, names: tuple[str, ...]) -> bool:
    """Return whether a name occurs by itself and not only as part of a longer one."""
    wanted = _words(name)
    for other in names:
        longer = _words(other)
        if wanted in longer and wanted != longer:
            said = said.replace(longer, '_|_')
    return wanted in said


def _says_numbers(text: str, pose: str) -> bool:
    literal = parse_pose(pose)
    said = _NUMBER.findall(text)
    if literal.quat_xyzw is not None:
        return any(_same_hand(said[start : start + 7], literal) for start in range(len(said) - 6))
    wanted = list(literal.position_m) + ([] if literal.yaw_deg is None else [literal.yaw_deg])
    numbers = [float(number) for number in said]
    return any(
        all(abs(a - b) <= SAME for a, b in zip(numbers[start:], wanted, strict=False))
        for start in range(len(numbers) - len(wanted) + 1)
    )


def _same_hand(numbers: list[str], literal: PoseLiteral) -> bool:
    """Return whether seven numbers are read as a pose, whose quaternion need not be written so."""
    try:
        return format_pose(parse_pose(' '.join(numbers))) == format_pose(literal)
    except ValueError:
        return False
