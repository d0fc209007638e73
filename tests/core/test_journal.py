"""Journals: written, read back, damaged and ended."""

import subprocess
import sys
from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError
from bbllm.core.events import (
    Ending,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    ModelCall,
    ModelReplied,
    RepairBegun,
    StepBegun,
)
from bbllm.core.journal import (
    JournalWriter,
    end_journal,
    find_journal,
    read_episode,
    summarize,
)
from bbllm.core.types import Code, Outcome, SkillCall, Status

STARTED = Event(
    100.0, EpisodeStarted(episode_id='e1', task='tidy up', planner='p', brain='b', body='c')
)
OUTCOME = Outcome(
    call=SkillCall('pick', ('aqua_cube',)),
    status=Status.REJECTED,
    code=Code.OUT_OF_WORKSPACE,
    message='aqua_cube is out of the workspace of the robot.',
    duration_s=1.5,
)
EVENTS = [
    STARTED,
    Event(101.0, OUTCOME),
    Event(102.0, RepairBegun(index=0, text='t', cause='c', loop=1)),
    # Line separators within a text do not end a line.
    Event(102.5, ModelReplied(role='brain', text='0: pick\u2028x\x0b\x85')),
    Event(
        103.0,
        ModelCall(
            role='brain',
            model='m',
            prompt_tokens=5,
            completion_tokens=6,
            cached_tokens=4,
            reasoning_tokens=2,
            image_tokens=1,
        ),
    ),
    Event(104.0, EpisodeEnded(ending=Ending.GAVE_UP, message='why')),
]


def write(folder: Path, name: str, events: list[Event]) -> Path:
    with JournalWriter(folder, name) as journal:
        for event in events:
            journal(event)
    return journal.path


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    episode = read_episode(write(tmp_path, 'e1', EVENTS))

    assert episode.events == tuple(EVENTS)
    assert summarize(episode) == {
        'episode_id': 'e1',
        'task': 'tidy up',
        'planner': 'p',
        'brain': 'b',
        'body': 'c',
        'ending': 'GAVE_UP',
        'message': 'why',
        'goal': 'not checked',
        'conditions': '',
        'summary': '',
        'feedback_loops': 1,
        'remarks': 0,
        'steps': 1,
        'passed_steps': 0,
        'model_calls': 1,
        'prompt_tokens': 5,
        'completion_tokens': 6,
        'cached_tokens': 4,
        'reasoning_tokens': 2,
        'image_tokens': 1,
        'model_s': 0.0,
        'wall_s': 4.0,
        'robot_s': 1.5,
    }


def test_a_process_that_is_killed_leaves_every_event_it_wrote(tmp_path: Path) -> None:
    program = f"""
import os, pathlib
from bbllm.core.journal import JournalWriter
from bbllm.core.events import EpisodeStarted, Event, WarningRaised
journal = JournalWriter(pathlib.Path({str(tmp_path)!r}), 'dies')
journal(Event(0.0, EpisodeStarted(episode_id='e', task='t', planner='p', brain='b', body='c')))
for number in range(50):
    journal(Event(0.0, WarningRaised(str(number))))
os.kill(os.getpid(), 9)
"""
    done = subprocess.run([sys.executable, '-c', program], check=False, timeout=60)

    assert done.returncode == -9
    assert len(read_episode(tmp_path / 'dies.jsonl').events) == 51


def test_a_journal_is_never_overwritten(tmp_path: Path) -> None:
    write(tmp_path, 'e1', EVENTS)

    with pytest.raises(ConfigError, match='e1'):
        JournalWriter(tmp_path, 'e1')
    assert len(read_episode(tmp_path / 'e1.jsonl').events) == len(EVENTS)


def test_an_episode_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    first = write(tmp_path, '2026-a', EVENTS)
    second = write(tmp_path, '2026-ab', EVENTS)
    third = write(tmp_path, '2027-c', EVENTS)

    assert find_journal(tmp_path) == third
    assert find_journal(tmp_path, '2027') == third
    assert find_journal(tmp_path, '2026-a') == first
    assert find_journal(tmp_path, '2026-ab') == second
    with pytest.raises(ConfigError, match='several'):
        find_journal(tmp_path, '2026')
    with pytest.raises(
        ConfigError, match=r"'2027-c'.* The newest of 3 episodes is .*`bbllm show --list`"
    ):
        find_journal(tmp_path, '2027-d')


def test_a_full_disk_is_named_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = JournalWriter(tmp_path, 'full')
    monkeypatch.setattr(journal, '_file', Path('/dev/full').open('w'))  # noqa: SIM115 - journal closes it

    with journal, pytest.raises(ConfigError, match=r'No space left.*XDG_STATE_HOME'):
        journal(STARTED)


MESSAGE = 'The node brain_planner has gone: its process 7 has ended.'


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return write(tmp_path, 'e', [STARTED, Event(101.0, StepBegun(0, 'pick'))])


def test_journal_that_breaks_off_gets_one_end_and_keeps_the_rest(journal: Path) -> None:
    assert end_journal(journal, Ending.WORLD_FAILED, MESSAGE)

    episode = read_episode(journal)
    assert (episode.ending, episode.message) == (Ending.WORLD_FAILED, MESSAGE)
    assert [e.kind.name for e in episode.events] == ['STARTED', 'STEP', 'ENDED']
    before = journal.read_bytes()
    assert not end_journal(journal, Ending.CANCELLED, 'again')
    assert not end_journal(
        journal.with_name('other.jsonl'), Ending.CANCELLED, 'of another machine'
    )
    assert journal.read_bytes() == before


def test_line_that_was_cut_is_dropped(journal: Path) -> None:
    before = journal.read_bytes()
    journal.write_bytes(before + '{"kind": "call", "data": {"skill": "räum'.encode()[:-2])

    assert end_journal(journal, Ending.WORLD_FAILED, MESSAGE)

    assert journal.read_bytes().startswith(before + b'{"kind": "ended"')
