"""
Whether a call does what the text of its step says, as far as words can tell.

A person approves the words of a step; the call is made of them later, by a model. What the words
do not name, nobody has approved.
"""

from __future__ import annotations

import re

from bbllm.core.types import Scene, SkillCall
from bbllm.skills.catalog import PoseLiteral, format_pose, looks_like_pose, parse_pose

_NUMBER = re.compile(r'[-+]?(?:\d+\.?\d*|\.\d+)')
PHRASES = {
    'return_to_base': (('home',), ('back', 'base'), ('to', 'base')),
    'open_gripper': (('open', 'hand'), ('open', 'fingers'), ('release',), ('let', 'go')),
    'close_gripper': (('close', 'hand'), ('close', 'fingers')),
}
"""Other words for skills without arguments, each a set of which a step says all."""
SAME = 1e-6
"""Numbers that differ by less were written down differently [m, deg]."""


def unmentioned(call: SkillCall, text: str, scene: Scene) -> str:
    """
    Return what of a call its step does not name, in one clause; empty where it names all.

    Args:
        call: In the scene's own spelling, as `check_call` returns it.
        text: The step.
        scene: What is there.
    """
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
    """Tell whether a text holds the words of a skill, though not one right after the other."""
    choices = (tuple(skill.split('_')), *PHRASES.get(skill, ()))
    return any(all(_words(word) in said for word in choice) for choice in choices)


def _words(text: str) -> str:
    """Write a text as `_one_word_after_the_other_`, whatever stood between the words."""
    return '_' + re.sub(r'[\W_]+', '_', text.casefold()).strip('_') + '_'


def _names(said: str, name: str, names: tuple[str, ...]) -> bool:
    """Tell whether a name is said by itself and not only as part of a longer one."""
    wanted = _words(name)
    for other in names:
        longer = _words(other)
        if wanted in longer and wanted != longer:
            said = said.replace(longer, '_|_')
    return wanted in said


def _says_numbers(text: str, pose: str) -> bool:
    """Tell whether a text holds the numbers of a pose, one after the other."""
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
    """Tell whether seven numbers are read as a pose, whose quaternion need not be written so."""
    try:
        return format_pose(parse_pose(' '.join(numbers))) == format_pose(literal)
    except ValueError:
        return False
