"""docs/writing-a-planner.md works as it stands there: its planner, its test and its commands."""

import configparser
import importlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bbllm.core import plugins, registry
from bbllm.core.errors import ConfigError
from bbllm.core.registry import load_planner, load_planners
from bbllm.testing import Handler, ModelServer, replies

PAGE = Path(__file__).parents[2] / 'docs' / 'writing-a-planner.md'
FENCES = re.findall(r'^```(\w*)\n(.*?)^```', PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)
COMMANDS = [line for kind, text in FENCES if not kind for line in text.splitlines()]
POINTS = f'project.entry-points.{registry.GROUP}'
TO_DO = {
    'open the fridge': ('walk(fridge)', 'open(fridge)'),
    'put the red cube on location_B': ('pick(red_cube)', 'place(location_B)'),
    'watch tv': ('walk(tv)', 'switchon(tv)'),
}


def blocks(kind: str) -> list[str]:
    return [text for other, text in FENCES if other == kind]


def install(folder: Path, project: str, **modules: str) -> Path:
    """Write a package as an installer would, but for the files that nothing here reads."""
    toml = configparser.ConfigParser()  # it reads as much of it as is used here
    toml.read_string(project.replace('"', ''))
    about = toml['project']
    info = folder / f'{about["name"].replace("-", "_")}-{about["version"]}.dist-info'
    info.mkdir(parents=True)
    (info / 'METADATA').write_text(
        f'Metadata-Version: 2.1\nName: {about["name"]}\nVersion: {about["version"]}\n'
    )
    points = [f'{name} = {value}' for name, value in toml[POINTS].items()]
    (info / 'entry_points.txt').write_text('\n'.join([f'[{registry.GROUP}]', *points]))
    for name, code in modules.items():
        (folder / f'{name}.py').write_text(code)
    return folder


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    planner, test = blocks('python')
    return install(
        tmp_path_factory.mktemp('notebook'),
        blocks('toml')[0],
        notebook_planner=planner,
        test_notebook_planner=test,
    )


@pytest.fixture
def visible(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], None]]:
    """Return what lets this process find the packages in a folder, for one test."""

    def show(path: Path) -> None:
        monkeypatch.syspath_prepend(str(path))
        plugins.forget()

    yield show
    plugins.forget()
    for name in ('notebook_planner', 'test_notebook_planner', 'broken_planner'):
        sys.modules.pop(name, None)


@pytest.fixture
def installed(folder: Path, visible: Callable[[Path], None]) -> None:
    """Let this process find the package of the page."""
    visible(folder)


def bbllm(words: list[str], *paths: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, which finds packages in some more folders."""
    found = os.pathsep.join([*map(str, paths), os.environ.get('PYTHONPATH', '')])
    return subprocess.run(
        [sys.executable, '-m', 'bbllm', *words],
        env={**os.environ, 'PYTHONPATH': found, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.usefixtures('installed')
def test_the_test_of_the_page_passes() -> None:
    module = importlib.import_module('test_notebook_planner')
    tests = [value for name, value in vars(module).items() if name.startswith('test_')]

    assert tests
    for test in tests:
        test()


def answer(handler: Handler, body: dict[str, Any]) -> None:
    """Answer as a model would that knows what to do: `notebook` by the action that was last."""
    prompt = body['messages'][-1]['content']
    if 'Your last action: ' not in prompt:
        reply = "\t# 1: switch it on\n\tfind('tv')\n\tswitchon('tv')\n"
    else:
        task = re.search(r'^Task: (.*)$', prompt, flags=re.MULTILINE)
        to_do = TO_DO[task[1].rstrip('.') if task else '']
        last = prompt.rpartition('Your last action: ')[2].partition(') ')[0] + ')'
        left = to_do[to_do.index(last) + 1 :] if last in to_do else to_do
        reply = f'do: {left[0]}' if left else 'done'
    replies(reply)(handler, body)


@pytest.mark.parametrize('command', COMMANDS)
def test_a_command_of_the_page_plays_its_planner(
    command: str, folder: Path, tmp_path: Path
) -> None:
    words = [*shlex.split(command)[1:], '--json']
    words += ['--out', str(tmp_path / 'out')] if words[0] == 'bench' else []
    with ModelServer(answer) as server:
        played = bbllm(
            words, folder, OPENAI_BASE_URL=server.url, XDG_STATE_HOME=str(tmp_path / 'state')
        )

    assert played.returncode == 0, played.stdout + played.stderr
    printed = json.loads(played.stdout)
    if words[0] == 'run':
        assert (printed['planner'], printed['ending']) == ('notebook', 'FINISHED')
    elif words[1] == 'compare':
        assert [row['planner'] for row in printed['planners']] == words[
            words.index('--planners') + 1
        ].split(',')
        assert [row['passed'] for row in printed['planners']] == [1] * 3
    else:
        assert (printed['planner'], printed['by_k'][-1]['passed']) == ('notebook:note=no', 1)


BROKEN = """
[project]
name = "broken"
version = "1"
[project.entry-points."bbllm.planners"]
"""


@pytest.mark.parametrize(
    ('name', 'code', 'expected'),
    [
        (
            'mine',
            'import no_such_module',
            'broken_planner:Mine cannot be imported (ModuleNotFound',
        ),
        ('mine', 'class Yours: pass', "has no attribute 'Mine'"),
        ('mine', 'class Mine: pass', 'it has no method run(task, world, context)'),
        ('brain_body', '', 'Two planners are named brain_body: '),
    ],
)
def test_a_package_that_is_broken_is_refused_with_what_is_wrong_and_hides_no_other(
    name: str, code: str, expected: str, tmp_path: Path, visible: Callable[[Path], None]
) -> None:
    project = f'{BROKEN}{name} = "broken_planner:Mine"'
    visible(install(tmp_path, project, broken_planner=code))

    with pytest.raises(ConfigError) as caught:
        load_planner(name)
    factories, faults = load_planners()

    assert expected in str(caught.value)
    assert list(faults) == [name]
    assert 'base_llm' in factories


def test_a_planner_that_is_broken_ends_a_command_with_2_and_a_sentence(tmp_path: Path) -> None:
    project = f'{BROKEN}mine = "broken_planner:Mine"'
    path = install(tmp_path / 'site', project, broken_planner='import no_such_module')

    refused = bbllm(['run', 'tidy up', '--house', 'studio', '--planner', 'mine'], path)

    assert refused.returncode == 2, refused.stderr
    assert 'cannot be imported' in ' '.join(refused.stderr.split())
    assert 'Traceback' not in refused.stderr
