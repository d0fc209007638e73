"""Episodes on record with a motion beside them, as an arm leaves them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from bbllm.bags.motion import MotionSample, MotionWriter, motion_path
from bbllm.core.events import (
    BeliefsEstimated,
    Ending,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    EventData,
    GoalStated,
    LineDiscarded,
    ModelCall,
    ModelReplied,
    PlanMade,
    RepairBegun,
    SceneRecorded,
    StepBegun,
    StepFailed,
    StepPassed,
    SubGoalBegun,
)
from bbllm.core.journal import JournalWriter
from bbllm.core.observation import Observed
from bbllm.core.types import Fact, Kind, Outcome, Pose, Scene, SceneObject, SkillCall, Status

START_S = 1.8e9
TABLE = SceneObject(
    name='table', kind=Kind.FIXTURE, pose=Pose(position_m=(0.5, 0.0, -0.02)), size_m=(1, 1, 0.04)
)
HAND_OVER_S = 0.5
"""Between two events, wall clock [s]."""


def cube(name: str = 'red_cube', x_m: float = 0.4) -> SceneObject:
    pose = Pose(position_m=(x_m, 0.1, 0.02))
    return SceneObject(name=name, kind=Kind.CUBE, pose=pose, size_m=(0.04,) * 3, color='red')


def outcome(call: SkillCall, message: str = '') -> Outcome:
    status = Status.FAILED if message else Status.SUCCEEDED
    return Outcome(call=call, status=status, message=message, duration_s=2.0)


def repaired(word: str = 'a') -> tuple[EventData, ...]:
    """Return an episode with a failure, a repair, a step left out and all that a page shows."""
    first, second = SkillCall('pick', (word,)), SkillCall('pick', ('b',))
    scene = Scene((TABLE, cube(word)), (), (Fact(word, 'on', 'table'),), 0.0)
    return (
        EpisodeStarted(episode_id='e1', task=f'pick {word}', planner='p', brain=word, body='m'),
        SceneRecorded('before', scene),
        ModelCall(role='brain', model=word, prompt_tokens=1200, completion_tokens=34),
        ModelReplied('brain', f'0: pick {word}\n1: pick b'),
        GoalStated((f'{word} is held',)),
        SubGoalBegun(f'find {word}', 0, 2),
        PlanMade((f'pick {word}', 'look', 'rest'), 0),
        StepBegun(0, f'pick {word}'),
        first,
        outcome(first, f'{word} is out of reach.'),
        Observed(blocks={word: (0.4, 0.1, 0.02, 0.0, 0.0, 0.0, 1.0)}),
        RepairBegun(0, f'pick {word}', f'{word} is out of reach.', loop=1),
        LineDiscarded(word, word),
        ModelCall(role='brain', model=word, prompt_tokens=10),
        ModelReplied('brain', '0: pick b'),
        PlanMade(('pick b', 'look', 'turn', 'rest'), 0, revision=1),
        SubGoalBegun('move b', 1, 2),
        StepBegun(0, 'pick b'),
        second,
        outcome(second),
        BeliefsEstimated({word: ('warm',)}, summary=word),
        StepBegun(1, 'look'),
        StepPassed(1, 'look'),
        StepBegun(2, 'turn'),
        StepFailed(2, 'turn', f'{word} is in the way.'),
        SceneRecorded('after', scene),
        EpisodeEnded(Ending.PARTLY_DONE, f'{word} is left.', goal='unmet'),
    )


def long_one(n: int) -> Iterator[EventData]:
    """Yield an episode of n steps, each with a model call."""
    steps = tuple(f'pick cube_{i}' for i in range(n))
    yield EpisodeStarted(episode_id='e1', task='pick all', planner='p', brain='m', body='m')
    yield PlanMade(steps, 0)
    for i, step in enumerate(steps):
        call = SkillCall('pick', (f'cube_{i}',))
        yield StepBegun(i, step)
        yield call
        yield ModelCall(role='body', model='m', prompt_tokens=10)
        yield ModelReplied('body', str(call))
        yield outcome(call)
    yield EpisodeEnded(Ending.FINISHED, '')


def events_of(data: Sequence[EventData]) -> list[Event]:
    return [Event(START_S + HAND_OVER_S * i, item) for i, item in enumerate(data)]


def write_journal(folder: Path, data: Sequence[EventData]) -> Path:
    with JournalWriter(folder, 'e1') as journal:
        for event in events_of(data):
            journal(event)
    return journal.path


def write_motion(journal: Path, name: str = 'red_cube', n: int = 390) -> Path:
    """Write a motion of n samples, in which the first joint turns by 1 mrad and a cube by 1 mm."""
    path = motion_path(journal)
    with MotionWriter(path, (TABLE, cube(name))) as writer:
        for i in range(n):
            writer.add(
                MotionSample(
                    stamp_s=START_S + i / 30,
                    world_s=i / 30,
                    joints_rad=(1e-3 * i, -0.6, 0.0, -2.2, 0.0, 1.9, 0.8),
                    finger_m=0.04,
                    poses={name: cube(x_m=0.4 + 1e-3 * i).pose},
                )
            )
    return path
