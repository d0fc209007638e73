"""The list of licences: of every package that is installed, and current."""

import importlib.util
import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent


def listed() -> dict[str, str]:
    rows = re.findall(r'^\| ([\w.-]+) \| (.+) \|$', (ROOT / 'THIRD_PARTY.md').read_text(), re.M)
    return {name: licence for name, licence in rows if set(name) != {'-'} and name != 'package'}


@pytest.fixture
def licences() -> Any:
    spec = importlib.util.spec_from_file_location('licences', ROOT / 'tools' / 'licences.py')
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_locked_package_of_bbllm_is_listed_with_its_licence() -> None:
    lock = (ROOT / 'requirements' / 'lock.txt').read_text()
    # Without markers: others may be for another system or version of Python.
    pinned = set(re.findall(r'^([a-z0-9._-]+)==\S+ \\$', lock, re.MULTILINE))

    assert len(pinned) > 100
    assert pinned - listed().keys() == set()


@pytest.mark.parametrize(
    ('name', 'licence'),
    [('mujoco', 'Apache-2.0'), ('qpsolvers', 'GNU Lesser'), ('ros-rclpy', 'Apache License 2.0')],
)
def test_a_licence_is_found_wherever_a_package_states_it(
    licences: Any, name: str, licence: str
) -> None:
    try:
        package = distribution(name)
    except PackageNotFoundError:
        pytest.skip(f'{name} is not installed from PyPI here')
    assert licence in licences.licence_of(package)
    assert licence in listed()[name]
