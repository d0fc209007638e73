"""
The rule for every text that a scene brings along: names, colours, facts, skills.

Such text comes from detectors, topics and files, and goes into prompts. So it is short, on one
line, of few characters, and cannot end the section of a prompt that it stands in. Its
content is still that of its source: prompts mark it as data (`core.text`).
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from bbllm.core.text import escape_hidden, hidden_fault
from bbllm.core.types import Fact, Scene, SceneObject, Skill

MAX_NAME = 64
"""Longest name of an object, place, relation or skill [characters]."""
MAX_COLOR = 32
MAX_WORDS = 200
"""Longest value of a fact [characters]."""
MAX_SUMMARY = 400
"""Longest summary of a skill [characters]."""
NAME_RULE = f'letters a-z, digits and _, a letter first, at most {MAX_NAME} characters'
COLOR_RULE = f'small letters a-z, spaces, - and _, at most {MAX_COLOR} characters'
WORDS_RULE = f"letters a-z, digits, spaces and _.,:'%+/-, at most {MAX_WORDS} characters"

_NO_NAME = re.compile(r'[^A-Za-z0-9_]+')
_NAME = re.compile(rf'[A-Za-z][A-Za-z0-9_]{{0,{MAX_NAME - 1}}}')
_COLOR = re.compile(rf'[a-z][a-z _-]{{0,{MAX_COLOR - 1}}}')
_WORDS = re.compile(rf"[A-Za-z0-9_ .,:'%+/-]{{1,{MAX_WORDS}}}")


@lru_cache(maxsize=8192)
def name_fault(name: str, what: str = 'name') -> str:
    """Return why a text cannot be a name; empty if it can."""
    return '' if _NAME.fullmatch(name) else f'the {what} {quoted(name)} is not {NAME_RULE}'


@lru_cache(maxsize=1024)
def color_fault(color: str) -> str:
    """Return why a text cannot be a colour; empty if it can, or if there is none."""
    fits = not color or _COLOR.fullmatch(color)
    return '' if fits else f'the color {quoted(color)} is not {COLOR_RULE}'


@lru_cache(maxsize=8192)
def words_fault(words: str, what: str) -> str:
    """Return why a text cannot be a value of a fact; empty if it can."""
    return '' if _WORDS.fullmatch(words) else f'the {what} {quoted(words)} is not {WORDS_RULE}'


def objects_fault(objects: Iterable[SceneObject]) -> str:
    """Name the first text of some objects that breaks the rule; empty where none does."""
    return next(filter(None, map(_object_fault, objects)), '')


def scene_fault(scene: Scene) -> str:
    """Name the first text of a scene that breaks the rule; empty where none does."""
    facts = map(_fact_fault, scene.facts)
    skills = (fault for skill in scene.skills for fault in _skill_faults(skill))
    return objects_fault(scene.objects) or next(filter(None, (*facts, *skills)), '')


def quoted(text: str) -> str:
    """Quote a text in one line in which all characters are visible."""
    return escape_hidden(repr(text if len(text) <= MAX_NAME else f'{text[:MAX_NAME]}...'))


def _object_fault(item: SceneObject) -> str:
    fault = color_fault(item.color)
    return name_fault(item.name) or (f'{fault} ({item.name})' if fault else '')


def _fact_fault(fact: Fact) -> str:
    return (
        name_fault(fact.subject)
        or name_fault(fact.predicate, 'relation')
        or words_fault(fact.object, f'value of {fact.subject} {fact.predicate}')
    )


def _skill_faults(skill: Skill) -> Iterator[str]:
    yield name_fault(skill.name, 'name of a skill')
    for param in skill.params:
        yield name_fault(param, 'parameter')
    for alias in skill.aliases:
        yield words_fault(alias, 'alias')
    if len(skill.summary) > MAX_SUMMARY or '<' in skill.summary or hidden_fault(skill.summary):
        yield f'the summary {quoted(skill.summary)} is not one short line without <'


_NUMBERED = re.compile(r'(.+)_([0-9]+)\Z')


def instance_name(class_name: str, id: int) -> str:
    """Return the name of one object, for example `salmon_328`, of characters of a name."""
    return f'{_NO_NAME.sub("_", class_name)}_{id}'


def class_of(name: str) -> str:
    """Return the class of an object, for example `salmon`; a name without a number stays."""
    found = _NUMBERED.match(name)
    return found.group(1) if found else name


def id_of(name: str) -> int | None:
    """Return the number of an object, None where its name has none."""
    found = _NUMBERED.match(name)
    return int(found.group(2)) if found else None
