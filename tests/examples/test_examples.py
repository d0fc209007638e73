"""The examples run as they stand there, and need nothing deeper than `import bbllm`."""

import ast
import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.terminals import running_stack

EXAMPLES = Path(__file__).resolve().parents[2] / 'examples'
PROGRAMS = sorted(EXAMPLES.glob('*.py'))
NOTEBOOK = EXAMPLES / 'tour.ipynb'
STATES = {
    'own_planner': 'FINISHED after 1 feedback loops',
    'own_skill': 'swap(red_cube, blue_cube)\nFINISHED',
    'own_suite': 'base_llm, K = 0: success 1.00',
    'replay': 'both made the same calls',
    'run_task': 'now (red_cube on blue_cube)',
}
"""What each program prints, beside its exit code 0; the client of a stack has a test below."""


def run(name: str, state: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(EXAMPLES / f'{name}.py')],
        env={**os.environ, 'XDG_STATE_HOME': str(state)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def imported(source: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(str(node.module))
    return names


def cells() -> list[dict[str, Any]]:
    notebook = json.loads(NOTEBOOK.read_text(encoding='utf-8'))
    return [cell for cell in notebook['cells'] if cell['cell_type'] == 'code']


def test_the_list_of_examples_has_each_program() -> None:
    listed = re.findall(r'^\| \[(\S+)\]', (EXAMPLES / 'README.md').read_text(), re.MULTILINE)

    assert {*listed} == {*(path.name for path in PROGRAMS), NOTEBOOK.name}


@pytest.mark.parametrize('path', [*PROGRAMS, NOTEBOOK], ids=lambda path: path.name)
def test_example_imports_the_front_door_only(path: Path) -> None:
    source = path.read_text(encoding='utf-8')
    if path == NOTEBOOK:
        source = '\n'.join(''.join(cell['source']) for cell in cells())
    names = imported(source)

    assert 'bbllm' in names
    tops = {name.partition('.')[0] for name in names if name != 'bbllm'}
    assert tops <= set(sys.stdlib_module_names)


@pytest.mark.parametrize('name', STATES)
def test_example_does_what_it_is_for(name: str, tmp_path: Path) -> None:
    done = run(name, tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert STATES[name] in done.stdout


def test_notebook_runs_and_shows_what_it_showed(capsys: pytest.CaptureFixture[str]) -> None:
    variables: dict[str, object] = {}
    for cell in cells():
        tree = ast.parse(''.join(cell['source']))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, NOTEBOOK.name, 'exec'), variables)
        shown: object = None
        if isinstance(last, ast.Expr):
            shown = eval(compile(ast.Expression(last.value), NOTEBOOK.name, 'eval'), variables)
        printed = capsys.readouterr().out
        saved = {output['output_type']: output for output in cell['outputs']}

        assert bool(printed) is ('stream' in saved)
        assert (shown is not None) is ('execute_result' in saved)
        if 'image/png' in saved.get('execute_result', {}).get('data', {}):
            png = base64.b64decode(saved['execute_result']['data']['image/png'])
            assert png[:4] == bytes(shown)[:4] == b'\x89PNG'  # type: ignore[call-overload]


@pytest.fixture
def stack(tmp_path: Path, ros_domain: int) -> Iterator[Path]:
    """Start the stack, and return its state folder."""
    with running_stack({**os.environ, 'XDG_STATE_HOME': str(tmp_path)}, '--speed', '0'):
        yield tmp_path


@pytest.mark.slow  # a stack of its own
@pytest.mark.ros
def test_client_gives_a_running_stack_a_task(stack: Path) -> None:
    done = run('ros_client', stack)

    assert done.returncode == 0, done.stdout + done.stderr
    assert '-> pick(red_cube)' in done.stdout and 'FINISHED' in done.stdout


@pytest.mark.slow  # waits until no stack was discovered
@pytest.mark.ros
def test_client_without_a_stack_states_how_to_start_one(ros_domain: int, tmp_path: Path) -> None:
    done = run('ros_client', tmp_path)

    assert done.returncode == 2
    assert 'bbllm up sim' in done.stderr
