"""When a video shows what."""

from dataclasses import replace

import numpy as np
import pytest

from bbllm.core.events import Event
from bbllm_viewer.video.story import Caption, Story
from bbllm_viewer.video.storyboard import BROKEN, PAUSED, REST_S, Frame, Storyboard
from tests.video.made_episodes import CAUSE, START_S, made, moved, repaired, started

FPS = 20.0


def caption_of(frame: Frame, events: tuple[Event, ...]) -> Caption:
    story = Story()
    for event in events[: frame.n_events]:
        story.take(event)
    return story.caption


def shown(board: Storyboard, events: tuple[Event, ...]) -> dict[str, list[Frame]]:
    """Return the frames of each caption, by its text."""
    by_text: dict[str, list[Frame]] = {}
    for frame in board.frames(FPS):
        by_text.setdefault(caption_of(frame, events).text, []).append(frame)
    return by_text


@pytest.mark.parametrize('speed', [0.5, 2.0, 8.0])
def test_the_arm_moves_so_many_times_as_fast_as_it_did(speed: float) -> None:
    episode, motion = repaired(), moved()

    frames = shown(Storyboard(episode, motion, speed), episode.events)['pick(red_cube)']

    moving = [frame for frame in frames if frame.remark == f'×{speed:g}']
    assert len(moving) == pytest.approx(2.0 / speed * FPS, abs=2)
    clocks_s = [float(frame.clock.split()[0]) for frame in moving]
    assert clocks_s == sorted(clocks_s)
    assert motion.world_s[[frame.sample for frame in moving]] == pytest.approx(clocks_s, abs=0.16)
    assert clocks_s[-1] == pytest.approx(2.0, abs=speed / FPS + 0.06)


def test_a_failure_and_a_repair_stand_still_until_they_are_read() -> None:
    episode = repaired()

    by_text = shown(Storyboard(episode, moved(), 2.0), episode.events)

    for text in (CAUSE, 'The repaired plan has 1 step from step 1 on.'):
        assert len(by_text[text]) / FPS >= 1.5
        assert {frame.remark for frame in by_text[text]} == {PAUSED}
        assert len(set(by_text[text])) == 1, 'nothing changes, so nothing is drawn again'
    assert by_text['pick(aqua_cube)'], 'a call that is refused at once is seen'


def test_waiting_is_cut_short_and_the_picture_has_its_true_length() -> None:
    episode = repaired()

    by_text = shown(Storyboard(episode, moved(), 2.0), episode.events)

    waits = by_text['The Brain repairs its plan.']
    assert {frame.remark for frame in waits} == {'a wait of 20 s, cut short'}
    assert REST_S <= len(waits) / FPS <= REST_S + 0.2
    (text,) = (text for text in by_text if text.startswith('goal: met'))
    assert '32.0 s on the clock' in text


def test_a_rest_within_a_call_is_cut_short_too() -> None:
    motion, episode = moved(), repaired()
    rests = motion.world_s > 1.0
    joints_rad = motion.joints_rad.copy()
    joints_rad[rests, 0] = 1.0
    slow = replace(motion, joints_rad=joints_rad, world_s=motion.world_s * np.where(rests, 30, 1))

    board = Storyboard(episode, slow, 1.0)

    frames = shown(board, episode.events)['pick(red_cube)']
    cut = [frame for frame in frames if frame.remark == 'a rest, cut short']
    assert REST_S * FPS - 2 <= len(cut) <= REST_S * FPS + 2
    assert '60.0 s of the robot' in {frame.clock for frame in board.frames(FPS)}


def test_without_a_motion_every_call_is_seen_and_the_clock_is_that_of_the_wall() -> None:
    episode = repaired()

    by_text = shown(Storyboard(episode, None, 2.0), episode.events)

    assert len(by_text['pick(red_cube)']) / FPS == pytest.approx(0.6, abs=0.06)
    assert {frame.clock for frame in by_text[CAUSE]} == {'12.0 s on the clock'}
    assert {frame.sample for frames in by_text.values() for frame in frames} == {0}


def test_an_episode_that_breaks_off_ends_with_words_for_it() -> None:
    episode = repaired(ended=False)

    frames = list(Storyboard(episode, moved(), 2.0).frames(FPS))

    story = Story()
    story.break_off()
    assert frames[-1].n_events == len(episode.events) + 1
    assert story.caption.label == 'INTERRUPTED'
    assert sum(frame == frames[-1] for frame in frames) / FPS >= 2


def test_a_motion_that_breaks_off_rests_at_its_end() -> None:
    episode = repaired()

    frames = list(Storyboard(episode, moved(11.0, complete=False), 2.0).frames(FPS))

    assert frames[-1].sample == 11
    assert (frames[-1].clock, frames[-1].remark) == ('1.0 s of the robot', BROKEN)


def test_clocks_that_jump_or_run_backwards_make_no_endless_video() -> None:
    odd = moved()
    stamps_s = odd.stamps_s.copy()
    stamps_s[5] = START_S
    world_s = odd.world_s.copy()
    world_s[8:] += 1e9
    world_s[12:] = np.nan
    episode = made([(0.0, started()), *((e.stamp_s - START_S, e.data) for e in repaired().events)])

    board = Storyboard(episode, replace(odd, stamps_s=stamps_s, world_s=world_s), 0.1)

    assert 0 < board.duration_s < 60
    assert len(list(board.frames(FPS))) == board.count(FPS)
