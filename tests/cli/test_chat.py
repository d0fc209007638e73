"""`bbllm chat` in a process of its own, with lines from a pipe."""

import json
import os
import subprocess
import sys
from pathlib import Path

import yaml

from bbllm.testing import ModelServer
from tests.twenty_turns import LINES, scripted

OPTIONS = ('--world', 'tabletop', '--goal', 'no', '--turns', '20', '--json')


def talk(folder: Path, lines: str, *options: str) -> subprocess.CompletedProcess[str]:
    with ModelServer(scripted) as server:
        role = {'provider': 'openai', 'model': 'm', 'base_url': server.url, 'retries': 0}
        config = folder / 'llm.yaml'
        config.write_text(yaml.safe_dump({'brain': role, 'body': {**role}}))
        return subprocess.run(
            [sys.executable, '-m', 'bbllm', 'chat', '--llm-config', str(config), *options],
            input=lines,
            capture_output=True,
            text=True,
            env={**os.environ, 'XDG_STATE_HOME': str(folder), 'OPENAI_API_KEY': ''},
            timeout=300,
            check=False,
        )


def test_twenty_lines_from_a_pipe(tmp_path: Path) -> None:
    done = talk(tmp_path, ''.join(f'{line.text}\n' for line in LINES), *OPTIONS)

    assert done.returncode == 0, done.stderr
    turns = [json.loads(text) for text in done.stdout.splitlines()]
    wanted = [line for line in LINES if line.ending]
    assert [turn['ending'] for turn in turns] == [line.ending for line in wanted]
    for turn, line in zip(turns, wanted):
        assert line.says in turn['reply']
    assert '? Which cube?' in done.stderr
    assert '2: blue_cube' in done.stderr


def test_lines_that_are_no_turns_end_nothing(tmp_path: Path) -> None:
    lines = ('', '   ', '/turns', '/nonsense', 'x' * 3000, 'hello', '/quit', 'hello')

    done = talk(tmp_path, '\n'.join(lines), *OPTIONS)

    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1
    assert 'has 3000 characters; at most 2000 are taken' in done.stderr


def test_a_question_that_no_line_is_left_for_ends_with_the_lines(tmp_path: Path) -> None:
    done = talk(tmp_path, 'put a cube on location_B\n', *OPTIONS)

    assert json.loads(done.stdout)['ending'] == 'CANCELLED'
    assert 'The lines ended before an answer' in done.stderr
