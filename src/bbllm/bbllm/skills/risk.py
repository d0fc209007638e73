"""
Which calls require approval, and why; decided from the scene, the call and the plan's words.

`risk` names the physical risk of a call. `unmentioned` compares a call with the text of its plan
step: a person approves the text, and a model produces the call later, so what the text does not
name, or forbids, is not approved.

A call that is not named here can only disturb what it is about: it takes an object that stands
alone, sets one down on a free surface, or moves the hand where nothing is.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from bbllm.core.skill_calls import PoseLiteral, format_pose, looks_like_pose, parse_pose, plain
from bbllm.core.text import listed
from bbllm.core.types import MOVABLE, Scene, SceneObject, Skill, SkillCall
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
_TAKING = (
    *('pick', 'pickup', 'grasp', 'grab', 'take', 'lift', 'fetch', 'unstack'),
    *('nimm', 'nehmen', 'greif', 'greife', 'greifen', 'hebe', 'heben'),
    *('coge', 'coger', 'toma', 'tomar', 'agarra', 'agarrar', 'recoge', 'recoger'),
)
_PUTTING = (
    *('place', 'put', 'set', 'lay', 'stack', 'drop', 'placein', 'placeon', 'putin'),
    *('stell', 'stelle', 'stellen', 'leg', 'lege', 'legen', 'setz', 'setze', 'setzen'),
    *('coloca', 'colocar', 'pon', 'poner'),
)
PHRASES: Mapping[str, tuple[str, ...]] = {
    'pick': _TAKING,
    'place': _PUTTING,
    'grab_and_putin': (*_PUTTING, 'grab and putin'),
    'reach': ('reach', 'move', 'hover', 'go to', 'go over', 'go above'),
    'wait': ('wait', 'pause', 'stand still'),
    'return_to_base': ('return to base', 'home', 'back base', 'to base'),
    'open_gripper': ('open gripper', 'open hand', 'open fingers', 'release', 'let go'),
    'close_gripper': ('close gripper', 'close hand', 'close fingers'),
}
"""Other words for a skill in a step, beside its name and aliases: each phrase is a set of words,
all of which the step contains."""
_ARTICLE = '(?:the_|your_|its_)?'
_OBJECT_MOVED = re.compile(rf'_move(?=_{_ARTICLE}(?:\||it_))')
_HAND_MOVED = re.compile(
    rf'_(?:{"|".join((*_TAKING, *_PUTTING))})(?=_{_ARTICLE}(?:arm|hand|gripper|fingers)_)'
)
FORBIDDING = frozenset({
    *('not', 'never', 'no', 'nor', 'neither', 'none', 'nothing', 'without', 'cannot'),
    *('dont', 'doesnt', 'cant', 'wont', 'mustnt', 'shouldnt', 'except', 'unless', 'instead'),
    *('rather', 'avoid', 'avoids', 'avoiding', 'leave', 'leaves', 'leaving', 'keep', 'keeps'),
    *('keeping', 'stay', 'away', 'skip', 'ignore', 'refrain', 'untouched', 'unmoved', 'forbidden'),
    *('nicht', 'nichts', 'nie', 'niemals', 'kein', 'keine', 'keinen', 'keinem', 'keiner'),
    *('keines', 'ohne', 'statt', 'anstatt', 'ausser', 'lass', 'lasse', 'lassen', 'vermeide'),
    *('vermeiden', 'nunca', 'jamas', 'ni', 'nada', 'ningun', 'ninguna', 'ninguno', 'sin', 'salvo'),
    *('excepto', 'deja', 'dejar', 'evita', 'evitar', 'ne', 'pas', 'jamais', 'sans'),
})  # fmt: skip
"""Words of English, German, Spanish and French by which a step may forbid what it names, without
accents. They count in names of objects too, as a name may be meant as a word."""
SAME = 1e-6
"""Numbers that differ by less were written down differently [m, deg]."""


def unmentioned(call: SkillCall, text: str, scene: Scene) -> str:
    """Return why the text of its step does not cover a call, in one clause; empty if it does."""
    said, plain_text = _words(text), _plain(text)
    for word in _words(plain_text).split('_'):
        if word in FORBIDDING:
            return f'its step contains the word {word}, so it may forbid what it names'
        if _mixes_alphabets(word):
            return f'its step mixes alphabets in the word {word}'
    for arg in call.args:
        if looks_like_pose(arg):
            if not _says_numbers(text, arg):
                return f'its step does not name the pose {arg}'
        elif arg in scene.names and not _names(said, arg, scene.names):
            return f'its step does not name {arg}'
    verbs = _HAND_MOVED.sub('_reach', _without(_words(plain_text), map(_plain, scene.names)))
    verbs = _OBJECT_MOVED.sub('_put', verbs)
    heard = [skill.name for skill in scene.skills if _says(verbs, skill)]
    still = [name for name in heard if name in STILL_SKILLS]
    if call.skill in heard and (not still or not moves(call)):
        return ''
    if heard:
        return f'its step says {listed(still or heard)}, not {call.skill}'
    return f'its step does not say {call.skill}'


def named(texts: Iterable[str], names: tuple[str, ...]) -> tuple[str, ...]:
    """Return which of the names some texts name, each by itself or as separate words."""
    said = [_words(text) for text in texts]
    return tuple(name for name in names if any(_names(words, name, names) for words in said))


def _says(verbs: str, skill: Skill) -> bool:
    own = (name.replace('_', ' ') for name in (skill.name, *skill.aliases))
    phrases = (*own, *PHRASES.get(skill.name, ()))
    return any(all(_words(word) in verbs for word in phrase.split()) for phrase in phrases)


def _plain(text: str) -> str:
    """Return a text without accents, with `not` in place of its short form."""
    decomposed = unicodedata.normalize('NFKD', re.sub(r"n['’`´]t\b", ' not', text, flags=re.I))
    return ''.join(letter for letter in decomposed if not unicodedata.combining(letter))


def _mixes_alphabets(word: str) -> bool:
    """Return whether a word has letters like `е` among Latin ones, which people read as Latin."""
    latin = {'LATIN' in unicodedata.name(letter, '') for letter in word if letter.isalpha()}
    return len(latin) == 2


def _words(text: str) -> str:
    return '_' + re.sub(r'[\W_]+', '_', text.casefold()).strip('_') + '_'


def _names(said: str, name: str, names: tuple[str, ...]) -> bool:
    """Return whether a name occurs by itself and not only as part of a longer one."""
    wanted = _words(name)
    longer = [other for other in names if wanted in _words(other) and wanted != _words(other)]
    return wanted in _without(said, longer)


def _without(said: str, names: Iterable[str]) -> str:
    """Return words without the names of objects, which are about none of the skills."""
    for name in sorted(map(_words, names), key=len, reverse=True):
        said = re.sub(f'(?<=_){re.escape(name.strip("_"))}(?=_)', '|', said)
    return said


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
