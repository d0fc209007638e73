"""
The border where names are checked: a call against the skills and objects of a scene.

Everything that turns text into a call (Body, planners) and everything that carries one out
(executor, worlds) goes through `check_call`, so that a skill or an object that does not exist is
refused in the same words everywhere.
"""

import difflib
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bbllm.core.arguments import KINDS, LONGEST
from bbllm.core.errors import BbllmError
from bbllm.core.observation import lost_names, lost_text
from bbllm.core.types import Code, Outcome, Pose, Quat, Scene, Skill, SkillCall, Status

POSE_FORM = (
    '`x y z` or `x y z yaw_deg`, for example `0.45 -0.10 0.02 90`, or that of the hand, '
    '`x y z qx qy qz qw`, for example `0.45 -0.10 0.03 1 0 0 0`'
)
"""The form of a pose literal, for errors and prompts."""
COORDINATE_LIMIT_M = 2.0
"""Positions further away than this are slips of the pen: the arm reaches 0.86 m [m]."""
LENGTH_TOLERANCE = 0.05
"""How far the length of a quaternion may be from 1."""
TILT_LIMIT_DEG = 10.0
"""How far the fingers of a pose may point away from straight down [deg]."""
NAMES_LISTED = 40
"""Number of names in an error before the count of the others."""


class CallError(BbllmError):
    """A call whose skill, objects or arguments are not in the scene; nothing was tried."""

    def __init__(self, call: SkillCall, code: Code, message: str):
        super().__init__(message)
        self.call = call
        self.code = code

    @property
    def outcome(self) -> Outcome:
        """The same as an Outcome: REJECTED, with the code and the sentence."""
        return Outcome(call=self.call, status=Status.REJECTED, code=self.code, message=str(self))


def code_behind(error: BaseException) -> Code | None:
    """Return what is wrong with the call that an error came from; None where there was none."""
    cause = error.__cause__
    while cause is not None and not isinstance(cause, CallError):
        cause = cause.__cause__
    return None if cause is None else cause.code


@dataclass(frozen=True, slots=True)
class PoseLiteral:
    """A target that was given in numbers, in the world frame."""

    position_m: tuple[float, float, float]
    """Centre of the object that is placed, or the TCP for `reach`; with a quaternion always the
    TCP [m]."""
    yaw_deg: float | None = None
    """Turn about the world's z axis, in (-180, 180]; None where any will do [deg]."""
    quat_xyzw: Quat | None = None
    """How the TCP is turned, to four decimals; `1 0 0 0` points straight down. None where the
    pose has no quaternion."""

    @property
    def pose(self) -> Pose:
        """The pose with a unit quaternion; with yaw 0 where any will do."""
        if self.quat_xyzw is not None:
            return Pose(position_m=self.position_m, quat_xyzw=_unit(self.quat_xyzw))
        half = math.radians(self.yaw_deg or 0.0) / 2.0
        quat = (0.0, 0.0, math.sin(half), math.cos(half))
        return Pose(position_m=self.position_m, quat_xyzw=quat)


def is_pose_like(text: str) -> bool:
    """Whether an argument is meant as a pose literal rather than a name."""
    number = r'\s*\[?\s*[-+]?\.?\d'
    return re.match(number, text) is not None and re.search(r'[\s,]', text.strip()) is not None


def parse_pose(text: str) -> PoseLiteral:
    """
    Read `x y z`, `x y z yaw_deg` or `x y z qx qy qz qw` (metres, degrees, world frame).

    Spaces, commas or both separate the numbers; brackets may stand around them. Raises ValueError
    for other numbers, too far away, or a hand that does not come from above.
    """
    numbers = _numbers(text) if len(text) <= LONGEST else []
    pose = f'The pose {text[:120]!r}'
    if len(numbers) not in (3, 4, 7) or not all(math.isfinite(number) for number in numbers):
        count = f': it has {len(numbers)} numbers' if numbers else ''
        raise ValueError(f'{text[:60]!r} is no pose{count}. A pose is {POSE_FORM}.')
    x, y, z = numbers[:3]
    # As they will be written: what is read once must be read again.
    if max(round(abs(value), 4) for value in (x, y, z)) >= COORDINATE_LIMIT_M:
        raise ValueError(
            f'{pose} is too far away: each of x, y, z must be within '
            f'{COORDINATE_LIMIT_M:g} m of the base.'
        )
    if len(numbers) == 3:
        return PoseLiteral((x, y, z))
    if len(numbers) == 7:
        return PoseLiteral((x, y, z), quat_xyzw=_pointing_down(pose, numbers[3:]))
    if abs(numbers[3]) > 360.0:
        raise ValueError(f'The yaw in {text[:60]!r} must be between -360 and 360 degrees.')
    return PoseLiteral((x, y, z), 180.0 - (180.0 - numbers[3]) % 360.0)


def _numbers(text: str) -> list[float]:
    inside = re.fullmatch(r'\s*\[([^\[\]]*)\]\s*', text)
    words = (inside[1] if inside else text).replace(',', ' ').split()
    try:
        return [float(word) for word in words]
    except ValueError:
        return []


def _pointing_down(pose: str, numbers: Sequence[float]) -> Quat:
    """Return a quaternion of the hand as it is written, or raise ValueError with what would do."""
    length = math.hypot(*numbers)
    if abs(length - 1.0) > LENGTH_TOLERANCE:
        raise ValueError(
            f'{pose} has a quaternion of length {length:.3g}, but the length of `qx qy qz qw` '
            f'must be 1; a hand that points straight down has `1 0 0 0`.'
        )
    x, y, z, w = (round(number, 4) for number in numbers)
    # Rounding moves the length by 0.0001 at most: what is written is not changed once more.
    if abs(math.hypot(x, y, z, w) - 1.0) > 0.0002:
        x, y, z, w = (round(number / length, 4) for number in numbers)
    tilt_deg = 2.0 * math.degrees(math.atan2(math.hypot(z, w), math.hypot(x, y)))
    if tilt_deg > TILT_LIMIT_DEG:
        # The nearest turn straight down; of a hand that points up, the one with its yaw.
        x, y = (x, y) if math.hypot(x, y) > 0.01 else (w, z)
        size = math.hypot(x, y)
        off_deg = math.ceil(tilt_deg * 10) / 10  # never as many as would do
        down = ' '.join(_plain_number(part / size) for part in (x, y))
        raise ValueError(
            f'{pose} is that of the hand, not of an object, and its fingers point '
            f'{off_deg:.1f} degrees away from straight down, but the hand comes from above only, '
            f'within {TILT_LIMIT_DEG:g} degrees; `{down} 0 0` would do.'
        )
    return (x, y, z, w)


def _unit(quat: Quat) -> Quat:
    length = math.hypot(*quat)
    x, y, z, w = (part / length for part in quat)
    return (x, y, z, w)


def format_pose(literal: PoseLiteral) -> str:
    """Write a pose literal to a tenth of a millimetre and of a degree; `parse_pose` reads it."""
    numbers = [_plain_number(value) for value in literal.position_m]
    if literal.quat_xyzw is not None:
        numbers += [_plain_number(part) for part in literal.quat_xyzw]
    elif literal.yaw_deg is not None:
        numbers.append(_plain_number(literal.yaw_deg, 1))
    return ' '.join(numbers)


def _plain_number(value: float, digits: int = 4) -> str:
    number = f'{value:.{digits}f}'
    return '0' if float(number) == 0.0 else trimmed(number)


def trimmed(number: str) -> str:
    """Drop the zeros that a decimal number does not need."""
    return number.rstrip('0').rstrip('.')


def nearest_first(name: str, names: Iterable[str]) -> list[str]:
    """Sort names by likeness to a name, most alike first; ties keep their order."""

    def unlikeness(known: str) -> float:
        return -difflib.SequenceMatcher(None, plain(name), plain(known)).ratio()

    return sorted(names, key=unlikeness)


@lru_cache(maxsize=1024)
def plain(name: str) -> str:
    """Write a name as a scene would: lower case, one underscore between words."""
    return re.sub(r'[\s_-]+', '_', name.strip()).lower()


def check_call(call: SkillCall, scene: Scene) -> SkillCall:
    """
    Return the call in the scene's own spelling.

    Aliases become the skill's name, `Red cube` becomes `red_cube`, numbers get one form.
    The world decides whether the call can work here and now.

    Raises:
        CallError: The skill, an object or an argument is none that the scene has; `code` is
            UNKNOWN_SKILL, UNKNOWN_OBJECT, OBJECT_LOST or BAD_ARGUMENTS, and the text lists what
            there is, or where a lost object was last.
    """
    skill = _skill(call, scene)
    if len(call.args) != len(skill.params):
        wanted, count = ', '.join(skill.params) or 'no arguments', len(call.args)
        raise CallError(
            call,
            Code.BAD_ARGUMENTS,
            f'{skill.name} takes {wanted}, but got {count} argument{"s" * (count != 1)}: '
            f'{", ".join(call.args)[:120] or "none"}.',
        )
    args = tuple(
        _argument(call, param, arg, scene)
        for param, arg in zip(skill.params, call.args, strict=True)
    )
    return SkillCall(skill.name, args)


def _skill(call: SkillCall, scene: Scene) -> Skill:
    wanted = plain(call.skill)
    for skill in scene.skills:
        if wanted in (plain(skill.name), *map(plain, skill.aliases)):
            return skill
    names = nearest_first(call.skill, (skill.name for skill in scene.skills))
    raise CallError(
        call,
        Code.UNKNOWN_SKILL,
        f'There is no skill named {call.skill[:60]!r}. The skills are: {_listed(names)}.',
    )


def _argument(call: SkillCall, param: str, arg: str, scene: Scene) -> str:
    try:
        if param in KINDS:
            return KINDS[param].read(arg)
        if param == 'target' and is_pose_like(arg):
            return format_pose(parse_pose(arg))
    except ValueError as error:
        raise CallError(call, Code.BAD_ARGUMENTS, str(error)) from error
    if arg in scene.names:
        return arg
    alike = [name for name in scene.names if plain(name) == plain(arg)]
    if len(alike) == 1:
        return alike[0]
    for name in lost_names(scene):
        if plain(name) == plain(arg):
            raise CallError(call, Code.OBJECT_LOST, lost_text(scene, name))
    form = f' A {param} may also be a pose: {POSE_FORM}.' if param == 'target' else ''
    raise CallError(
        call,
        Code.UNKNOWN_OBJECT,
        f'There is no object named {arg[:60]!r}. The objects are: '
        f'{_listed(nearest_first(arg, scene.names))}.{form}',
    )


def _listed(names: list[str]) -> str:
    if not names:
        return 'none'
    more = len(names) - NAMES_LISTED
    return ', '.join(names[:NAMES_LISTED]) + (f' and {more} more' if more > 0 else '')
