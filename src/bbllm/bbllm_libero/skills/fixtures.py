"""What `open`, `close`, `turn_on` and `turn_off` share: the joint of a call, and its goal."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from bbllm.core.text import listed
from bbllm.core.types import Code, Skill
from bbllm_libero.panda import OPEN, JointInfo, LiberoTask, Panda, Result
from bbllm_libero.skills.hand import tips
from bbllm_libero.skills.joints import handle_grasps, push_along, take_along
from bbllm_libero.skills.motion import move
from bbllm_libero.skills.skill import PandaSkill, done, failed, refused

Wanted = Literal['open', 'close', 'turnon', 'turnoff']
ATTEMPTS = 3
"""Grasps of a handle or knob that are tried."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A joint and where it has to be."""

    joint: JointInfo
    goal: float
    """The position that is aimed at [m or rad]."""
    reached: Callable[[float], bool]


def joint_of(task: LiberoTask, name: str, wanted: Wanted, done_word: str) -> Turn | Result:
    """Return the joint that a name means, or why it has none that can be *done_word*."""
    if name in task.sites:
        names = task.sites[name].joints
    elif name in task.objects:
        names = task.objects[name].joints
    else:
        return refused(
            Code.UNKNOWN_OBJECT, f'There is no {name}; there are {listed(_able(task, wanted))}.'
        )
    able = [joint for joint in names if wanted in task.joints[joint].ranges]
    if len(able) == 1:
        return _turn(task.joints[able[0]], wanted)
    if able:
        regions = [site for site in _able(task, wanted) if task.sites[site].parent == name]
        return refused(
            Code.BAD_ARGUMENTS,
            f'{name} has several parts that can be {done_word}: {listed(regions)}. Name one.',
        )
    others = _able(task, wanted)
    could = f'; what can be is {listed(others)}' if others else ', nor can anything else here'
    return refused(Code.PRECONDITION, f'{name} cannot be {done_word}{could}.')


def _able(task: LiberoTask, wanted: Wanted) -> list[str]:
    """Return the names of regions and fixtures with such a joint, a region before its fixture."""

    def has(names: tuple[str, ...]) -> bool:
        return any(wanted in task.joints[name].ranges for name in names)

    regions = [name for name, site in task.sites.items() if has(site.joints)]
    return regions + [
        name
        for name, info in task.objects.items()
        if has(info.joints) and name not in {task.sites[region].parent for region in regions}
    ]


def _turn(joint: JointInfo, wanted: Wanted) -> Turn:
    """
    Return what a state asks of a joint, as the benchmark judges it.

    It compares with one end of the range that it names (LIBERO, articulated_objects.py): the end
    nearer to the other state. What is aimed at is beyond it, within the limits of the joint.
    """
    low, high = joint.ranges[wanted]
    opposite = {'open': 'close', 'close': 'open', 'turnon': 'turnoff', 'turnoff': 'turnon'}
    other = sum(joint.ranges[opposite[wanted]]) / 2
    near, far = (low, high) if abs(low - other) < abs(high - other) else (high, low)
    upwards = far > near or (far == near and near > other)
    limit = joint.range[1] if upwards else joint.range[0]
    reach = 0.3 if joint.kind == 'hinge' else 0.012
    goal = near + min(reach, abs(limit - near)) * (1.0 if upwards else -1.0)
    return Turn(joint, goal, (lambda q: q > near) if upwards else (lambda q: q < near))


def pull(panda: Panda, name: str, turn: Turn, done_word: str) -> Result:
    """Grip what moves and lead it to its goal."""
    joint = turn.joint
    for attempt in range(ATTEMPTS):
        state = panda.state
        if turn.reached(state.joints[joint.name]):
            return done()
        grasps = handle_grasps(panda, state, joint, turn.goal - state.joints[joint.name])
        if not grasps:
            return _no_clearance(name, done_word, attempt)
        if take_along(panda, joint, turn.goal, turn.reached, grasps[0]):
            return done()
        up = tips(panda.state)
        up[2, 3] += 0.05
        move(panda, up, OPEN, near_m=0.02, most=20)
    return failed(Code.GOAL_TOLERANCE, f'{name} could not be {done_word} in {ATTEMPTS} attempts.')


def press(panda: Panda, name: str, turn: Turn, done_word: str) -> Result:
    """Push what moves with closed fingers to its goal."""
    joint = turn.joint
    for attempt in range(ATTEMPTS):
        if turn.reached(panda.state.joints[joint.name]):
            return done()
        reached = push_along(panda, joint, turn.goal, turn.reached)
        if reached is None:
            return _no_clearance(name, done_word, attempt)
        if reached:
            return done()
    return failed(Code.GOAL_TOLERANCE, f'{name} could not be {done_word} in {ATTEMPTS} attempts.')


def _no_clearance(name: str, done_word: str, attempts: int) -> Result:
    end = failed if attempts else refused
    return end(
        Code.NO_CLEARANCE,
        f'{name} cannot be {done_word}: what the hand would take is out of reach, or something '
        'is in its way; move that first.',
    )


def hand_full(name: str, done_word: str, held: str | None) -> Result | None:
    if held is None:
        return None
    return refused(
        Code.ALREADY_HOLDING,
        f'{name} cannot be {done_word} because {held} is in the hand; place that first.',
        held,
    )


def joint_skill(
    name: str,
    wanted: Wanted,
    done_word: str,
    act: Callable[[Panda, str, Turn, str], Result],
    summary: str,
    aliases: tuple[str, ...] = (),
) -> PandaSkill:
    """Return a skill that brings the joint of an object or region where *wanted* has it."""

    def run(panda: Panda, args: tuple[str, ...], held: str | None) -> Result:
        turn = joint_of(panda.task, args[0], wanted, done_word)
        if isinstance(turn, Result):
            return replace(turn, held=held)
        return hand_full(args[0], done_word, held) or act(panda, args[0], turn, done_word)

    return PandaSkill(Skill(name, ('object',), summary, aliases), run)
