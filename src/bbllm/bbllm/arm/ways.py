"""From grips that would do to one way for the joints: over, down and up again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bbllm.arm.collision import CollisionChecker
from bbllm.arm.driver import Array, JointTrajectory
from bbllm.arm.envelope import KeepOut, Rule, kept_out, refusal
from bbllm.arm.failures import SkillError
from bbllm.arm.grasping import Approach, choose_grasp_configuration
from bbllm.arm.interpolation import slowed
from bbllm.arm.kinematics import forward
from bbllm.arm.lifting import LiftParams, parted, slow_move
from bbllm.arm.limits import Q_READY
from bbllm.arm.obstacles import Held, matrix_from_pose, obstacles_from_scene
from bbllm.arm.reachability import raised, reachable_top_down, top_down
from bbllm.arm.straight_line import line_path, path_move
from bbllm.arm.sweep import sweep
from bbllm.arm.trajectory import NoPathError, concatenate
from bbllm.arm.transit import plan_transit
from bbllm.core.types import Code, Scene
from bbllm.skills.grasps import Grip, Hand
from bbllm.skills.motions import MoveAbove
from bbllm.skills.rejection import listed
from bbllm.skills.shapes import Vector

TCP_SPEED_M_S = 3.0
"""What the robot allows its tool [m/s]."""
_SAFE = 0.995
"""Share of a speed that is aimed at: it is looked at every so often only."""
_SLOWINGS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class WayParams:
    """How fast, and how many postures to try."""

    scale: float = 0.8
    """Share of the joint limits to use, in (0, 1]."""
    line_speed_m_s: float = 0.5
    """Tool speed on straight lines [m/s]."""
    tcp_speed_m_s: float = TCP_SPEED_M_S
    """Tool speed on any way; what would be faster is slowed down as a whole [m/s]."""
    joint_share: float = 1.0
    """Share of their speed limits that joints may take on any way, likewise."""
    keep_out: tuple[KeepOut, ...] = ()
    """Boxes that all ways lead around."""
    postures: int = 3
    """How many postures to try a transit for."""
    slow_line_s: float = 1.5
    """Straight parts that take longer make it worth while to look at another posture [s]."""
    escape_m: float = 0.1
    """How far to rise first where the arm starts in contact with something [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Everything that is needed to come down on a grip and rise again."""

    grip: Grip
    transit: JointTrajectory
    """From where the arm is to above the grip."""
    descent: JointTrajectory | None
    """Straight down; None where hover and grip are one."""
    ascent: JointTrajectory | None
    """Straight up again."""
    up: Array | None = None
    """Joint positions on the way up, evenly spaced, shape (n, 7) [rad]."""

    @property
    def line_s(self) -> float:
        """Duration of the straight parts [s]."""
        lines = (self.descent, self.ascent)
        return sum(line.duration_s for line in lines if line is not None)

    @property
    def duration_s(self) -> float:
        """Duration of all parts [s]."""
        return self.transit.duration_s + self.line_s


class WayPlanner:
    """Keeps one collision model and answers which way to go."""

    def __init__(self, params: WayParams | None = None) -> None:
        self.params = params or WayParams()
        self._checker = CollisionChecker()
        self._holding = False
        self._width_m = 0.08

    def look(self, scene: Scene, hand: Hand) -> None:
        """Take in where things are, what is held and how far the fingers are open."""
        held = None
        if scene.held is not None:
            item = scene.object(scene.held)
            T_tcp_object = np.linalg.inv(matrix_from_pose(hand.tcp)) @ matrix_from_pose(item.pose)
            held = Held(name=item.name, T_tcp_object=T_tcp_object)
        self._holding = held is not None
        self._width_m = hand.width_m
        boxes = (box.obstacle for box in self.params.keep_out)
        things = (*obstacles_from_scene(scene), *boxes)
        self._checker.update(things, held, width_m=hand.width_m)

    def above(self, motion: MoveAbove, q_now: Array) -> Way:
        """
        Choose a grip and plan all motions for it; nothing has moved yet.

        Args:
            motion: The grips that would do.
            q_now: Where the arm is, shape (7,) [rad].

        Raises:
            SkillError: OUT_OF_WORKSPACE or NO_PATH, as a rejection.
        """
        problem: NoPathError | None = None
        for grips in _by_room(motion.grips):
            try:
                return self._way(motion, grips, q_now)
            except NoPathError as error:
                problem = problem or error
        raise self._failure(motion, problem)

    def shifted(self, way: Way, shift_m: Vector) -> Way:
        """
        Come down a little beside the grip, since what is held has slipped on the way there.

        Args:
            way: A way whose transit has been moved along.
            shift_m: World frame [m].

        Raises:
            NoPathError: The line there leaves the joint limits.
        """
        if way.descent is None:
            return way
        x, y, z = (way.grip.position_m[axis] + shift_m[axis] for axis in range(3))
        path = line_path(way.descent.position_rad[0], top_down((x, y, z), way.grip.yaw_rad))
        descent, ascent = self._both_ways(path)
        return replace(way, descent=descent, ascent=ascent, up=path[::-1])

    def parted(self, way: Way, params: LiftParams) -> tuple[JointTrajectory, Way]:
        """
        Return the first bit of the way up, and a way whose ascent is what is left of it.

        Raises:
            SkillError: The way has no way up: what is lifted was not come down on.
        """
        if way.up is None:
            raise SkillError(Code.INTERNAL, 'a lift was asked for on a way that stays above.')
        first, left = parted(way.up, params.rise_m(way.up[0]))
        return slow_move(first, params.duration_s), replace(way, ascent=self._line(left), up=left)

    def to_base(self, q_now: Array) -> JointTrajectory:
        """
        Plan the way back to the ready posture.

        Raises:
            SkillError: NO_PATH, as a rejection.
        """
        try:
            return self._transit(q_now, Q_READY)
        except NoPathError as error:
            if kept_out(error.blockers):
                raise _trespass('moving back to base', error) from error
            raise SkillError(
                Code.NO_PATH,
                f'no free way back to the base posture was found: {_in_the_way(error)}.',
                str(error),
                moved=False,
            ) from error

    def straight_up(self, q_now: Array, rise_m: float) -> JointTrajectory:
        """Plan a rise of the tool without regard to contacts; for getting out of trouble."""
        return self._line(line_path(q_now, raised(forward(q_now), rise_m)))

    def _way(self, motion: MoveAbove, grips: Sequence[Grip], q_now: Array) -> Way:
        """Take the best posture, or where that is slow or blocked, the quickest of a few."""
        problem: NoPathError | None = None
        ways: list[Way] = []
        for count in (1, self.params.postures):
            for approach in self._postures(motion, grips, q_now, count):
                try:
                    ways.append(self._way_by(approach, grips[approach.index], motion, q_now))
                except NoPathError as error:
                    problem = problem or error
            if ways and ways[0].line_s <= self.params.slow_line_s:
                return ways[0]
        if not ways:
            raise problem or NoPathError('no posture is left')
        return min(ways, key=lambda way: way.duration_s)

    def _postures(
        self, motion: MoveAbove, grips: Sequence[Grip], q_now: Array, count: int
    ) -> list[Approach]:
        approaches = choose_grasp_configuration(
            [top_down(grip.position_m, grip.yaw_rad) for grip in grips],
            q_now,
            hover_m=motion.hover_m,
            checker=self._checker,
            ignore=motion.touching,
            # What holds something comes down as it is; else the hand opens above the grip.
            widths_m=None if self._holding else [grip.opening_m for grip in grips],
            count=count,
        )
        self._checker.open_to(self._width_m)
        return approaches

    def _way_by(self, approach: Approach, grip: Grip, motion: MoveAbove, q_now: Array) -> Way:
        transit = self._transit(q_now, approach.q_hover)
        if motion.hover_m <= 0.0:
            return Way(grip=grip, transit=transit, descent=None, ascent=None)
        descent, ascent = self._both_ways(approach.path)
        up = approach.path[::-1]
        return Way(grip=grip, transit=transit, descent=descent, ascent=ascent, up=up)

    def _both_ways(self, path: Array) -> tuple[JointTrajectory, JointTrajectory]:
        """Return the motions down and up along one path: the posture is the one looked at."""
        return self._line(path), self._line(path[::-1])

    def _line(self, path: Array) -> JointTrajectory:
        params = self.params
        line = path_move(path, scale=params.scale, speed_m_s=params.line_speed_m_s)
        # The tool is slow enough; near singularities a joint may be fast nevertheless.
        return line if params.joint_share >= 1.0 else self._within_speed(line)

    def _within_speed(self, move: JointTrajectory) -> JointTrajectory:
        """Slow a motion down on which the tool or a joint would be too fast."""
        for _ in range(_SLOWINGS):  # as a slower motion is looked at in other places
            way = sweep(move)
            factor = max(
                float(way.tcp_speed_m_s.max()) / self.params.tcp_speed_m_s,
                float(way.joint_share.max()) / self.params.joint_share,
            )
            if factor <= 1.0:
                break
            move = slowed(move, factor / _SAFE)
        return move

    def _transit(self, q_now: Array, q_goal: Array) -> JointTrajectory:
        return self._within_speed(self._free_way(q_now, q_goal))

    def _free_way(self, q_now: Array, q_goal: Array) -> JointTrajectory:
        if not self._checker.clear(q_now):
            return plan_transit(q_now, q_goal, self._checker, scale=self.params.scale)
        # Something touches already, as after a failed grasp: rise straight out of it first.
        rise = self.straight_up(q_now, self.params.escape_m)
        onward = plan_transit(
            rise.position_rad[-1], q_goal, self._checker, scale=self.params.scale
        )
        return concatenate(rise, onward)

    def _failure(self, motion: MoveAbove, problem: NoPathError | None) -> SkillError:
        within = any(
            reachable_top_down(grip.position_m, (grip.yaw_rad,), hover_m=motion.hover_m)
            for grip in motion.grips
        )
        raw = str(problem or '')
        if within and problem is not None and kept_out(problem.blockers):
            return _trespass(f'going to {motion.target}', problem)
        if not within:
            return SkillError(
                Code.OUT_OF_WORKSPACE,
                f'{motion.target} is out of the workspace of the robot.',
                raw,
                moved=False,
            )
        return SkillError(
            Code.NO_PATH,
            f'no free way to {motion.target} was found: {_in_the_way(problem)}.',
            raw,
            moved=False,
        )


def _by_room(grips: Sequence[Grip]) -> list[list[Grip]]:
    """Group grips so that those with much room for the fingers are tried before tight ones."""
    enough = max(grip.side_room_m for grip in grips) - 0.004
    roomy = [grip for grip in grips if grip.side_room_m >= enough]
    tight = [grip for grip in grips if grip.side_room_m < enough]
    return [group for group in (roomy, tight) if group]


def _trespass(doing: str, problem: NoPathError) -> SkillError:
    """Return that there is no way but through what the arm is kept out of."""
    boxes = listed(kept_out(problem.blockers))
    why = f'every way that was tried leads through {boxes}; a target further from it would do'
    return SkillError(Code.UNSAFE, refusal(Rule.KEEP_OUT, doing, why), str(problem), moved=False)


def _in_the_way(problem: NoPathError | None) -> str:
    if problem is None or not problem.blockers:
        return 'the arm cannot bend that way'
    verb = 'is' if len(problem.blockers) == 1 else 'are'
    return f'{listed(problem.blockers)} {verb} in the way'
