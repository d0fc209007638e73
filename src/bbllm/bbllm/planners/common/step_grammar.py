"""
Steps of a plan that already are calls: `pick red_cube`, `walk to the sink`, `place(0.4 0 0.02)`.

A wrong call is worse than a request to a Body. So a step is read only if the whole of it is a
phrase of one listed skill with exactly the objects that the skill takes, by their names. A word
more or less, a negation, a description or another language is left to the Body.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from bbllm.core.arguments import KINDS
from bbllm.core.errors import ParseError, UnknownNameError
from bbllm.core.skill_calls import is_pose_like, plain
from bbllm.core.types import PlanStep, Scene, Skill, SkillCall
from bbllm.planners.common.call_grammar import (
    checked,
    known_names,
    named_alike,
    not_held,
    skill_named,
)
from bbllm.planners.domains.languages import language_of
from bbllm.planners.domains.phrases import PHRASES
from bbllm.skills.catalog import find_skill

MAX_STEP = 200
"""A longer step is no call [characters]."""

_ON = ('on', 'onto', 'on top of', 'back on')
FORMS: Mapping[str, tuple[str, ...]] = {
    'walk': ('walk into {}',),
    'run': ('run into {}',),
    'walktowards': ('walk towards {}',),
    'walkforward': ('walk forward',),
    'turnleft': ('turn left',),
    'turnright': ('turn right',),
    'sit': ('sit down on {}',),
    'switchon': ('switch {} on',),
    'switchoff': ('switch {} off',),
    'put': tuple(f'put {{}} {word} {{}}' for word in _ON),
    'putback': tuple(f'put {{}} {word} {{}}' for word in _ON),
    'putin': ('put {} into {}', 'put {} inside {}'),
    'drink': ('drink from {}',),
}
"""Phrases of actions in a house beside their names, aliases and `PHRASES`."""
PLACING = tuple(f'{verb} {{}} {word} {{}}' for verb in ('place', 'put', 'move')
                for word in (*_ON, 'at', 'to', 'in', 'into'))  # fmt: skip
"""Phrases of a `place` that takes the target alone: what is held, and the target."""
_IT = 'it'
"""What is in the hand."""
NOT_NAMES = frozenset(
    f'{_IT} that this them there here all everything one table hand away down up back aside off '
    'inside outside somewhere elsewhere'.split()
)
"""Words in the place of a name that mean an object of the scene, or a place."""

_FUNCTION = re.compile(r'(?P<skill>[A-Za-z_]\w*) ?\((?P<args>[^()]*)\)')
_BRACKETS = re.compile(r'(?:<\w+>)? ?\[(?P<skill>[\w ]+)\] ?(?P<args>(?: ?<[^<>]*>)*)')
_QUOTES = re.compile(r'[`"]|(?<!\w)\'|\'(?!\w)')


def call_of(text: str, scene: Scene) -> SkillCall | None:
    """
    Return the call that a step is, in the names that a Body answers in; None if it is none.

    Raises:
        ParseError: The step is to place an object while another one is in the hand.
    """
    scene = language_of(scene).answer_scene(scene)
    step = _plain_step(text)
    if len(step) > MAX_STEP:
        return None
    found = {*_literal(step, scene)} or {*_phrases(step.lower(), scene)}
    return found.pop() if len(found) == 1 else None


def check_names(steps: Sequence[PlanStep], scene: Scene) -> None:
    """Raise ParseError for a step that names an object which the scene lacks, with all it has."""
    language = language_of(scene)
    scene = replace(language.answer_scene(scene), skills=language.skills(scene))
    for step in steps:
        if word := unknown_name(step.text, scene):
            error = UnknownNameError('object', word, known_names(scene))
            raise ParseError(
                f'Step {step.index} cannot be carried out. {error} '
                'What cannot be done with these is left out: `cannot: <what and why>`.'
            )


def unknown_name(text: str, scene: Scene) -> str:
    """
    Return the name in a step that is of no object of the scene; '' where that is not sure.

    A word that is a part of a name, and several words, may describe an object: they are the
    Body's to judge.
    """
    step = _plain_step(text).lower()
    parts = {part for name in known_names(scene) for part in name.lower().split('_')} | NOT_NAMES
    found = []
    for params, words in _readings(step, scene):
        named = [
            word
            for param, word in zip(params, words, strict=True)
            if not (param in KINDS or is_pose_like(word) or named_alike(word, scene))
        ]
        unknown = (word for word in named if re.fullmatch(r'[a-z]\w+', word))
        found.append(next((word for word in unknown if word not in parts), ''))
    return found[0] if found and all(found) else ''


def _readings(step: str, scene: Scene) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield each way to read a step as a phrase of a skill: its parameters, and words for them."""
    for skill in scene.skills:
        forms = [(form, skill.params) for form in _forms(skill, scene)]
        forms += [(skill.name + f'({", ".join(["{}"] * len(skill.params))})', skill.params)]
        if _takes_target_alone(skill):
            forms += [(form, ('object', 'target')) for form in PLACING]
        for form, params in forms:
            if matched := _pattern(form, params).fullmatch(step):
                yield params, matched.groups()


def _plain_step(text: str) -> str:
    return ' '.join(_QUOTES.sub('', text).split()).rstrip('. ')


def _literal(step: str, scene: Scene) -> Iterator[SkillCall]:
    """Yield what a step is that is written as a call: `pick(red_cube)`, `[pick] <red_cube>`."""
    if found := _FUNCTION.fullmatch(step):
        args = [found['args']] if is_pose_like(found['args']) else found['args'].split(',')
    elif found := _BRACKETS.fullmatch(step):
        args = re.findall(r'<([^<>]*)>', found['args'])
    else:
        return
    skill = skill_named(found['skill'], scene)
    if skill is not None:
        yield from _call(skill, [arg.strip() for arg in args if arg.strip()], scene)


def _phrases(step: str, scene: Scene) -> Iterator[SkillCall]:
    for skill in scene.skills:
        for phrase in _forms(skill, scene):
            if found := _pattern(phrase, skill.params).fullmatch(step):
                yield from _call(skill, list(found.groups()), scene)
        if _takes_target_alone(skill):
            for phrase in PLACING:
                if found := _pattern(phrase, ('object', 'target')).fullmatch(step):
                    yield from _placed(phrase, found[1], found[2], skill, scene)


def _forms(skill: Skill, scene: Scene) -> Iterator[str]:
    blanks = ' {}' * len(skill.params)
    # `place red_cube` means to put it down, and not on top of itself.
    for name in () if _takes_target_alone(skill) else (skill.name, *skill.aliases):
        yield plain(name).replace('_', ' ') + blanks
        yield plain(name) + blanks
    of_the_arm = None if scene.is_symbolic else find_skill(skill.name)
    phrases = FORMS.get(skill.name, ()) if of_the_arm is None else of_the_arm.forms
    phrases = (*phrases, PHRASES.get(skill.name, ''))
    yield from (each for each in phrases if each and each.count('{}') == len(skill.params))


@cache
def _pattern(phrase: str, params: tuple[str, ...]) -> re.Pattern[str]:
    pattern = re.escape(phrase)
    for param in params:
        blank = KINDS[param].pattern if param in KINDS else '.+?'
        pattern = pattern.replace(r'\{\}', f'(?:the )?({blank})', 1)
    return re.compile(pattern)


def _takes_target_alone(skill: Skill) -> bool:
    return skill.name == 'place' and skill.params == ('target',)


def _placed(
    phrase: str, word: str, target: str, skill: Skill, scene: Scene
) -> Iterator[SkillCall]:
    held = scene.held
    mover = held if word == _IT else named_alike(word, scene)
    if None not in (held, mover) and mover != held and named_alike(target, scene) == held:
        error = not_held(word, target, scene)
        raise ParseError(str(error)) from error
    calls = [*_call(skill, [target], scene)]
    if not calls or (held is None and phrase.startswith('move')):
        return
    if mover is None and not (word == _IT and held is None):
        return
    if mover is not None and held not in (None, mover):
        error = not_held(mover, calls[0].args[0], scene)
        raise ParseError(str(error)) from error
    if mover not in calls[0].args:
        yield from calls  # the world refuses it while nothing is held


def _call(skill: Skill, words: list[str], scene: Scene) -> Iterator[SkillCall]:
    """Yield the call of a skill if each word is an object of the scene, or the right numbers."""
    if len(words) != len(skill.params):
        if not (_takes_target_alone(skill) and len(words) == 2):
            return
        yield from _placed('', words[0], words[1], skill, scene)
        return
    args: list[str] = []
    for param, word in zip(skill.params, words, strict=True):
        is_value = param in KINDS or (param == 'target' and is_pose_like(word))
        name = word if is_value else named_alike(word, scene)
        if name is None or name in args:
            return
        args.append(name)
    if _takes_target_alone(skill) and scene.held in args:
        return
    try:
        yield checked(SkillCall(skill.name, tuple(args)), scene)
    except ParseError:
        return
