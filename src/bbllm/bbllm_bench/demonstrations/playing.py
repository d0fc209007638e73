"""Plays one episode in the simulator, samples its motion, and labels every frame."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bbllm.arm.driver import N_JOINTS, Array
from bbllm.core.events import EpisodeEnded, Event, RepairBegun, StepBegun
from bbllm.core.protocols import EventSink, World
from bbllm.core.types import Outcome, SkillCall
from bbllm.robots.registry import load_robot
from bbllm.sim.faults import Fault
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.demonstrations.drawing import DemoSpec
from bbllm_bench.demonstrations.sampling import MotionSampler
from bbllm_bench.log.episodes import EpisodeRecord, EpisodeSpec
from bbllm_bench.runner.episode_models import open_models
from bbllm_bench.runner.episode_setup import Alone
from bbllm_bench.runner.play_tabletop import play_with

FPS = 30
"""Frames a second of the robot's clock; a LeRobot data set has a whole number of them [Hz]."""
NONE = -1
"""The index of the step or call of a frame in which there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallNote:
    """One call of a skill, as it ended."""

    text: str
    """For example `pick(red_cube)`."""
    status: str
    code: str
    """What went wrong, `NONE` where nothing did."""
    message: str
    begin: int
    """Its first frame; a call that was refused before anything moved has no frame."""
    end: int
    """The frame after its last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """The frames of one episode, one row each, and what is known of it as a whole."""

    measured: Array
    """Joints and distance of the fingers, shape (n, 8) [rad, m]."""
    set_points: Array
    """What they are commanded to be at the time of the next frame, shape (n, 8) [rad, m]."""
    poses: Array
    """Objects in the frame of the base, x y z qx qy qz qw, shape (n, objects, 7)."""
    step_index: Array
    """The step of the plan in force, `NONE` where no step has begun or the plan has ended."""
    step_text: tuple[str, ...]
    """That step in the planner's words, '' where there is none."""
    call_index: Array
    """The call under way, counted from 0 in the episode; `NONE` between calls."""
    call_failed: Array
    """Whether the call under way is going to fail."""
    feedback_loop: Array
    """How often a failed step was repaired before."""
    calls: tuple[CallNote, ...]

    def __len__(self) -> int:
        return len(self.measured)


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoRecord(EpisodeRecord):
    """What came of an episode: the judged result, and its frames; the journal is left out."""

    demo: Demo


def play(job: EpisodeSpec) -> DemoRecord:
    """Play, sample and judge the episode of a DemoSpec; see `log.episodes.Play`."""
    assert isinstance(job, DemoSpec)
    with open_models(job) as (models, _):
        watch = _Watch(job.miss)
        result = play_with(job, models, watch.note, watch)
    return DemoRecord(result=result, journal='', demo=watch.demo())


@dataclass
class _Watch(Alone):
    """Samples the world of the episode, notes when its events come, and makes the hand miss."""

    miss: int | None
    table: TabletopWorld = field(init=False)
    sampler: MotionSampler = field(init=False)
    events: list[tuple[float, Event]] = field(default_factory=list)
    """With the times on the world's clock [s]."""
    picks: int = 0

    def opened(self, world: World) -> None:
        assert isinstance(world, TabletopWorld)
        self.table = world
        self.sampler = MotionSampler(world.robot, FPS)

    def before(self) -> EventSink:
        raise NotImplementedError('Demonstrations have no episodes before them.')

    def note(self, event: Event) -> None:
        self.events.append((self.table.time_s, event))
        if isinstance(event.data, SkillCall) and event.data.skill == 'pick':
            self.picks += 1
            if self.picks == self.miss:
                self.table.robot.inject(Fault.GRIPPER_MISS)

    def demo(self) -> Demo:
        """Return the frames; the last sample is only what its predecessor is commanded to."""
        sampler = self.sampler
        return label(
            sampler.stamps_s[:-1],
            self.events,
            measured=sampler.measured[:-1],
            set_points=_within(sampler.set_points[1:]),
            poses=sampler.poses[:-1],
        )


def _within(set_points: Array) -> Array:
    """Return set points with widths that the hand has: it squeezes by a negative one."""
    arm, width = set_points[:, :N_JOINTS], set_points[:, N_JOINTS:]
    return np.hstack([arm, width.clip(0.0, load_robot().hand.max_width_m)])


def label(
    stamps_s: Array,
    events: Sequence[tuple[float, Event]],
    *,
    measured: Array,
    set_points: Array,
    poses: Array,
) -> Demo:
    """
    Label frames by what happened at which time.

    A frame belongs to the call during which its action acts: the first frame of a call is the
    first one at or after its begin.
    """
    n = len(stamps_s)
    step_index, call_index, loop = np.full(n, NONE), np.full(n, NONE), np.zeros(n, dtype=int)
    failed, texts = np.zeros(n, dtype=bool), [''] * n
    calls: list[CallNote] = []
    call_begin = 0
    for time_s, event in events:
        frame = int(np.searchsorted(stamps_s, time_s - _ROUNDING_S))
        match event.data:
            case StepBegun(index, text):
                step_index[frame:], texts[frame:] = index, [text] * (n - frame)
            case EpisodeEnded():
                step_index[frame:], texts[frame:] = NONE, [''] * (n - frame)
            case RepairBegun(is_loop=True):
                loop[frame:] += 1
            case SkillCall():
                call_begin = frame
            case Outcome() as outcome:
                call_index[call_begin:frame] = len(calls)
                failed[call_begin:frame] = not outcome.succeeded
                calls.append(_note(outcome, call_begin, frame))
    return Demo(
        measured=measured,
        set_points=set_points,
        poses=poses,
        step_index=step_index,
        step_text=tuple(texts),
        call_index=call_index,
        call_failed=failed,
        feedback_loop=loop,
        calls=tuple(calls),
    )


_ROUNDING_S = 1e-6
"""Times are whole steps of the physics but for rounding [s]."""


def _note(outcome: Outcome, begin: int, end: int) -> CallNote:
    return CallNote(
        text=str(outcome.call),
        status=outcome.status.name,
        code=outcome.code.name,
        message=outcome.message,
        begin=begin,
        end=end,
    )
