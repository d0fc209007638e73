"""Scenes answer questions, tasks are checked, names suggest the nearest."""

import re

import pytest

from bbllm.core.errors import TaskError, UnknownNameError
from bbllm.core.tasks import MAX_TASK_CHARACTERS, make_task
from bbllm.core.types import Fact, Kind, Pose, Scene, SceneObject


def scene(*facts: Fact) -> Scene:
    names = ('red_cube', 'green_cube')
    cubes = (SceneObject(name=n, kind=Kind.CUBE, pose=Pose(position_m=(0, 0, 0))) for n in names)
    return Scene(tuple(cubes), (), facts, 0.0)


def test_an_unknown_object_is_answered_with_the_nearest_and_with_all() -> None:
    with pytest.raises(UnknownNameError, match=r"Did you mean 'red_cube'.*green_cube, red_cube"):
        scene().object('red_cubes')


def test_a_scene_knows_what_is_held_and_which_facts_hold() -> None:
    held = scene(Fact('red_cube', 'held_by', 'hand'))

    assert held.held == 'red_cube'
    assert scene().held is None
    assert held.has('red_cube', 'held_by') and held.has('red_cube', 'held_by', 'hand')
    assert not held.has('green_cube', 'held_by')


@pytest.mark.parametrize('text', ['', '   ', '\n\t'])
def test_an_empty_or_too_long_task_is_refused(text: str) -> None:
    with pytest.raises(TaskError, match='put the red cube'):
        make_task(text)
    with pytest.raises(TaskError, match=f'20000 characters; at most {MAX_TASK_CHARACTERS}'):
        make_task('x' * 20_000)


def test_a_task_is_one_line_in_any_script() -> None:
    assert (
        make_task('  赤い立方体を\n location_B に置いて ').instruction
        == '赤い立方体を location_B に置いて'
    )
    assert make_task('کتاب\u200cها را به 👩\u200d🚀 بده ❤\ufe0f').instruction.count('\u200d') == 1


@pytest.mark.parametrize('char', ['\x00', '\x1b', '\x9b', '\u200b', '\u202e', '\ue000'])
def test_a_task_with_a_character_that_is_not_visible_is_refused_and_names_it(char: str) -> None:
    with pytest.raises(TaskError, match=re.escape(f'U+{ord(char):04X}')) as refused:
        make_task(f'put{char} the cube')

    assert char not in str(refused.value)


@pytest.mark.parametrize('episode_id', ['../etc', 'a b', 'a/b'])
def test_an_episode_id_cannot_leave_its_folder(episode_id: str) -> None:
    with pytest.raises(TaskError, match='episode id'):
        make_task('wave', episode_id)
