"""`bbllm bench SUITE`: on real physics, with few episodes."""

import json
import re
import signal
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bbllm.cli.main import app
from bbllm.core.errors import ConfigError
from bbllm_bench.commands.options import parse_ks
from tests.bench.report import made_up
from tests.doubles.terminals import read_until, start

Command = Callable[..., Result]
WAIT_S = 180.0
OFFLINE = ('--brain', 'offline', '--body', 'offline')
CLOSING = (
    r'tabletop planner=brain_body brain=offline SR=\d\.\d\d \[\d\.\d\d, \d\.\d\d\] '
    r'GCR=\d\.\d\d EXEC=\d\.\d\d n=\d+'
)


def lines_of(folder: Path) -> list[dict[str, Any]]:
    text = (folder / 'results.jsonl').read_text()
    return sorted(map(json.loads, text.splitlines()), key=lambda line: str(line['key']))


def timeless_summary(folder: Path) -> dict[str, Any]:
    summary = json.loads((folder / 'summary.json').read_text())
    timed = ('timing', 'episodes_per_minute')
    return {key: value for key, value in summary.items() if key not in timed}


def test_a_run_its_resumption_and_its_replay(bbllm: Command, tmp_path: Path) -> None:
    out, talk = tmp_path / 'run', tmp_path / 'talk.jsonl'
    words = ('--tasks', 'red_triangle', '--trials', '1', '-k', '0,3', '--jobs', '2')
    asked = ('bench', 'tabletop', *OFFLINE, *words, '--out', str(out), '--record', str(talk))

    first = bbllm(*asked)

    assert first.exit_code == 0, first.output
    assert first.stdout.splitlines()[0].split() == ['results', str(out)]
    assert re.fullmatch(CLOSING, first.stdout.splitlines()[-1])
    assert first.stdout.splitlines()[-2] == 'Of K = 0, 3, the last line is that of K = 3.'
    assert 'episodes a minute' in first.stdout
    assert (out / 'report.html').stat().st_size > 10_000
    names = {path.stem for path in (out / 'episodes').iterdir()}
    assert names == {'red_triangle-t000-k0', 'red_triangle-t000-k3'}
    summary = timeless_summary(out)

    again = bbllm(*asked)

    assert again.exit_code == 0, again.output
    assert 'On record already: 2 of 2 episodes.' in again.stdout
    assert again.stdout.splitlines()[-1] == first.stdout.splitlines()[-1]
    assert timeless_summary(out) == summary

    replayed = bbllm(
        'bench', 'tabletop', *words, '--out', str(tmp_path / 'replay'), '--replay', str(talk)
    )

    assert replayed.exit_code == 0, replayed.output
    assert len(lines_of(out)) == 2
    fixed = ('key', 'verdict', 'loops', 'model_calls', 'prompt_tokens', 'settled', 'conditions')
    first_run, replay = (
        [[line[name] for name in fixed] for line in lines_of(folder)]
        for folder in (out, tmp_path / 'replay')
    )
    assert first_run == replay

    other = bbllm(*asked, '--seed', '4')

    assert other.exit_code == 2
    assert 'seed: was 0, is 4' in other.stderr


@pytest.mark.parametrize(
    ('words', 'reported'),
    [
        (('tabeltop',), "'tabeltop'. Did you mean 'tabletop'?"),
        (('no/such.yaml',), 'no/such.yaml'),
        (('tabletop', '--planner', 'brian_body'), "Did you mean 'brain_body'?"),
        (('tabletop', '--brain', 'ofline'), 'did you mean offline?'),
        (('tabletop', *OFFLINE, '--tasks', ' ,'), "--tasks ' ,' names no task"),
        (('tabletop', '--k', '3-1'), "--k '3-1'"),
        (('tabletop', '--jobs', '0'), '--jobs'),
        (('tabletop', '--mapping', 'magic'), '--mapping'),
        (('tabletop', *OFFLINE, '--changed-prompts'), 'add --replay FILE'),
        (('household', '--world', 'tabletop'), 'played in houses'),
        (('tabletop', '--world', 'household'), 'played on tables'),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence_before_anything_starts(
    bbllm: Command, tmp_path: Path, words: tuple[str, ...], reported: str
) -> None:
    name, *more = words
    out = ('--out', str(tmp_path / 'run')) if name == 'tabletop' else ()

    result = bbllm('bench', name, *more, *out)

    assert result.exit_code == 2
    assert reported in result.stderr
    assert 'Traceback' not in result.stderr
    assert not (tmp_path / 'run').exists()


@pytest.mark.slow  # a run with workers in processes
def test_ctrl_c_keeps_what_is_there_and_ends_with_130(
    own_environment: dict[str, str], tmp_path: Path
) -> None:
    out = tmp_path / 'run'
    words = ('bench', 'tabletop', *OFFLINE, '--trials', '20', '--out', str(out))
    with start(own_environment, *words) as process:
        read_until(process, '1/140')
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=WAIT_S)

    assert process.returncode == 130, errors
    assert 'goes on from here' in rest
    assert re.fullmatch(CLOSING, rest.splitlines()[-1])
    assert 1 <= len(lines_of(out)) < 140
    assert (out / 'report.html').exists()


def test_lists_of_k_are_read_and_what_is_none_is_refused_with_what_is() -> None:
    read = [parse_ks(text) for text in ('3', '0,1,2,3', '0-3', '2, 0-1,1')]

    assert read == [(3,), (0, 1, 2, 3), (0, 1, 2, 3), (0, 1, 2)]
    for text in ('', ',', '-1', '1-', 'a', '1.5', '3-1', '101', '٣', '9' * 5000):
        with pytest.raises(ConfigError, match='0-3'):
            parse_ks(text)


def test_report_is_made_anew_from_the_results_and_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, 'open', lambda url: opened.append(url) or True)
    folder = made_up.write_run(tmp_path / 'run', made_up.make_settings(ks=[0, 1], trials=1))
    before = (folder / 'summary.json').read_text()
    (folder / 'summary.json').write_text('{}')

    result = CliRunner().invoke(app, ['bench', 'report', str(folder), '--open'])

    assert result.exit_code == 0, result.output
    assert opened == [(folder / 'report.html').as_uri()]
    assert str(folder / 'report.html') in result.output
    assert result.output.splitlines()[-1].startswith('tabletop planner=brain_body')
    assert json.loads((folder / 'summary.json').read_text()) == json.loads(before)
    assert (folder / 'report.html').is_file()
