"""Skills as objects: who deals with calls asks them, and knows none by its name."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import bbllm
from bbllm.skills.catalog import SKILLS, find_skill, own_skills
from bbllm.skills.skill import ArmSkill

PACKAGE = Path(bbllm.__file__).parent
ROOMS = ('api', 'arm', 'cli', 'scene', 'sim', 'skills', 'worlds/perception', 'worlds/tabletop')


def literals(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize('room', ROOMS)
def test_no_room_of_the_arm_names_a_skill(room: str) -> None:
    names = {skill.name for skill in own_skills()}
    # The words of constraints are words of people, some of which are names of skills too.
    homes = {f'{name}.py' for name in names} | {'constraints.py'} if room == 'skills' else set()

    named = {
        f'{path.relative_to(PACKAGE)}: {text}'
        for path in (PACKAGE / room).rglob('*.py')
        if path.name not in homes
        for text in literals(path)
        if text in names
    }

    assert named == set()


@pytest.mark.parametrize('skill', own_skills(), ids=lambda skill: skill.name)
def test_each_skill_has_a_module_of_its_name(skill: ArmSkill) -> None:
    assert (PACKAGE / 'skills' / f'{skill.name}.py').is_file()
    assert (skill.plan is None) is bool(skill.halves)
    assert find_skill(skill.name) is skill


@pytest.mark.parametrize('skill', own_skills(), ids=lambda skill: skill.name)
def test_the_forms_of_a_skill_take_its_arguments(skill: ArmSkill) -> None:
    for form in skill.forms:
        assert form.count('{}') == len(skill.signature.params)
    assert all(param.isidentifier() for param in skill.signature.params)


def test_every_table_offers_the_same_skills_in_the_order_of_prompts() -> None:
    assert [skill.name for skill in SKILLS] == [
        *('pick', 'place', 'reach', 'return_to_base', 'wait', 'open_gripper', 'close_gripper')
    ]
