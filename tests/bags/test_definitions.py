"""Definitions that are shipped are those of the interfaces, and contain all that they name."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from mcap_ros2._dynamic import serialize_dynamic

from bbllm.bags.definitions import FILE, definition_of, fields_in, shipped_text
from bbllm.bags.topics import WRITTEN_TYPES

TOOL = Path(__file__).resolve().parents[2] / 'tools' / 'message_definitions.py'
NAMES = [line[5:] for line in FILE.read_text().splitlines() if line.startswith('MSG: ')]


@pytest.fixture(scope='module')
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location('message_definitions', TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize('name', [name for name in NAMES if name.startswith('bbllm')])
def test_definitions_of_bbllm_are_those_of_its_interfaces(tool: ModuleType, name: str) -> None:
    assert shipped_text(name) == tool.source_text(name), f'run {TOOL.name}'


@pytest.mark.ros
def test_definitions_are_those_of_the_installed_packages(tool: ModuleType) -> None:
    assert FILE.read_text() == tool.file_text(), f'run {TOOL.name}'


@pytest.mark.parametrize('message', WRITTEN_TYPES)
def test_a_definition_contains_every_message_that_it_names(message: str) -> None:
    assert message in serialize_dynamic(message, definition_of(message))


def test_constants_and_comments_are_no_fields() -> None:
    text = """\
# int32 gone
string KIND = 'kind'
uint8 LAST=3
uint8 status 1  # int32 gone
string[<=2] names
geometry_msgs/Pose[7] poses
Part part
string<=5 short
"""
    assert fields_in('own_msgs/Whole', text) == {
        'status': ('uint8', False),
        'names': ('string', True),
        'poses': ('geometry_msgs/Pose', True),
        'part': ('own_msgs/Part', False),
        'short': ('string', False),
    }
