"""The guides to skills, worlds and scene files: their programs run, their files load."""

import ast
import importlib
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from bbllm.core.errors import SceneFileError
from bbllm.core.types import SkillCall
from bbllm.scene.scene_file import load_scene, make_scene
from bbllm.skills import catalog
from bbllm.worlds.tabletop.tabletop import TabletopWorld

DOCS = Path(__file__).resolve().parent.parent / 'docs'
PRINTS = {
    'writing-a-skill.md': 'SUCCEEDED 5 cm',
    'writing-a-world.md': 'FINISHED (hand is empty) (red_cube on left_end)',
    'writing-a-robot.md': 'careful 7 joints, tool 0.487 m high',
}
SCENES = DOCS / 'scene-files.md'


def snippets(path: Path, language: str) -> list[str]:
    return re.findall(rf'^```{language}\n(.*?)^```', path.read_text(), re.DOTALL | re.MULTILINE)


PUBLIC = (
    *('bbllm', 'bbllm.planning', 'bbllm.robots', 'bbllm.skills', 'bbllm.tables'),
    'bbllm.testing',
)
PROGRAMS = {
    **{path.name: [path.read_text()] for path in sorted(DOCS.parent.glob('examples/*.py'))},
    **{page.relative_to(DOCS).as_posix(): snippets(page, 'python') for page in DOCS.rglob('*.md')},
}
"""The code of each example and of each page."""


@pytest.mark.parametrize('name', [name for name, programs in PROGRAMS.items() if programs])
def test_examples_and_pages_import_public_names_alone(name: str) -> None:
    nodes = [node for text in PROGRAMS[name] for node in ast.walk(ast.parse(text))]
    imported = {
        (node.module, item.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith('bbllm')
        for item in node.names
    }
    modules = {
        item.name
        for node in nodes
        if isinstance(node, ast.Import)
        for item in node.names
        if item.name.startswith('bbllm')
    }

    assert modules <= {*PUBLIC}
    assert {module for module, _ in imported} <= {*PUBLIC}
    public = {(face, each) for face in PUBLIC for each in importlib.import_module(face).__all__}
    assert imported <= public


@pytest.mark.parametrize('name', PRINTS)
def test_the_program_of_a_guide_prints_what_the_guide_states(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    program, *_ = snippets(DOCS / name, 'python')

    exec(compile(program, name, 'exec'), {'__name__': 'guide'})

    assert capsys.readouterr().out.strip().splitlines()[-1] == PRINTS[name]
    assert f'It prints `{PRINTS[name]}`.' in (DOCS / name).read_text()


@pytest.mark.parametrize(
    ('call', 'activity'),
    [
        (SkillCall('nod', ('red_cube',)), 'nodding'),
        (SkillCall('shake', ('red_cube', '4 cm')), 'shaking red_cube'),
    ],
)
def test_a_skill_of_the_guide_moves_the_arm(
    call: SkillCall, activity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, *programs = snippets(DOCS / 'writing-a-skill.md', 'python')
    found: dict[str, Any] = {'__name__': 'guide'}
    exec(compile('\n'.join(programs), 'writing-a-skill.md', 'exec'), found)
    skill = found[call.skill.upper()]
    known = {**catalog.arm_skills()}
    monkeypatch.setattr(catalog, 'arm_skills', lambda: {**known, call.skill: skill})
    activities: list[str] = []
    world = TabletopWorld('tower')
    world.set_activity_callback(activities.append)

    outcome = world.execute(call)

    assert catalog.fault_of(skill, known) == ''
    assert outcome.succeeded, outcome.message
    assert activities.count(activity) == 2


def test_the_scene_of_the_guide_loads_and_has_what_it_describes(tmp_path: Path) -> None:
    (text,) = snippets(SCENES, 'yaml')
    path = tmp_path / 'my_table.yaml'
    path.write_text(text)

    scene = load_scene(path)

    assert [item.name for item in scene.places] == ['sink']
    assert scene.fixed == {'post'}
    assert {item.kind.value for item in scene.movables} >= {'cube', 'cylinder'}
    broken = yaml.safe_load(text)
    broken['objects'][0]['colour'] = 'red'
    with pytest.raises(SceneFileError, match='color'):
        make_scene(broken)
