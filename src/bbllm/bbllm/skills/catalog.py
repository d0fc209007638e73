"""
The skills of the arm by name, in the order in which prompts list them.

Those of bbllm are the modules beside this one that have an `ArmSkill` of their name in capitals.
Another package adds one by an entry point of the group `bbllm.skills` that names an `ArmSkill`.
One that cannot be loaded, or that cannot be told from another skill, is left out with a warning.
"""

import logging
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

from bbllm.core.errors import UnknownNameError
from bbllm.core.plugins import Plugin, installed
from bbllm.core.skill_calls import plain
from bbllm.core.text import error_text
from bbllm.core.types import SceneObject, Skill, SkillCall
from bbllm.skills.close_gripper import CLOSE_GRIPPER
from bbllm.skills.open_gripper import OPEN_GRIPPER
from bbllm.skills.pick import PICK
from bbllm.skills.place import PLACE
from bbllm.skills.reach import REACH
from bbllm.skills.return_to_base import RETURN_TO_BASE
from bbllm.skills.skill import ArmSkill
from bbllm.skills.step_words import fault_of_phrase
from bbllm.skills.wait import WAIT

GROUP = 'bbllm.skills'
CORE = (PICK, PLACE, REACH, RETURN_TO_BASE, WAIT, OPEN_GRIPPER, CLOSE_GRIPPER)
"""What every table offers."""
SKILLS: tuple[Skill, ...] = tuple(each.signature for each in CORE)


@cache
def own_skills() -> tuple[ArmSkill, ...]:
    """Return the skills of bbllm: `CORE`, then the others by their names."""
    names = sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    modules = {name: import_module(f'bbllm.skills.{name}') for name in names}
    found = (getattr(module, name.upper(), None) for name, module in modules.items())
    more = (each for each in found if isinstance(each, ArmSkill) and each not in CORE)
    return (*CORE, *more)


@cache
def arm_skills() -> Mapping[str, ArmSkill]:
    """Return all skills by name: those of bbllm, then others by their names."""
    found, faults = load_skills(installed(GROUP))
    for fault in faults:
        logging.getLogger('bbllm').warning(fault)
    return found


def load_skills(
    points: Iterable[Plugin],
) -> tuple[Mapping[str, ArmSkill], tuple[str, ...]]:
    """Return the skills of bbllm and of some entry points, and why some of these are left out."""
    own = {each.name: each for each in own_skills()}
    found = dict(own)
    faults: list[str] = []
    loaded: list[tuple[Plugin, ArmSkill]] = []
    for point in sorted(points, key=lambda point: (point.name, point.value)):
        try:
            skill: object = point.load()
        except Exception as error:  # whatever the module of another package does when imported
            faults.append(_left_out(point, f'it cannot be imported ({error_text(error)})'))
            continue
        if not isinstance(skill, ArmSkill):
            faults.append(_left_out(point, f'it is {type(skill).__name__} and no ArmSkill'))
            continue
        loaded.append((point, skill))
    names = [skill.name for _, skill in loaded]
    for point, skill in loaded:
        fault = fault_of(skill, found)
        if names.count(skill.name) > 1 and skill.name not in own:
            # Either may be the one that was meant, and both move the arm.
            fault = f'{names.count(skill.name)} packages bring a skill named {skill.name}'
        if fault:
            faults.append(_left_out(point, fault))
        else:
            found[skill.name] = skill
    return found, tuple(faults)


def fault_of(skill: ArmSkill, known: Mapping[str, ArmSkill]) -> str:
    """Return why a skill cannot be added to others, '' where it can."""
    if not skill.name.isidentifier() or skill.name != plain(skill.name):
        return f'its name {skill.name!r} is no word in lower case, such as wipe_table'
    for phrase in _phrases(skill):
        if fault := fault_of_phrase(phrase):
            return f'its name or word {phrase!r} cannot stand for it: {fault}'
    for other in known.values():
        if shared := sorted({*_phrases(skill)} & {*_phrases(other)}):
            # A step that names one of them would allow the other.
            return f'{shared[0]!r} is a name or a word of the skill {other.name} already'
    if (skill.plan is None) is not bool(skill.halves):
        return 'it needs either `plan` or `halves`'
    if unknown := [half.skill for half in skill.halves if half.skill not in known]:
        return f'its half {unknown[0]} is no skill'
    for form in skill.forms:
        if form.count('{}') != len(skill.signature.params):
            return f'its form {form!r} has not the {len(skill.signature.params)} blanks it needs'
    return ''


def _phrases(skill: ArmSkill) -> Iterator[str]:
    for phrase in (skill.name, *skill.signature.aliases, *skill.words):
        yield plain(phrase)


def _left_out(point: Plugin, why: str) -> str:
    package = point.package or 'no package'
    return (
        f'The skill {point.name} ({point.value} of {package}) is left out: {why}. '
        'docs/writing-a-skill.md shows one. Mend or uninstall the package that brings it.'
    )


def find_skill(name: str) -> ArmSkill | None:
    """Return the skill of that name, in any spelling; None where the arm has none."""
    return arm_skills().get(plain(name))


def known_skills(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of skills as they are; raises UnknownNameError where the arm has none."""
    names = tuple(names)
    for name in names:
        if name not in arm_skills():
            raise UnknownNameError('skill', name, arm_skills())
    return names


def skills_for(objects: Sequence[SceneObject], asked: Sequence[str] = ()) -> tuple[Skill, ...]:
    """Return what a table offers, by its objects and the names that its scene file asks for."""
    return tuple(each.signature for each in arm_skills().values() if each.offered(objects, asked))


def moves(call: SkillCall) -> bool:
    """Return whether a call may move anything; one of an unknown skill may."""
    skill = find_skill(call.skill)
    return skill is None or skill.moves
