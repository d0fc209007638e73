"""The end of a journal whose writer has died, added by the client of the episode."""

from __future__ import annotations

from pathlib import Path

import pytest

from bbllm.core.events import Ending, EpisodeStarted, Event, EventKind, StepBegun
from bbllm.core.journal import JournalWriter, end_journal, read_episode

START = EpisodeStarted(episode_id='e', task='t', planner='p', brain='b', body='c')
MESSAGE = 'The node brain_planner has gone: its process 7 has ended.'


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    with JournalWriter(tmp_path, 'e') as writer:
        writer(Event(1.0, START))
        writer(Event(2.0, StepBegun(0, 'pick')))
    return tmp_path / 'e.jsonl'


def test_journal_that_breaks_off_gets_its_end_and_keeps_the_rest(journal: Path) -> None:
    assert end_journal(journal, Ending.WORLD_FAILED, MESSAGE)

    episode = read_episode(journal)
    assert (episode.ending, episode.message) == (Ending.WORLD_FAILED, MESSAGE)
    assert [event.kind for event in episode.events] == [
        EventKind.STARTED,
        EventKind.STEP,
        EventKind.ENDED,
    ]


def test_line_that_was_cut_is_dropped(journal: Path) -> None:
    before = journal.read_bytes()
    journal.write_bytes(before + '{"kind": "call", "data": {"skill": "räum'.encode()[:-2])

    assert end_journal(journal, Ending.WORLD_FAILED, MESSAGE)

    assert journal.read_bytes().startswith(before + b'{"kind": "ended"')


def test_journal_with_an_end_or_of_another_machine_stays_as_it_is(journal: Path) -> None:
    assert end_journal(journal, Ending.WORLD_FAILED, MESSAGE)
    before = journal.read_bytes()

    assert not end_journal(journal, Ending.CANCELLED, 'again')
    assert not end_journal(journal.with_name('other.jsonl'), Ending.CANCELLED, 'none')

    assert journal.read_bytes() == before
