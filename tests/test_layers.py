"""ROS stays in its own packages; the arrows between packages and rooms are in pyproject.toml."""

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / 'src' / 'bbllm'
ROS = ('rclpy', 'action_msgs', 'ament_index_python', 'bbllm_interfaces', 'launch', 'launch_ros')
WITH_ROS = ('bbllm_ros/', 'bbllm_bench/stack/', 'bbllm_bench/benchmarks/')
FILES = sorted(SOURCE.glob('bbllm*/**/*.py'))


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Return the dotted names of all modules that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return frozenset(names)


def tops(names: frozenset[str]) -> set[str]:
    """Return the packages that dotted names begin with."""
    return {name.partition('.')[0] for name in names}


def is_ros(package: str) -> bool:
    """Return whether a package belongs to ROS."""
    return package in ROS or package.endswith(('_msgs', '_srvs', '_interfaces'))


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_file_imports_ros_only_where_it_may(path: Path) -> None:
    packages = tops(imports_of(path))

    if not name_of(path).startswith(WITH_ROS):
        assert not {package for package in packages if is_ros(package)}


@pytest.mark.parametrize('path', sorted(SOURCE.glob('bbllm/core/*.py')), ids=name_of)
def test_core_imports_the_standard_library_and_pydantic_alone(path: Path) -> None:
    known = {*sys.stdlib_module_names, 'bbllm', 'pydantic', 'pydantic_core'}

    assert tops(imports_of(path)) <= known


def test_episodes_are_assembled_in_one_module() -> None:
    modules = {
        name_of(path)
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith('EpisodeRun')
    }

    assert modules == {'bbllm/api/setup.py'}
