"""The pages about the real arm: what they tell people to type and to read is there."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / 'docs' / name for name in ('real-arm.md', 'first-day-on-hardware.md')]


def commands_of(path: Path, *words: str) -> list[list[str]]:
    """Return the commands of a page, in blocks or in a line, that begin with some words."""
    text = path.read_text()
    blocks = re.findall(r'^```\n(.*?)^```', text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    lines += re.findall(
        r'`([^`\n]+)`', re.sub(r'^```.*?^```', '', text, flags=re.MULTILINE | re.DOTALL)
    )
    parts = [part for line in lines for part in line.partition(' #')[0].split('&&')]
    split = [shlex.split(part) for part in parts if part.strip().startswith(words[0])]
    return [command for command in split if command[: len(words)] == list(words)]


@pytest.mark.parametrize('path', PAGES, ids=lambda path: path.name)
def test_commands_of_bbllm_have_the_options_they_are_given(path: Path) -> None:
    from typer.testing import CliRunner

    from bbllm.cli.main import app

    # `bbllm` alone is the namespace.
    found = [command for command in commands_of(path, 'bbllm') if len(command) > 1]
    assert found
    for _, *words in found:
        names = words[: 2 if words[0] == 'bench' else 1]
        told = CliRunner().invoke(app, [*names, '--help'], env={'COLUMNS': '200'})
        assert told.exit_code == 0, told.output
        known = set(re.findall(r'--[a-z-]+', told.output))
        assert {word for word in words if word.startswith('--')} <= known, names


@pytest.mark.parametrize('path', PAGES, ids=lambda path: path.name)
def test_launch_files_are_there_and_have_the_arguments_they_are_given(path: Path) -> None:
    for _, _, _, name, *given in commands_of(path, 'ros2', 'launch', 'bbllm'):
        file = ROOT / 'launch' / name
        assert file.is_file()
        names = {word.partition(':=')[0] for word in given if ':=' in word}
        if importlib.util.find_spec('launch_ros') is not None:
            assert names <= arguments_of(file), name


@pytest.mark.skipif(
    importlib.util.find_spec('launch_ros') is None,
    reason='launch_ros is not installed: it comes with ROS 2, but not from PyPI',
)
def test_table_of_arguments_is_that_of_the_launch_file() -> None:
    rows = re.findall(r'^\| (`\w+`(?:, `\w+`)*) \|', PAGES[0].read_text(), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r'`(\w+)`', row)}

    assert named == arguments_of(ROOT / 'launch' / 'franka_real.launch.py')


def arguments_of(path: Path) -> set[str]:
    from launch.actions import DeclareLaunchArgument

    spec = importlib.util.spec_from_file_location('launch_file', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    entities = module.generate_launch_description().entities
    return {entity.name for entity in entities if isinstance(entity, DeclareLaunchArgument)}


@pytest.mark.parametrize('path', PAGES, ids=lambda path: path.name)
def test_containers_are_services_of_the_compose_file(path: Path) -> None:
    services = yaml.safe_load((ROOT / 'docker' / 'compose.yaml').read_text())['services']
    for command in commands_of(path, 'docker', 'compose'):
        assert (ROOT / command[command.index('-f') + 1]).is_file()
        assert set(services) & set(command), command


def test_every_unknown_of_the_first_day_names_the_file_that_assumes_it() -> None:
    text = PAGES[1].read_text().partition('## 8.')[2].partition('## 9.')[0]
    rows = [line.strip('|').split('|') for line in text.splitlines() if line.startswith('| ')][1:]
    unknowns = [row for row in rows if row[0].strip() != '---']

    assert len(unknowns) >= 15
    assert [row[0] for row in unknowns if not re.search(r'\]\(\.\./[^)]+\)', row[-1])] == []
