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
from collections.abc import Iterable, Iterator

from bbllm.core.arguments import KINDS
from bbllm.core.skill_calls import PoseLiteral, format_pose, is_pose_like, parse_pose
from bbllm.core.text import listed
from bbllm.core.types import Scene, Skill, SkillCall
from bbllm.skills.catalog import find_skill, moves
from bbllm.skills.pick import TAKING
from bbllm.skills.place import PUTTING
from bbllm.skills.step_words import FORBIDDING


def risk(call: SkillCall, scene: Scene) -> str:
    """Return why a call is risky, in a clause such as `it puts a on top of b`; empty if not."""
    return ', and '.join(_reasons(call, scene))


def _reasons(call: SkillCall, scene: Scene) -> Iterator[str]:
    for arg in call.args:
        if moves(call) and is_pose_like(arg):
            yield f'it goes to {arg}, a place in numbers and not one of the scene'
    skill = find_skill(call.skill)
    if skill is not None:
        yield from skill.risks(call, scene)


_NUMBER = re.compile(r'[-+]?(?:\d+\.?\d*|\.\d+)')
_ARTICLE = '(?:the_|your_|its_)?'
_OBJECT_MOVED = re.compile(rf'_move(?=_{_ARTICLE}(?:\||it_))')
_HAND_MOVED = re.compile(
    rf'_(?:{"|".join((*TAKING, *PUTTING))})(?=_{_ARTICLE}(?:arm|hand|gripper|fingers)_)'
)
SAME = 1e-6
"""Numbers that differ by less were written down differently [m, deg]."""


def unmentioned(call: SkillCall, text: str, scene: Scene) -> str:
    """Return why the text of its step does not cover a call, in one clause; empty if it does."""
    words, plain_text = _words(text), _plain(text)
    for word in _words(plain_text).split('_'):
        if word in FORBIDDING:
            return f'its step contains the word {word}, so it may forbid what it names'
        if _mixes_alphabets(word):
            return f'its step mixes alphabets in the word {word}'
    for arg in call.args:
        if is_pose_like(arg):
            if not _has_numbers(text, arg):
                return f'its step does not name the pose {arg}'
        elif arg in scene.names and not _names(words, arg, scene.names):
            return f'its step does not name {arg}'
    values = _values(call, scene)
    if values:
        nameless = _nameless(text, scene.names)
        for param, arg in values:
            if not KINDS[param].states(nameless, arg):
                return f'its step does not name the {param} {arg}'
    verbs = _HAND_MOVED.sub('_reach', _without(_words(plain_text), map(_plain, scene.names)))
    verbs = _OBJECT_MOVED.sub('_put', verbs)
    found = [skill.name for skill in scene.skills if _means(verbs, skill)]
    still = [name for name in found if not moves(SkillCall(name))]
    if call.skill in found and (not still or not moves(call)):
        return ''
    if found:
        return f'its step asks for {listed(still or found)}, not {call.skill}'
    return f'its step does not ask for {call.skill}'


def _values(call: SkillCall, scene: Scene) -> list[tuple[str, str]]:
    """Return the arguments that are no names, each with its kind."""
    params = next((skill.params for skill in scene.skills if skill.name == call.skill), ())
    return [(param, arg) for param, arg in zip(params, call.args, strict=False) if param in KINDS]


def _nameless(text: str, names: Iterable[str]) -> str:
    """Return a text without the names of objects, whose words and numbers mean nothing else."""
    for name in sorted(names, key=len, reverse=True):
        spelled = r'[\s_-]+'.join(map(re.escape, name.split('_')))
        text = re.sub(rf'(?<!\w){spelled}(?!\w)', '|', text, flags=re.IGNORECASE)
    return text


def named(texts: Iterable[str], names: tuple[str, ...]) -> tuple[str, ...]:
    """Return which of the names some texts name, each by itself or as separate words."""
    words = [_words(text) for text in texts]
    return tuple(name for name in names if any(_names(words, name, names) for words in words))


def _means(verbs: str, skill: Skill) -> bool:
    own = (name.replace('_', ' ') for name in (skill.name, *skill.aliases))
    known = find_skill(skill.name)
    phrases = (*own, *(() if known is None else known.words))
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


def _names(words: str, name: str, names: tuple[str, ...]) -> bool:
    """Return whether a name occurs by itself and not only as part of a longer one."""
    wanted = _words(name)
    longer = [other for other in names if wanted in _words(other) and wanted != _words(other)]
    return wanted in _without(words, longer)


def _without(words: str, names: Iterable[str]) -> str:
    """Return words without the names of objects, which are about none of the skills."""
    for name in sorted(map(_words, names), key=len, reverse=True):
        words = re.sub(f'(?<=_){re.escape(name.strip("_"))}(?=_)', '|', words)
    return words


def _has_numbers(text: str, pose: str) -> bool:
    literal = parse_pose(pose)
    words = _NUMBER.findall(text)
    if literal.quat_xyzw is not None:
        return any(
            _same_hand(words[start : start + 7], literal) for start in range(len(words) - 6)
        )
    wanted = list(literal.position_m) + ([] if literal.yaw_deg is None else [literal.yaw_deg])
    numbers = [float(number) for number in words]
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
