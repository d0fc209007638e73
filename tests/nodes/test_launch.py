"""The launch files; what needs `launch`, which PyPI does not have, says so when it skips."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from bbllm.nodes.params import NODE_PARAMS
from bbllm.nodes.stack import NODES, REAL_NODES

LAUNCH = Path(__file__).resolve().parents[2] / 'launch'
FILES = sorted(LAUNCH.glob('*.launch.py'))
needs_launch = pytest.mark.skipif(
    importlib.util.find_spec('launch_ros') is None,
    reason='launch_ros is not installed: it comes with ROS 2, but not from PyPI',
)


def description_of(path: Path) -> list:
    """Run a launch file and return the actions of its description."""
    spec = importlib.util.spec_from_file_location('launch_file', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.generate_launch_description().entities)


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
def test_launch_file_is_short_and_starts_the_list_of_the_stack(path: Path) -> None:
    text = path.read_text()

    assert len(text.splitlines()) <= 40
    assert 'from bbllm.nodes.stack import' in text


@needs_launch
@pytest.mark.parametrize(
    ('name', 'nodes'),
    [('franka_sim.launch.py', NODES), ('franka_real.launch.py', REAL_NODES)],
)
def test_launch_file_starts_every_node(name: str, nodes: tuple[str, ...]) -> None:
    from launch_ros.actions import Node

    started = [item for item in description_of(LAUNCH / name) if isinstance(item, Node)]

    assert [node.node_executable for node in started] == list(nodes)


@needs_launch
@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
def test_every_argument_is_described_and_has_a_default(path: Path) -> None:
    from launch.actions import DeclareLaunchArgument

    arguments = [x for x in description_of(path) if isinstance(x, DeclareLaunchArgument)]
    names = [argument.name for argument in arguments]

    assert 'namespace' in names
    assert len(names) == len(set(names))
    assert all(argument.description for argument in arguments)
    assert all(argument.default_value is not None for argument in arguments)


@needs_launch
def test_arguments_are_parameters_of_their_nodes() -> None:
    from bbllm.nodes.launching import ARGUMENTS

    for node, names in ARGUMENTS.items():
        assert set(names) <= set(NODE_PARAMS[node].__dataclass_fields__)
