"""A replay shows at each moment what a browser showed then, and what moved as it moved."""

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bbllm.bags.motion import RecordedMotion, read_motion
from bbllm.core.events import Event, EventData, StepBegun
from bbllm.core.journal import read_damaged
from bbllm.core.types import SkillCall
from bbllm.robots.fr3 import FR3
from bbllm_viewer.console.feed import Feed
from bbllm_viewer.replay import recording as packing
from bbllm_viewer.replay.recording import LONGEST_S, packed_motion, play_times, recording_of
from tests.recorded_episodes import (
    START_S,
    TABLE,
    cube,
    events_of,
    outcome,
    repaired,
    write_journal,
    write_motion,
)

HOSTILE = '</script><!--<b>\u202e\x1b[31m'


def recorded(folder: Path, data: Sequence[EventData]) -> dict[str, Any]:
    """Return the record of an episode as a page reads it."""
    journal = write_journal(folder, data)
    write_motion(journal)
    episode, faults = read_damaged(journal)
    assert faults == ()
    record: dict[str, Any] = json.loads(json.dumps(recording_of(episode, journal)))
    return record


def at(history: Sequence[Any], moment: int) -> Any:
    return next((value for begin, value in reversed(history) if begin <= moment), None)


def rows_at(record: Mapping[str, Any], moment: int) -> list[dict[str, Any]]:
    rows = []
    for history in record['rows'][: at(record['n_rows'], moment)]:
        row: dict[str, Any] = {}
        for begin, changes in history:
            if begin <= moment:
                row.update(changes)
        rows.append(row)
    return rows


@pytest.mark.parametrize('word', ['a', HOSTILE], ids=['plain', 'hostile'])
def test_every_moment_shows_what_a_browser_had_then(tmp_path: Path, word: str) -> None:
    data = repaired(word)
    record = recorded(tmp_path, data)
    feed, rows, values = Feed(), list[Any](), dict[str, Any]()

    with feed.browser() as cursor:
        for moment, event in enumerate(events_of(data)):
            feed.take(event)
            news = json.loads(feed.news(cursor))
            del rows[news['n_rows'] :]
            for place, row in news['rows']:
                rows[place : place + 1] = [row]
            values.update(news['values'])
            assert rows_at(record, moment) == rows
            shown = {name: at(history, moment) for name, history in record['values'].items()}
            shown['talk'] = [said for begin, said in record['talk'] if begin <= moment]
            assert {name: value for name, value in shown.items() if name in values} == values
    assert '\u202e' not in json.dumps(record, ensure_ascii=False)


def test_steps_failures_and_repairs_are_marked(tmp_path: Path) -> None:
    data = repaired()
    marks = recorded(tmp_path, data)['marks']

    assert [word for _, word in marks] == [
        *('step', 'failure', 'repair', 'step', 'step', 'failure', 'step', 'failure')
    ]
    assert [type(data[at]) for at, word in marks if word == 'step'] == [StepBegun] * 4


def test_journal_that_breaks_off_ends_with_that(tmp_path: Path) -> None:
    record = recorded(tmp_path, repaired()[:9])
    last = len(record['times_s']) - 1

    assert 'breaks off' in at(record['values']['ending'], last)['text']
    assert at(record['values']['ending'], last - 1) is None
    assert at(record['values']['running'], last) is False


def motion_of(stamps_s: Sequence[float], world_s: Sequence[float]) -> RecordedMotion:
    n = len(stamps_s)
    poses = np.tile([0.4, 0.1, 0.02, 0.0, 0.0, 0.0, 1.0], (n, 1))
    return RecordedMotion(
        robot=FR3,
        stamps_s=START_S + np.array(stamps_s),
        world_s=np.array(world_s),
        joints_rad=np.arange(7.0 * n).reshape(n, 7) * 1e-3,
        finger_m=np.full(n, 0.04),
        poses={'red_cube': poses},
        objects=(cube(),),
        complete=True,
    )


def stamped(*stamps_s: float) -> list[Event]:
    return [Event(START_S + stamp_s, StepBegun(0, 'wait')) for stamp_s in stamps_s]


def test_fast_simulation_is_seen_at_the_arms_speed_and_thinking_at_the_clocks() -> None:
    motion = motion_of([3.0, 3.1, 3.2], [0.0, 2.0, 4.0])

    events, samples, is_cut = play_times(stamped(0.0, 3.0, 3.25, 5.25), motion)

    assert events == pytest.approx([0.0, 3.0, 7.05, 9.05])
    assert samples == pytest.approx([3.0, 5.0, 7.0])
    assert not is_cut


def test_long_waits_are_shortened_and_times_never_run_backwards() -> None:
    events, _, is_cut = play_times(stamped(0.0, 900.0, 899.0, float('nan'), 901.0), None)

    assert events == pytest.approx([0.0, LONGEST_S, LONGEST_S, LONGEST_S, LONGEST_S + 1.0])
    assert is_cut


def test_without_a_motion_a_call_takes_the_time_that_is_on_record_for_it() -> None:
    call = SkillCall('pick', ('a',))
    begun, done = Event(START_S, call), Event(START_S + 0.1, outcome(call))

    assert play_times([begun, done], None)[0] == pytest.approx([0.0, 2.0])


def unpacked(packed: Mapping[str, Any]) -> np.ndarray:
    """Return times [ms] and positions, a row each, as `replay.js` computes them."""
    data = zlib.decompress(base64.b64decode(packed['deltas']))
    deltas = np.frombuffer(data, '<i4').reshape(1 + len(packed['columns']), -1)
    return np.asarray(np.cumsum(deltas, axis=1))


def test_motion_comes_back_with_the_digits_that_are_drawn(tmp_path: Path) -> None:
    motion = read_motion(write_motion(tmp_path / 'e1.jsonl'))
    times_s = np.linspace(0.0, 13.0, len(motion.stamps_s))

    drawn, packed = packed_motion((TABLE, *motion.objects), motion, times_s)

    rows = unpacked(packed)
    columns: Any = packed['columns']
    assert rows[0] == pytest.approx(times_s * 1e3, abs=0.5)
    first, x_of_cube = columns.index(0), columns.index(9)
    assert rows[1 + first] / packed['scale'] == pytest.approx(motion.joints_rad[:, 0], abs=1e-4)
    assert rows[1 + x_of_cube] / packed['scale'] == pytest.approx(
        motion.poses['red_cube'][:, 0], abs=1e-4
    )
    assert columns.count(1) + columns.count(10) <= 1  # what never moves is not there
    assert len(drawn['qpos']) == 9 + 7  # type: ignore[arg-type]


def test_samples_at_rest_are_left_out_and_a_long_motion_is_thinned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    motion = motion_of(range(100), range(100))
    motion.joints_rad[50:] = motion.joints_rad[50]
    assert unpacked(packed_motion([cube()], motion, motion.world_s)[1])[0].tolist() == [
        1000 * i for i in range(51)
    ]

    monkeypatch.setattr(packing, 'MOST_SAMPLES', 20)
    times = unpacked(packed_motion([cube()], motion, motion.world_s)[1])[0]
    assert 10 < len(times) <= 20
    assert set(np.diff(times)) == {3000}


def test_numbers_of_a_damaged_motion_are_drawn_somewhere() -> None:
    motion = motion_of([0.0, 1.0, 2.0], [0.0, 1.0, 2.0])
    motion.joints_rad[0, 0], motion.joints_rad[1, 1] = float('nan'), 1e300

    assert np.isfinite(unpacked(packed_motion([cube()], motion, motion.world_s)[1])).all()


def test_a_motion_that_breaks_off_is_named_and_without_one_plan_and_words_are_replayed(
    tmp_path: Path,
) -> None:
    journal = write_journal(tmp_path, repaired())
    episode, _ = read_damaged(journal)
    alone = recording_of(episode, journal)
    assert (alone['motion'], alone['note']) == (None, '')
    assert alone['talk'] and alone['rows']

    path = write_motion(journal)
    path.write_bytes(path.read_bytes()[:-2000])
    assert 'breaks off' in str(recording_of(episode, journal)['note'])
    path.write_text('no motion')
    damaged = recording_of(episode, journal)
    assert damaged['motion'] is None and 'motion' in str(damaged['note'])
