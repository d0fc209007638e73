"""`bbllm bench household`: a run from the first word to the report, without a server."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

sys.path.insert(0, str(Path(__file__).parent.parent / 'bench'))

from household_talk import PLANNER, PROGRAMS, write_talk

Command = Callable[..., Result]


@pytest.fixture(scope='module')
def talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp('talk') / 'talk.jsonl'
    write_talk(path, trials=3)
    return path


def test_a_run_in_houses_has_figures_and_a_report(
    bbllm: Command, talk: Path, tmp_path: Path
) -> None:
    out = tmp_path / 'run'
    words = ('--tasks', ','.join(PROGRAMS), '--trials', '3', '--replay', str(talk), '--jobs', '2')

    ran = bbllm('bench', 'household', '--planner', PLANNER, *words, '--out', str(out))

    assert ran.exit_code == 0, ran.output
    assert ran.stdout.splitlines()[-1].startswith(
        f'household planner={PLANNER} brain=replay of scripted SR=0.67'
    )
    assert 'has no feedback loops: each case is played once' in ran.stdout
    settings = json.loads((out / 'settings.json').read_text())
    assert settings['world'] == 'household'
    results = [json.loads(line) for line in (out / 'results.jsonl').read_text().splitlines()]
    assert len(results) == 6
    # Apples are in a closed fridge in two of the houses, and the program does not look there.
    assert sum(result['verdict'] == 'passed' for result in results) == 4
    page = (out / 'report.html').read_text()
    assert page.count('<svg class="table"') == 6
    assert '>off → on<' in page
    assert 'No house is on record' not in page
    assert 'Apple_' in page


@pytest.mark.parametrize(
    ('words', 'told'),
    [
        (('household', '--world', 'tabletop'), 'played in houses'),
        (('tabletop', '--world', 'household'), 'played on tables'),
        (('household', '--tasks', 'watch_television'), "'watch_television'"),
        (('houshold',), "Did you mean 'household'?"),
        (('household', '--planner', 'prog_prompt:grounding=near'), "Did you mean 'nearest'?"),
    ],
)
def test_what_cannot_be_played_is_said_first(
    bbllm: Command, words: tuple[str, ...], told: str
) -> None:
    ran = bbllm('bench', *words)

    assert ran.exit_code == 2
    assert told in ' '.join(ran.stderr.split())
