"""When a video shows what."""

from dataclasses import replace

import numpy as np
import pytest

from bbllm.bags.motion import RecordedMotion
from bbllm.core.events import Episode
from bbllm_viewer.video.story import Story
from bbllm_viewer.video.storyboard import BROKEN, PAUSED, REST_S, Frame, frames_of
from tests.video.made_episodes import CAUSE, START_S, made, moved, repaired, started

FPS = 20.0


def shown(
    episode: Episode, motion: RecordedMotion | None, speed: float = 2.0
) -> dict[str, list[Frame]]:
    """Return the frames of each caption, by its text."""
    by_text: dict[str, list[Frame]] = {}
    for frame in frames_of(episode, motion, speed, FPS):
        story = Story()
        for event in episode.events[: frame.n_events]:
            story.take(event)
        by_text.setdefault(story.caption.text, []).append(frame)
    return by_text


@pytest.mark.parametrize('speed', [0.5, 2.0, 8.0])
def test_the_arm_moves_so_many_times_as_fast_as_it_did(speed: float) -> None:
    motion = moved()

    frames = shown(repaired(), motion, speed)['pick(red_cube)']

    assert {frame.remark for frame in frames} == {f'×{speed:g}'}
    assert len(frames) == pytest.approx(2.0 / speed * FPS, abs=2)
    clocks_s = [float(frame.clock.split()[0]) for frame in frames]
    assert clocks_s == sorted(clocks_s)
    assert motion.world_s[[frame.sample for frame in frames]] == pytest.approx(clocks_s, abs=0.06)
    assert clocks_s[-1] == pytest.approx(2.0, abs=speed / FPS + 0.11)


def test_a_failure_and_a_repair_stand_still_until_they_are_read() -> None:
    by_text = shown(repaired(), moved())

    for part in (f'OUT_OF_WORKSPACE: {CAUSE}', 'from step 1 on'):
        (frames,) = (frames for text, frames in by_text.items() if part in text)
        assert len(frames) / FPS >= 1.0
        assert {frame.remark for frame in frames} == {PAUSED}
        assert len(set(frames)) == 1, 'nothing changes, so nothing is drawn again'


def test_waiting_is_cut_short() -> None:
    by_text = shown(repaired(), moved())

    (waits,) = (frames for text, frames in by_text.items() if text.startswith('1 at step 1'))
    rest = [frame for frame in waits if frame.remark != PAUSED]
    assert len(rest) / FPS == pytest.approx(REST_S, abs=0.1)
    assert any('32.0 s on the clock' in text for text in by_text)


def test_a_rest_within_a_call_is_cut_short_too() -> None:
    motion = moved()
    rests = motion.world_s > 1.0
    joints_rad = motion.joints_rad.copy()
    joints_rad[rests, 0] = 1.0
    slow = replace(motion, joints_rad=joints_rad, world_s=motion.world_s * np.where(rests, 30, 1))

    frames = shown(repaired(), slow, 1.0)['pick(red_cube)']

    assert len(frames) / FPS == pytest.approx(1.0 + REST_S, abs=0.2)


def test_without_a_motion_the_clock_is_that_of_the_wall() -> None:
    by_text = shown(repaired(), None)

    assert len(by_text['pick(red_cube)']) / FPS == pytest.approx(REST_S, abs=0.06)
    (frames,) = (frames for text, frames in by_text.items() if 'OUT_OF_WORKSPACE' in text)
    assert {(frame.sample, frame.clock) for frame in frames} == {(0, '12.0 s on the clock')}


def test_an_episode_that_breaks_off_ends_with_words_for_it() -> None:
    episode = repaired(ended=False)

    frames = frames_of(episode, moved(), 2.0, FPS)

    assert frames[-1].n_events == len(episode.events) + 1
    assert sum(frame == frames[-1] for frame in frames) / FPS >= 2


def test_a_motion_that_breaks_off_rests_at_its_end() -> None:
    frames = frames_of(repaired(), moved(11.0, complete=False), 2.0, FPS)

    assert (frames[-1].sample, frames[-1].clock) == (11, '1.0 s of the robot')
    assert frames[-1].remark == BROKEN


def test_clocks_that_jump_or_run_backwards_make_no_endless_video() -> None:
    odd = moved()
    stamps_s = odd.stamps_s.copy()
    stamps_s[5] = START_S
    world_s = odd.world_s.copy()
    world_s[8:] += 1e9
    world_s[12:] = np.nan
    episode = made([(0.0, started()), *((e.stamp_s - START_S, e.data) for e in repaired().events)])

    frames = frames_of(episode, replace(odd, stamps_s=stamps_s, world_s=world_s), 0.1, FPS)

    assert 0 < len(frames) / FPS < 60
