"""Episodes and motions that never were, with known times."""

from collections.abc import Sequence

import numpy as np

from bbllm.bags.motion import RecordedMotion
from bbllm.core.events import (
    Ending,
    Episode,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    EventData,
    PlanMade,
    RepairBegun,
    SceneRecorded,
    StepBegun,
)
from bbllm.core.journal import episode_of
from bbllm.core.types import Code, Kind, Outcome, Pose, Scene, SceneObject, SkillCall, Status
from bbllm.robots.fr3 import FR3

START_S = 1000.0
CAUSE = 'aqua_cube is out of the workspace of the robot.'
CUBE = SceneObject(
    name='red_cube',
    kind=Kind.CUBE,
    pose=Pose(position_m=(0.5, 0.0, 0.02)),
    size_m=(0.04, 0.04, 0.04),
    color='red',
)
TABLE = SceneObject(
    name='table',
    kind=Kind.FIXTURE,
    pose=Pose(position_m=(0.5, 0.0, -0.02)),
    size_m=(1.0, 1.0, 0.04),
    color='tan',
)
SCENE = Scene((TABLE, CUBE), (), (), 0.0)


def started(task: str = 'move some cubes') -> EpisodeStarted:
    return EpisodeStarted(episode_id='e1', task=task, planner='brain_body', brain='b', body='c')


def outcome(call: SkillCall, message: str = '') -> Outcome:
    if not message:
        return Outcome(call=call, status=Status.SUCCEEDED, duration_s=2.0)
    status, code = Status.REJECTED, Code.OUT_OF_WORKSPACE
    return Outcome(call=call, status=status, code=code, message=message)


def made(timed: Sequence[tuple[float, EventData]]) -> Episode:
    """Return an episode whose events come so many seconds after its start."""
    return episode_of(Event(START_S + at_s, data) for at_s, data in timed)


PICK, FAR = SkillCall('pick', ('red_cube',)), SkillCall('pick', ('aqua_cube',))


def repaired(*, ended: bool = True) -> Episode:
    """Return an episode with one call of 2 s, a refusal, 20 s of waiting, and a repair."""
    first = ('pick red_cube', 'pick aqua_cube', 'go home')
    timed: list[tuple[float, EventData]] = [
        (0.0, started()),
        (0.1, SceneRecorded('before', SCENE)),
        (10.0, PlanMade(first, 0)),
        (10.0, StepBegun(0, first[0])),
        (10.0, PICK),
        (12.0, outcome(PICK)),
        (12.0, StepBegun(1, first[1])),
        (12.0, FAR),
        (12.0, outcome(FAR, CAUSE)),
        (12.0, RepairBegun(1, first[1], CAUSE, loop=1)),
        (32.0, PlanMade((first[0], 'pick blue_cube'), 1, revision=1)),
    ]
    if ended:
        timed.append((32.0, EpisodeEnded(Ending.FINISHED, '', goal='met')))
    return made(timed)


def moved(until_s: float = 12.0, *, complete: bool = True) -> RecordedMotion:
    """Return how the arm turned its first joint at 1 rad/s from 10 s on; samples each 0.1 s."""
    stamps_s = np.array([0.0, *np.linspace(10.0, until_s, round((until_s - 10.0) * 10) + 1), 32.0])
    if not complete:
        stamps_s = stamps_s[:-1]
    # The world's clock of a simulation stands still while a model is waited for.
    world_s = np.clip(stamps_s - 10.0, 0.0, until_s - 10.0)
    joints_rad = np.zeros((len(stamps_s), 7))
    joints_rad[:, :] = (0.0, -0.8, 0.0, -2.3, 0.0, 1.6, 0.8)
    joints_rad[:, 0] = world_s
    pose = (*CUBE.pose.position_m, *CUBE.pose.quat_xyzw)
    return RecordedMotion(
        robot=FR3,
        stamps_s=START_S + stamps_s,
        world_s=world_s,
        joints_rad=joints_rad,
        finger_m=np.full(len(stamps_s), 0.08),
        poses={'red_cube': np.tile(pose, (len(stamps_s), 1))},
        objects=(CUBE,),
        complete=complete,
    )
