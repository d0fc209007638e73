"""Whole videos, from a journal and the motion beside it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageSequence

from bbllm.bags.motion import MotionSample, MotionWriter
from bbllm.core.errors import ConfigError
from bbllm.core.events import Episode
from bbllm.core.journal import JournalWriter, read_damaged
from bbllm.sim.drawing import RenderError
from bbllm_viewer.video import film
from bbllm_viewer.video.film import write_film
from bbllm_viewer.video.layout import view_box
from tests.video.made_episodes import CUBE, TABLE, moved, repaired

VIEW = view_box(1.0)
Write = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path) -> Write:
    """Return what writes an episode, with its motion where one is given; returns the journal."""

    def write(episode: Episode, *, motion: bool = True) -> Path:
        with JournalWriter(tmp_path, episode.id) as journal:
            for event in episode.events:
                journal(event)
        if motion:
            columns = moved()
            with MotionWriter(journal.path.with_suffix('.mcap'), [TABLE, CUBE]) as writer:
                for i, stamp_s in enumerate(columns.stamps_s):
                    sample = MotionSample(
                        stamp_s, columns.world_s[i], columns.joints_rad[i].tolist(), 0.08, {}
                    )
                    writer.add(sample)
        return journal.path

    return write


def frames_of(path: Path) -> list[np.ndarray]:
    with Image.open(path) as video:
        return [np.asarray(x.convert('RGB')).astype(int) for x in ImageSequence.Iterator(video)]


def changed(one: np.ndarray, other: np.ndarray) -> tuple[bool, bool]:
    """Return whether the arm differs, and whether the plan does."""
    left, top, width, height = VIEW
    differs = np.abs(one - other).max(axis=2) > 40
    return bool(differs[top : top + height, left : left + width].any()), bool(
        differs[top : top + height, left + width :].any()
    )


def test_a_video_has_the_arm_beside_the_plan_and_draws_only_what_changes(
    written: Write, tmp_path: Path
) -> None:
    journal, counted = written(repaired()), list[tuple[int, int]]()
    try:
        made = write_film(
            repaired(), journal, tmp_path / 'e.gif', 4.0, lambda *n: counted.append(n)
        )
    except RenderError as error:
        pytest.skip(str(error))

    frames = frames_of(made.path)
    with Image.open(made.path) as video:
        durations_s = [x.info['duration'] / 1000 for x in ImageSequence.Iterator(video)]
    assert counted == [(n, made.frames) for n in range(1, made.frames + 1)]
    assert sum(durations_s) == pytest.approx(made.duration_s, abs=0.001)
    assert frames[0].shape == (540, 960, 3)
    assert len(frames) < made.frames / 4, 'a picture that stands still is one frame'
    assert changed(frames[0], frames[-1]) == (True, True)
    pairs = [changed(*pair) for pair in zip(frames, frames[1:])]
    assert sum(arm for arm, _ in pairs) == pytest.approx(2.0 / 4.0 * 12.5, abs=2)
    assert (False, True) in pairs, 'the plan changes while the arm rests'
    assert made.hints == ()


def test_without_a_motion_the_plan_is_shown_alone_and_the_reason_is_given(
    written: Write, tmp_path: Path
) -> None:
    journal = written(repaired(), motion=False)

    made = write_film(repaired(), journal, tmp_path / 'plan.webp')

    assert len(frames_of(made.path)) > 4
    (hint,) = made.hints
    assert 'there is no motion' in hint
    assert '`bbllm demo` is one' in hint


def test_files_that_break_off_are_shown_as_far_as_they_go(written: Write, tmp_path: Path) -> None:
    journal = written(repaired())
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text(''.join(lines[:7]) + lines[7][:20])
    motion = journal.with_suffix('.mcap')
    motion.write_bytes(motion.read_bytes()[:-200])
    episode, _ = read_damaged(journal)
    try:
        made = write_film(episode, journal, tmp_path / 'cut.gif', 8.0)
    except RenderError as error:
        pytest.skip(str(error))

    assert len(frames_of(made.path)) > 3
    assert 'breaks off' in made.hints[0]
    motion.write_bytes(b'no bag at all')
    assert 'is no MCAP file' in write_film(episode, journal, tmp_path / 'x.gif').hints[0]


def test_an_animation_that_would_be_too_long_is_refused_with_what_works(
    written: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(film, 'MOST_PICTURES', 10)
    journal = written(repaired())

    with pytest.raises(ConfigError, match=r'\d+ pictures.* Name an \.mp4 file'):
        write_film(repaired(), journal, tmp_path / 'long.gif', 0.5)


def test_a_film_of_several_episodes_is_theirs_one_after_the_other(tmp_path: Path) -> None:
    episode = repaired()
    journal = tmp_path / f'{episode.id}.jsonl'
    one = write_film(episode, journal, tmp_path / 'one.webp')

    two = write_film(episode, journal, tmp_path / 'two.webp', earlier=[(episode, journal)])

    assert (two.frames, len(two.hints)) == (2 * one.frames, 2 * len(one.hints))
