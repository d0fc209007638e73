"""Reading episodes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Command = Callable[..., Result]

KEYS = {
    'episode_id',
    'task',
    'planner',
    'brain',
    'ending',
    'feedback_loops',
    'steps',
    'model_calls',
    'prompt_tokens',
    'completion_tokens',
    'wall_s',
    'robot_s',
}


@pytest.fixture
def journal(bbllm: Command, script: Callable[..., None]) -> Path:
    """Return the journal of an episode with a repair."""
    script()
    result = bbllm('demo', 'move some cubes', '--json')
    return Path(json.loads(result.stdout)['journal'])


def test_show_tells_the_same_as_the_episode_did_live(
    bbllm: Command, script: Callable[..., None]
) -> None:
    script()
    live = bbllm('demo', 'move some cubes').stdout

    again = bbllm('show').stdout

    def told(text: str) -> list[str]:
        return [line for line in text.splitlines() if ' s  ' in line]

    assert told(again) == told(live)
    assert len(told(live)) > 20


def test_json_is_one_object_with_the_promised_keys(bbllm: Command, journal: Path) -> None:
    data = json.loads(bbllm('show', '--json').stdout)

    assert data.keys() >= KEYS
    assert data['ending'] == 'FINISHED'
    assert data['episode_id'] == journal.stem


def test_an_episode_is_found_by_the_beginning_of_its_id(bbllm: Command, journal: Path) -> None:
    data = json.loads(bbllm('show', journal.stem[:-2], '--json').stdout)

    assert data['episode_id'] == journal.stem


def test_a_journal_of_a_bench_is_shown_by_its_path(
    bbllm: Command, journal: Path, tmp_path: Path
) -> None:
    other = tmp_path / 'watch_tv-t000-k0.jsonl'
    other.write_text(journal.read_text())

    assert json.loads(bbllm('show', str(other), '--json').stdout)['journal'] == str(other)
    assert bbllm('show', str(other)).exit_code == 0
    assert other.with_suffix('.png').exists()
    missing = bbllm('show', str(tmp_path / 'no.jsonl'))
    assert missing.exit_code == 2
    assert 'folder episodes' in ' '.join(missing.stderr.split())


def test_events_are_the_journal_itself(bbllm: Command, journal: Path) -> None:
    assert bbllm('show', '--events').stdout == journal.read_text()


def test_list_names_every_episode_with_its_ending(bbllm: Command, journal: Path) -> None:
    other = journal.with_name('cut.jsonl')
    other.write_text(journal.read_text().splitlines(keepends=True)[0])

    rows = json.loads(bbllm('show', '--list', '--json').stdout)['episodes']

    assert {row['episode_id']: row['ending'] for row in rows}[journal.stem] == 'FINISHED'
    assert 'INTERRUPTED' in [row['ending'] for row in rows]
    assert 'move some cubes' in bbllm('show', '--list').stdout


def test_a_file_that_is_no_journal_does_not_hide_the_others(bbllm: Command, journal: Path) -> None:
    journal.with_name('notes.jsonl').write_text('{"kind": "shopping"}\n{}\n')

    result = bbllm('show', '--list')

    assert 'UNREADABLE' in result.stdout
    assert 'FINISHED' in result.stdout


def test_a_journal_that_broke_off_is_shown_as_far_as_it_goes(
    bbllm: Command, journal: Path
) -> None:
    lines = journal.read_text().splitlines(keepends=True)
    cut = journal.with_name('cut.jsonl')
    cut.write_text(''.join(lines[:12]) + lines[12][:20])

    result = bbllm('show', 'cut')

    assert result.exit_code == 0
    assert 'pick(red_cube)' in result.stdout
    assert 'breaks off' in result.stdout
    assert json.loads(bbllm('show', 'cut', '--json').stdout)['ending'] == 'INTERRUPTED'
    assert 'INTERRUPTED' in cut.with_suffix('.svg').read_text()


def test_the_pictures_are_drawn_again_when_they_are_gone(bbllm: Command, journal: Path) -> None:
    journal.with_suffix('.svg').unlink()
    journal.with_suffix('.png').unlink()

    bbllm('show')

    assert 'red_cube' in journal.with_suffix('.svg').read_text()
    assert journal.with_suffix('.png').exists()


def test_an_unknown_episode_is_answered_with_the_nearest(bbllm: Command, journal: Path) -> None:
    result = bbllm('show', 'x' + journal.stem)

    assert result.exit_code == 2
    assert f"Did you mean '{journal.stem}'?" in result.stderr


def test_nothing_recorded_yet_says_how_to_record_something(bbllm: Command) -> None:
    result = bbllm('show')

    assert result.exit_code == 2
    assert 'bbllm demo' in result.stderr
