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


OFFLINE = ('--world', 'tabletop', '--brain', 'offline', '--body', 'offline', '--json')


def started(folder: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, '-m', 'bbllm', 'chat', *OFFLINE, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, 'XDG_STATE_HOME': str(folder), 'OPENAI_API_KEY': ''},
    )


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


def test_a_stop_word_from_a_pipe_does_not_wait_for_its_turn(tmp_path: Path) -> None:
    with started(tmp_path) as chat:
        assert chat.stdin is not None and chat.stderr is not None
        chat.stdin.write('put the red cube on location_A\n')
        chat.stdin.flush()
        for line in chat.stderr:
            if 'plan' in line:  # the arm is about to move
                break
        out, _ = chat.communicate('stop\nis the red cube on location_A?\n', timeout=300)

    assert chat.returncode == 0
    stopped, answered = map(json.loads, out.splitlines())
    assert stopped['ending'] == 'CANCELLED'
    assert answered['reply'].startswith('No')


def test_lines_before_a_stop_word_that_still_wait_are_left_out(tmp_path: Path) -> None:
    lines = 'put the red cube on A\nput the blue cube on B\nstop\nwhere is the blue cube?\n'
    with started(tmp_path) as chat:
        out, shown = chat.communicate(lines, timeout=300)

    assert 'Stopped.' in shown
    turns = [json.loads(line) for line in out.splitlines()]
    assert turns[-1]['reply'].startswith('blue_cube is on table')
    assert all(turn['ending'] == 'CANCELLED' for turn in turns[:-1])


def test_an_answer_in_advance_that_is_no_option_leaves_the_question_to_the_person(
    tmp_path: Path,
) -> None:
    with started(tmp_path, '--answer', 'purple') as chat:
        out, shown = chat.communicate('put the cylinder on B\n2\n', timeout=300)

    assert json.loads(out)['ending'] == 'FINISHED'
    refused = "The answer 'purple' is none of the options of the question: Which cylinder do you"
    assert refused in shown and '1: white_cylinder / 2: black_cylinder' in shown


def test_an_answer_that_is_given_elsewhere_is_shown_with_who_gave_it(tmp_path: Path) -> None:
    with started(tmp_path, '--answer', 'the black one') as chat:
        out, shown = chat.communicate('put the cylinder on B\n', timeout=300)

    assert json.loads(out)['ending'] == 'FINISHED'
    assert 'answer   the black one (given elsewhere or in advance)' in shown
