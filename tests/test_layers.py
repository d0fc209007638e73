"""Each layer imports only those below it, and ROS stays in its own."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / 'src' / 'bbllm' / 'bbllm'
LAYERS = (
    'core',
    'llm',
    'planners',
    'skills',
    'arm',
    'sim',
    'worlds',
    'viz',
    'bench',
    'ros',
    'nodes',
    'cli',
)
ROS = ('rclpy', 'action_msgs', 'ament_index_python', 'bbllm_interfaces', 'launch', 'launch_ros')
FILES = sorted(PACKAGE.rglob('*.py'))
PLANNERS = ('brain_body', 'fltrnn', 'inner_monologue', 'llm_pop', 'llm_state', 'prog_prompt')


def imports_of(path: Path) -> set[str]:
    """Return the dotted names of all modules that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f'{path}: relative import'
            names.add(node.module)
            # `from bbllm import nodes` names a layer too.
            names.update(f'{node.module}.{alias.name}' for alias in node.names)
    return names


def imports_at_start(path: Path) -> set[str]:
    """Return what importing the file imports at once, leaving out imports inside functions."""
    tree = ast.parse(path.read_text())
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def layer_of(path: Path) -> str:
    """Return the layer that a file belongs to; the package's own files are on top."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else 'cli'


def is_ros(name: str) -> bool:
    """Say whether a module belongs to ROS."""
    top = name.partition('.')[0]
    return top in ROS or top.endswith(('_msgs', '_srvs', '_interfaces'))


def test_every_folder_is_a_layer_of_the_list() -> None:
    folders = {file.relative_to(PACKAGE).parts[0] for file in FILES if file.parent != PACKAGE}

    assert folders <= set(LAYERS)


@pytest.mark.parametrize('path', FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_file_imports_only_its_own_layer_and_those_before(path: Path) -> None:
    allowed = LAYERS[: LAYERS.index(layer_of(path)) + 1]
    used = {
        name.split('.')[1]
        for name in imports_of(path)
        if name.startswith('bbllm.') and name.split('.')[1] in LAYERS
    }

    assert used <= set(allowed)


@pytest.mark.parametrize('folder', PLANNERS)
def test_a_planner_imports_no_other_planner(folder: str) -> None:
    shared = {folder, 'common', 'belief', 'body'}

    for path in (PACKAGE / 'planners' / folder).rglob('*.py'):
        parts = (name.split('.') for name in imports_of(path))
        imported = {name[2] for name in parts if name[:2] == ['bbllm', 'planners'] and name[2:]}
        assert imported <= shared, f'{path} imports {imported - shared}'


def test_nothing_imports_the_benchmarks() -> None:
    users = [path for path in FILES for name in imports_of(path) if name.startswith('benchmarks')]

    assert users == []


@pytest.mark.parametrize('path', FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_ros_is_imported_in_nodes_only(path: Path) -> None:
    if layer_of(path) not in ('ros', 'nodes'):
        assert not {name for name in imports_of(path) if is_ros(name)}


@pytest.mark.parametrize(
    'path',
    [file for file in FILES if layer_of(file) == 'core'],
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_core_needs_the_standard_library_only(path: Path) -> None:
    tops = {name.partition('.')[0] for name in imports_of(path)}

    assert tops <= {*sys.stdlib_module_names, 'bbllm'}


@pytest.mark.parametrize(
    'path',
    [file for file in FILES if layer_of(file) == 'cli'],
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_cli_reaches_nodes_only_when_a_verb_needs_them(path: Path) -> None:
    assert not {name for name in imports_at_start(path) if name.startswith('bbllm.ros')}
