"""
Plan the motions of a grasp or a placement: over the target, down and up again.

Among all directions of approach and all solutions of inverse kinematics, the best posture is
taken. The way to it is, in this order: the straight joint move; straight up, over, straight down,
at several heights; by way of the ready posture turned towards either end; RRT-Connect.
"""

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice, zip_longest

import numpy as np
from scipy.spatial.transform import Rotation

from bbllm.arm.driver import Array, JointTrajectory
from bbllm.arm.envelope import (
    KeepOut,
    Nevers,
    Point,
    SafetyRule,
    Workspace,
    constraint_refusal,
    kept_out,
    refusal,
)
from bbllm.arm.failures import SkillError, out_of_reach, unglided
from bbllm.arm.motion.cartesian_path import (
    line_path,
    path_move,
    posture_beside,
    quiet_path,
    rising_path,
    time_before_end,
)
from bbllm.arm.motion.collision import WORKSPACE, CollisionChecker, Contact
from bbllm.arm.motion.reachability import (
    Q7_GRIDS,
    approach_postures,
    coarse_approaches,
    reachable_top_down,
    top_down,
)
from bbllm.arm.motion.rrt_connect import find_way
from bbllm.arm.motion.sweep import beyond, broken_at, corners, sweep
from bbllm.arm.motion.trajectory import (
    NoPathError,
    amended,
    backwards,
    blend,
    concatenate,
    excess,
    hastened_blend,
    joint_move,
    slowed,
    spline_of,
    waypoint_move,
)
from bbllm.arm.obstacles import (
    forbidden_bodies,
    forbidden_by,
    held_by,
    obstacle_from_object,
    obstacles_from_scene,
)
from bbllm.core.text import listed
from bbllm.core.types import Code, Scene
from bbllm.robots.kinematics import TCP
from bbllm.robots.robot_model import RobotModel
from bbllm.skills.grasps import DESCENT_GAP_M, Grip, Hand
from bbllm.skills.segments import Glide, MoveAbove

_CORNER_SAMPLES = 12
_RISES_M = (0.06, 0.12, 0.2, 0.3)
_HIGHER_M = tuple(0.02 * step for step in range(1, 16))
"""How far above a pose that cannot be reached another one is looked for [m]."""


def plan_transit(
    q_start: Array,
    q_goal: Array,
    checker: CollisionChecker,
    *,
    scale: float = 1.0,
) -> JointTrajectory:
    """
    Move to a joint position, shape (7,) [rad], around obstacles, from rest to rest.

    Tries the straight joint move, then raised ways over, then a random search (seeded, so the same
    question has the same answer); *scale* is the share of the velocity and acceleration limits.

    Raises:
        NoPathError: An end touches something, or no way was found; names what is in the way.
    """
    robot = checker.robot
    direct = joint_move(robot, q_start, q_goal, scale=scale)
    blocker = checker.path_clear(direct)
    if blocker is None:
        return direct
    for q, place in ((q_start, 'where the arm stands'), (q_goal, 'where the arm is to go')):
        contacts = checker.clear(q)
        if contacts:
            raise _blocked(f'{contacts[0]} touch {place}', contacts)
    for parts in _raised_ways(robot, q_start, q_goal, scale):
        if all(checker.path_clear(part) is None for part in parts):
            return reduce(lambda one, other: join(one, other, checker, scale=scale), parts)
    first, last = (np.concatenate([q[:1], robot.home_rad[1:]]) for q in (q_start, q_goal))
    for ready in ([first], [last], [first, last]):
        way = [np.asarray(q_start), *ready, np.asarray(q_goal)]
        if checker.path_clear(np.stack(way)) is None:
            return _played(way, checker, scale)
    found = find_way(robot.limits, q_start, q_goal, lambda path: checker.path_clear(path) is None)
    if found is None:
        raise _blocked(f'{blocker} are in the way, and no way around was found', [blocker])
    return _played(found, checker, scale)


def join(
    first: JointTrajectory,
    second: JointTrajectory,
    checker: CollisionChecker,
    *,
    scale: float = 1.0,
) -> JointTrajectory:
    """
    Join two motions, without a stop between them where that is free of contact.

    The first two fifths of the first and the last two of the second stay exactly as they were.
    """
    rounded, saved_s = blend(checker.robot, first, second, scale=scale)
    corner = np.linspace(first.duration_s - saved_s, first.duration_s, _CORNER_SAMPLES)
    if checker.path_clear(spline_of(rounded).positions_at(corner)) is None:
        return rounded
    return concatenate(first, second)


def _raised_ways(
    robot: RobotModel, q_start: Array, q_goal: Array, scale: float
) -> Iterator[tuple[JointTrajectory, ...]]:
    """Yield motions straight up, over, and straight down, lowest first."""
    for rise_m in _RISES_M:
        try:
            up = rising_path(robot, q_start, rise_m)
            down = rising_path(robot, q_goal, rise_m)[::-1]
            over = joint_move(robot, up[-1], down[0], scale=scale)
            yield path_move(robot, up, scale=scale), over, path_move(robot, down, scale=scale)
        except NoPathError:
            continue  # one of the ends cannot rise that far; another height may do


def _played(way: list[Array], checker: CollisionChecker, scale: float) -> JointTrajectory:
    robot = checker.robot
    rounded = waypoint_move(robot, way, scale=scale)
    if checker.path_clear(rounded) is None:
        return rounded
    return concatenate(*(joint_move(robot, a, b, scale=scale) for a, b in zip(way, way[1:])))


def _blocked(reason: str, contacts: list[Contact]) -> NoPathError:
    names = tuple(dict.fromkeys(contact.second for contact in contacts))
    return NoPathError(f'No free way: {reason}.', names)


_ROOM_RAD = 0.4
"""Nearer than this to a limit begins to cost [rad]."""
_ROOM_WEIGHT = 4.0
"""[s/rad^2]"""
_SWING_WEIGHT = 1.5
"""What the farthest turn of a joint on the descent costs; large near singularities [s/rad]."""
_LIKING_S = 0.05
"""What each place further down the list of poses costs [s]."""
_SPREAD = 4
"""Of the solutions of one pose on one branch, every so many-th is tried, best first."""
_TRIES = 40
_WHIRLING_TRIES = 3
"""Most candidates of those that go down a hard way, where there is no other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approach:
    """A way to come straight down on a pose: where to hover, where to end."""

    index: int
    """Which of the poses that were asked for."""
    path: Array
    """Joint positions on the straight line from hover to end, for `path_move`; reversed, it
    leads up again; shape (n, 7) [rad]."""
    direct: bool
    """Whether the straight joint move to the hover pose was found to touch nothing."""
    as_it_is: bool = False
    """Whether it was found to touch nothing with the fingers at the width of the transit too."""


def choose_grasp_configuration(
    robot: RobotModel,
    poses: Sequence[Array],
    q_now: Array,
    *,
    hover_m: float = 0.1,
    checker: CollisionChecker | None = None,
    ignore: Collection[str] = (),
    widths_m: Sequence[float] | None = None,
    transit_width_m: float | None = None,
    count: int = 1,
) -> list[Approach]:
    """
    Choose postures for a pick or a place: the best few, best first.

    Every pose of *poses* (such as a grasp in several directions) with every solution of inverse
    kinematics is ranked by how near it is to a comfortable posture and to *q_now* and how far from
    the limits. Kept are those whose straight descent is within limits and, with a checker, whose
    hover and descent touch nothing. Those with a direct transit from *q_now* come first.

    Args:
        robot: The arm.
        poses: T_base_tcp that would all do, each of shape (4, 4), in order of preference.
        q_now: Where the arm is, shape (7,) [rad].
        hover_m: Height of the hover pose above the end pose, along base z [m].
        checker: Collision model, or None to check limits only.
        ignore: What may be touched on the descent (not on the transit).
        widths_m: How far the fingers are open on the descent to each pose [m]; None leaves the
            checker as it is.
        transit_width_m: How far they are open on the transit, to be looked at too [m].
        count: How many to return at most.

    Raises:
        NoPathError: Nothing is left; names the reason, reach or contact; `blockers` are the names
            of what was touched.
    """
    direct: list[Approach] = []
    detour: list[Approach] = []
    contacts: list[Contact] = []

    def add(index: int, path: Array) -> None:
        is_direct, as_it_is = True, False
        if checker is not None:
            if widths_m is not None:
                checker.open_to(widths_m[index])
            contact = checker.path_clear(path[:1]) or checker.path_clear(
                path, ignore, clearance_m=DESCENT_GAP_M
            )
            if contact is not None:
                contacts.append(contact)
                return
            straight = np.stack([q_now, path[0]])
            if transit_width_m is not None:
                as_it_is = checker.is_clear_at_both(straight, transit_width_m)
            is_direct = as_it_is or checker.path_clear(straight) is None
        found = direct if is_direct else detour
        found.append(Approach(index=index, path=path, direct=is_direct, as_it_is=as_it_is))

    whirling: list[tuple[int, Array]] = []
    for index, q_hover, q_end in islice(_ranked(robot, poses, q_now, hover_m), _TRIES):
        path = quiet_path(robot, q_hover, poses[index], q_end[6])
        if path is None:
            whirling.append((index, q_hover))
            continue
        add(index, path)
        if len(direct) == count:
            return direct
    reason = ''
    for index, q_hover in whirling[: 0 if direct or detour else _WHIRLING_TRIES]:
        try:
            add(index, line_path(robot, q_hover, poses[index]))
        except NoPathError as error:
            reason = reason or str(error)
    if direct or detour:
        return (direct + detour)[:count]
    if not contacts:
        raise NoPathError(reason or 'The arm cannot reach there from above within its limits.')
    names = [item.second for item in contacts]
    most = max(dict.fromkeys(names), key=names.count)
    raise NoPathError(
        f'On the way down {contacts[names.index(most)].first} would touch {most} '
        f'in each of the {len(names)} postures that were tried.',
        tuple(dict.fromkeys(names)),
    )


def _ranked(
    robot: RobotModel, poses: Sequence[Array], q_now: Array, hover_m: float
) -> Iterator[tuple[int, Array, Array]]:
    """Yield pose, hover and end of the postures above each pose, cheapest first, well spread."""
    best = _cheapest(robot, poses, q_now, hover_m)
    if best is not None:
        yield best  # which will do, most often; the others are looked for only where it does not
    found: list[tuple[float, int, Array, Array]] = []
    for n_q7 in Q7_GRIDS if best is not None else Q7_GRIDS[1:]:
        for index, pose in enumerate(poses):
            ends, hovers = approach_postures(robot, pose, hover_m, n_q7)
            if not len(ends):
                continue
            costs = _cost(robot, hovers, ends, q_now) + _LIKING_S * index
            for row in np.argsort(costs)[:: _SPREAD if len(costs) > 2 * _SPREAD else 1]:
                found.append((float(costs[row]), index, hovers[row], ends[row]))
        if found:
            break
    found.sort(key=lambda candidate: candidate[0])
    for candidate in found[1 if best is not None else 0 :]:
        yield candidate[1:]


def _cheapest(
    robot: RobotModel, poses: Sequence[Array], q_now: Array, hover_m: float
) -> tuple[int, Array, Array] | None:
    """Return pose, hover and end of the cheapest posture of the first grid, None without one."""
    index, ends, hovers = coarse_approaches(robot, poses, hover_m)
    if not len(index):
        return None
    row = int(np.argmin(_cost(robot, hovers, ends, q_now) + _LIKING_S * index))
    return int(index[row]), hovers[row], ends[row]


def _cost(robot: RobotModel, hovers: Array, ends: Array, q_now: Array) -> Array:
    """Return what each posture costs, in terms of the time to get there, shape (n,) [s]."""
    limits, way = robot.limits, np.abs(hovers - q_now)
    speed, acceleration = limits.velocity_rad_s, limits.acceleration_rad_s2
    ramps = np.sqrt(4 * way / acceleration)
    cruise = way / speed + speed / acceleration
    travel = np.where(way < speed**2 / acceleration, ramps, cruise)
    comfort = (hovers - robot.home_rad) ** 2 @ robot.comfort_s_rad2
    below = np.minimum(ends, hovers) - limits.lower_rad
    room = np.minimum(below, limits.upper_rad - np.maximum(ends, hovers))
    cramped = (np.maximum(_ROOM_RAD - room, 0.0) ** 2).sum(axis=1) * _ROOM_WEIGHT
    swing = np.abs(ends - hovers).max(axis=1) * _SWING_WEIGHT
    return np.asarray(travel.max(axis=1) + comfort + cramped + swing)


_SAFE = 0.995
_SLOWINGS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class GraspPlannerParams:
    """How fast, and around what."""

    scale: float = 0.8
    """Share of the joint limits to use, in (0, 1]."""
    line_speed_m_s: float = math.inf
    """Tool speed on straight ways, at most what the robot allows [m/s]."""
    tcp_speed_m_s: float = math.inf
    """The same on any way; what would be faster is slowed down as a whole [m/s]."""
    joint_share: float = 1.0
    """Share of their speed limits that joints may take on any way, likewise."""
    workspace: Workspace | None = None
    """Where the tool and the grasped object stay on the way to a place inside; None: anywhere."""
    keep_out: tuple[KeepOut, ...] = ()
    never: Nevers = ()


POSTURES = 3
"""How many postures to try a transit for."""
SLOW_LINE_S = 1.5
"""Straight parts that take longer justify trying another posture [s]."""
FINGER_SHIFT_M = 0.02
"""Largest change of the width between two checks of a way: each finger is thicker than the half
of it [m]."""
_SAMPLE_S = 0.02
_ROUNDINGS = ((True, 1.0), (False, 1.0), (False, 0.5))
"""How a corner is rounded, in the order of what it saves: with the transit hastened or as it is,
and the share of the longest overlap that leaves `STRAIGHT_M`."""
STRAIGHT_M = 0.04
"""The last part of a way down, on which a blend changes nothing [m]."""
ESCAPE_M = 0.1
"""How far to rise first where the arm starts in contact with something [m]."""


@dataclass(frozen=True, slots=True)
class Line:
    """The straight way down to a grip, and up again."""

    path: Array
    """Joint positions on the way down, evenly spaced, shape (n, 7) [rad]."""
    descent: JointTrajectory
    ascent: JointTrajectory

    @property
    def duration_s(self) -> float:
        return self.descent.duration_s + self.ascent.duration_s


@dataclass(frozen=True, slots=True)
class GraspPlan:
    """Everything that is needed to come down on a grip and rise again."""

    grip: Grip
    transit: JointTrajectory
    line: Line
    """Of no length where hover and grip are one."""
    approach: JointTrajectory | None = None
    """Transit and descent in one, without a stop above the grip; the last `STRAIGHT_M` are those
    of the descent, and the fingers may move to the grip's opening before. None where every such
    way touches something."""
    leaves_s: float = 0.0
    """Up to then the approach is the transit, where something is in the hand [s]."""
    opens_clear: bool = False
    """Whether the transit is known to touch nothing at the grip's opening either."""

    @property
    def duration_s(self) -> float:
        return self.transit.duration_s + self.line.duration_s


class GraspPlanner:
    """Keeps one collision model and answers which way to go."""

    def __init__(self, robot: RobotModel, params: GraspPlannerParams | None = None) -> None:
        self.robot = robot
        self.params = params or GraspPlannerParams()
        self._tcp_speed_m_s = min(self.params.tcp_speed_m_s, robot.tool.speed_m_s)
        self._checker = CollisionChecker(robot)
        self._holding = False
        self._width_m = robot.hand.max_width_m
        self._points_m = np.zeros((1, 3))
        """What stays in the workspace, in the frame of the tool: it, and corners of the object."""

    def update(self, scene: Scene, hand: Hand) -> None:
        """Set the objects, the grasped one and the opening of the fingers."""
        held = None if scene.held is None else held_by(scene.object(scene.held), hand)
        self._holding, self._width_m = held is not None, hand.width_m
        self._points_m = np.zeros((1, 3))
        if scene.held is not None and held is not None:
            size_m = obstacle_from_object(scene.object(scene.held)).size_m
            self._points_m = np.vstack([self._points_m, corners(size_m, held.T_tcp_object)])
        boxes = (box.obstacle for box in self.params.keep_out)
        bodies = forbidden_bodies(self.params.never, scene)
        obstacles = (*obstacles_from_scene(scene), *bodies, *boxes)
        self._checker.update(obstacles, held, width_m=hand.width_m)

    def above(self, motion: MoveAbove, q_now: Array) -> GraspPlan:
        """Choose a grip and plan all motions for it; raises SkillError as a rejection."""
        problem: NoPathError | None = None
        for grips in _by_room(motion.grips):
            try:
                way = self._way(motion, grips, q_now)
                return self._without_stop(way) if motion.hover_m > 0.0 else way
            except NoPathError as error:
                problem = problem or error
        raise self._failure(motion, problem, q_now)

    def is_clear_opening(self, way: JointTrajectory, width_m: float) -> bool:
        """Return whether the fingers may move to another width anywhere on a way [m]."""
        widths_m = self._widths_to(width_m)[1:]  # the way is clear at the first
        return self._is_clear(
            spline_of(way).positions_at(_evenly_timed(0.0, way.duration_s)), widths_m
        )

    def shifted(self, way: GraspPlan, shift_m: Point) -> GraspPlan:
        """Come down beside the grip by a shift in the world frame [m]; raises NoPathError."""
        x, y, z = (way.grip.position_m[axis] + shift_m[axis] for axis in range(3))
        pose = top_down((x, y, z), way.grip.yaw_rad)
        return replace(way, line=self._line(line_path(self.robot, way.line.path[0], pose)))

    def amended(self, way: GraspPlan, shift_m: Point) -> GraspPlan:
        """
        Come down beside the grip by a small shift along the tool's axes [m], without a stop.

        The approach stays what it is up to `leaves_s`, and its last `STRAIGHT_M` straight.

        Raises:
            NoPathError: That is not within the limits.
        """
        assert way.approach is not None  # which is what there is to amend
        q_end = way.line.path[-1]
        turned = posture_beside(self.robot, q_end, shift_m) - q_end
        descent = way.line.descent
        left_s = descent.duration_s - time_before_end(self.robot, descent, STRAIGHT_M)
        whole = amended(way.approach, turned, way.leaves_s, way.approach.duration_s - left_s)
        if excess(self.robot, whole) > 1.0:
            raise NoPathError('The correction takes more than the joints may do.')
        path = way.line.path + np.linspace(0.0, 1.0, len(way.line.path))[:, None] * turned
        return replace(way, line=self._line(path), approach=whole)

    def to_base(self, q_now: Array) -> JointTrajectory:
        """Plan the way back to the ready posture; raises SkillError as a rejection."""
        try:
            return self._transit(q_now, self.robot.home_rad)
        except NoPathError as error:
            activity, where = 'moving back to base', 'back to the base posture'
            raise _no_path(error, activity, where) from error

    def glide(self, glide: Glide, q_now: Array, width_m: float, held: str = '') -> JointTrajectory:
        """
        Plan a straight motion of the tool with the fingers so far open [m].

        *held* is what they will have closed on by then.

        Raises:
            SkillError: As a rejection, where the arm cannot follow it or something is in its way.
        """
        T_goal = self.robot.kinematics.forward(q_now)
        T_goal[:3, 3] += glide.shift_m
        T_goal[:3, :3] = (
            Rotation.from_rotvec((0.0, 0.0, glide.turn_rad)).as_matrix() @ T_goal[:3, :3]
        )
        speed_m_s = min(self.params.line_speed_m_s, glide.most_m_s)
        try:
            path = line_path(self.robot, q_now, T_goal)
            self._checker.open_to(width_m)
            contact = self._checker.path_clear(path, glide.touching, clearance_m=DESCENT_GAP_M)
            if contact is not None:
                raise _blocked(f'{contact} are in the way', [contact])
            return self._within_speed(
                path_move(self.robot, path, scale=self.params.scale, speed_m_s=speed_m_s)
            )
        except NoPathError as problem:
            if not problem.blockers:
                raise unglided(glide, str(problem)) from problem
            failed = _no_path(problem, glide.activity, f'for {glide.activity}')
            if problem.blockers == (held,):
                why = f'it is in the hand then, and has to be in touching=({held!r},) of the Glide'
                failed.args = (f'{str(failed).rstrip(".")}: {why}.',)
            raise failed from problem
        finally:
            self._checker.open_to(self._width_m)

    def straight_up(self, q_now: Array, rise_m: float) -> JointTrajectory:
        """Plan a rise of the tool without regard to contacts; for getting out of trouble."""
        return self.line_along(rising_path(self.robot, q_now, rise_m))

    def _way(self, motion: MoveAbove, grips: Sequence[Grip], q_now: Array) -> GraspPlan:
        """Take the best posture, or where that is slow or blocked, the quickest of a few."""
        problem: NoPathError | None = None
        ways: list[GraspPlan] = []
        for count in (1, POSTURES):
            for approach in self._postures(motion, grips, q_now, count):
                try:
                    ways.append(self._way_by(approach, grips[approach.index], q_now))
                except NoPathError as error:
                    problem = problem or error
            if ways and ways[0].line.duration_s <= SLOW_LINE_S:
                return ways[0]
        if not ways:
            raise problem or NoPathError('no posture is left')
        return min(ways, key=lambda way: way.duration_s)

    def _postures(
        self, motion: MoveAbove, grips: Sequence[Grip], q_now: Array, count: int
    ) -> list[Approach]:
        approaches = choose_grasp_configuration(
            self.robot,
            [top_down(grip.position_m, grip.yaw_rad) for grip in grips],
            q_now,
            hover_m=motion.hover_m,
            checker=self._checker,
            ignore=motion.touching,
            # What holds something comes down as it is; else the hand opens above the grip.
            widths_m=None if self._holding else [grip.opening_m for grip in grips],
            transit_width_m=self._width_m,
            count=count,
        )
        self._checker.open_to(self._width_m)
        return approaches

    def _way_by(self, approach: Approach, grip: Grip, q_now: Array) -> GraspPlan:
        transit = self._transit(q_now, approach.path[0], is_clear=approach.as_it_is)
        line = self._line(approach.path)
        return GraspPlan(grip, transit, line, opens_clear=approach.as_it_is)

    def _without_stop(self, way: GraspPlan) -> GraspPlan:
        """Round the corner above the grip as far as nothing is touched, if it can be."""
        transit, descent, scale = way.transit, way.line.descent, self.params.scale
        longest_s = time_before_end(self.robot, descent, STRAIGHT_M)
        # What holds something opens at the grip, and decides on the way whether to go on to it.
        holds = self._holding
        widths_m = self._widths_to(self._width_m if holds else way.grip.opening_m)
        # At the known widths the transit is clear; at the others, where the fingers open on the
        # way, they do so on all of it.
        known = np.isin(widths_m, widths_m[[0, -1]] if way.opens_clear else widths_m[:1])
        known_m, others_m = widths_m[known], widths_m[~known]
        for hasten, share in _ROUNDINGS:
            early, joined, saved_s = hastened_blend(
                self.robot,
                transit,
                descent,
                scale=scale,
                longest_s=share * longest_s,
                hasten=hasten,
            )
            if saved_s == 0.0:
                continue
            whole = _evenly_timed(0.0, transit.duration_s)
            ending = whole[whole > transit.duration_s - saved_s - _SAMPLE_S]
            changed = ending if early is transit else whole
            bent, before = map(spline_of(joined).positions_at, (changed, whole))
            if not self._is_clear(bent, known_m) or not self._is_clear(before, others_m):
                continue
            approach, stays = self._swept(joined)
            if not stays:
                continue
            if not holds:
                return replace(way, approach=approach)
            # Without an amendment, what is hastened ends above the place.
            stopping = early is transit or self._is_clear(
                spline_of(early).positions_at(ending), known_m
            )
            if approach is joined and stopping:
                leaves_s = transit.duration_s - saved_s
                return replace(way, transit=early, approach=joined, leaves_s=leaves_s)
        return way

    def _widths_to(self, width_m: float) -> Array:
        """Return finger distances from now to another that leave no gap, shape (n,) [m]."""
        count = 1 + math.ceil(abs(width_m - self._width_m) / FINGER_SHIFT_M)
        return np.linspace(self._width_m, width_m, count)

    def _is_clear(self, path: Array, widths_m: Array) -> bool:
        """Return whether a path, shape (n, 7) [rad], touches nothing at any finger distance."""
        try:
            for first_m, second_m in zip_longest(widths_m[::2].tolist(), widths_m[1::2].tolist()):
                self._checker.open_to(first_m)
                if second_m is None:
                    is_clear = self._checker.path_clear(path) is None
                else:
                    is_clear = self._checker.is_clear_at_both(path, second_m)
                if not is_clear:
                    return False
            return True
        finally:
            self._checker.open_to(self._width_m)

    def _line(self, path: Array) -> Line:
        descent = self.line_along(path)
        return Line(path, descent, backwards(self.robot, descent, scale=self.params.scale))

    def line_along(self, path: Array) -> JointTrajectory:
        """Return the motion along what `line_path` found, shape (n, 7) [rad]."""
        params = self.params
        line = path_move(self.robot, path, scale=params.scale, speed_m_s=params.line_speed_m_s)
        # The tool is slow enough; near singularities a joint may be fast nevertheless.
        return line if params.joint_share >= 1.0 else self._within_speed(line)

    def _within_speed(self, move: JointTrajectory) -> JointTrajectory:
        """Slow a motion down on which the tool or a joint would be too fast."""
        return self._swept(move)[0]

    def _swept(self, move: JointTrajectory) -> tuple[JointTrajectory, bool]:
        """Return a motion that is slow enough, and whether it stays in the workspace."""
        stays: bool | None = None
        for _ in range(_SLOWINGS):  # as a slower motion is looked at in other places
            way = sweep(self.robot, move)
            stays = self._stays_within(way.frames) if stays is None else stays
            factor = max(
                float(way.tcp_speed_m_s.max()) / self._tcp_speed_m_s,
                float(way.joint_share.max()) / self.params.joint_share,
            )
            if factor <= 1.0:
                break
            move = slowed(move, factor / _SAFE)
        return move, bool(stays)

    def _transit(self, q_now: Array, q_goal: Array, *, is_clear: bool = False) -> JointTrajectory:
        """Plan a free way; *is_clear* is whether the straight one is known to be one."""
        scale = self.params.scale
        way = joint_move(self.robot, q_now, q_goal, scale=scale) if is_clear else None
        move, stays = self._swept(way or self._free_way(q_now, q_goal))
        if stays:
            return move
        frames = self.robot.kinematics.link_frames
        self._checker.within = lambda path: broken_at(self._beyond_m(frames(path))) is None
        try:
            return self._within_speed(self._free_way(q_now, q_goal))
        finally:
            self._checker.within = None

    def _stays_within(self, frames: Array) -> bool:
        """
        Return whether a motion stays in the workspace, as the guard judges, or ends outside.

        There the guard refuses it, with its numbers.
        """
        if self.params.workspace is None:
            return True
        depth_m = self._beyond_m(frames)
        return broken_at(depth_m) is None or broken_at(depth_m[[0, -1]]) is not None

    def _beyond_m(self, frames: Array) -> Array:
        """Return how far beyond the workspace frames are, (n, 10, 4, 4), shape (n,) [m]."""
        box, tcp = self.params.workspace, frames[:, TCP]
        assert box is not None  # the caller looked
        points = self._points_m @ tcp[:, :3, :3].swapaxes(1, 2) + tcp[:, None, :3, 3]
        excess_m = beyond(points, np.array(box.min_m), np.array(box.max_m))
        return np.asarray(excess_m.max(axis=(1, 2)))

    def _free_way(self, q_now: Array, q_goal: Array) -> JointTrajectory:
        scale = self.params.scale
        if not self._checker.clear(q_now):
            return plan_transit(q_now, q_goal, self._checker, scale=scale)
        # Something touches already, as after a failed grasp: rise straight out of it first.
        rise = self.straight_up(q_now, ESCAPE_M)
        return concatenate(
            rise, plan_transit(rise.position_rad[-1], q_goal, self._checker, scale=scale)
        )

    def _failure(self, motion: MoveAbove, problem: NoPathError | None, q_now: Array) -> SkillError:
        if any(
            reachable_top_down(
                self.robot, grip.position_m, (grip.yaw_rad,), hover_m=motion.hover_m
            )
            for grip in motion.grips
        ):
            failed = _no_path(problem, f'going to {motion.target}', f'to {motion.target}')
            if failed.code is Code.NO_PATH and (higher := self._free_above(motion, q_now)):
                failed.args = (f'{str(failed).rstrip(".")}; {higher} would do.',)
            return failed
        return out_of_reach(motion.target, str(problem or ''))

    def _free_above(self, motion: MoveAbove, q_now: Array) -> str:
        """Return the lowest pose above that a reach can go to, `the pose 0.5 0 0.12`, or ''."""
        for rise_m in _HIGHER_M if motion.hover_m == 0.0 else ():
            x, y, z = motion.grips[0].position_m
            higher = x, y, math.ceil((z + rise_m) * 100 - 1e-6) / 100
            grips = [replace(grip, position_m=higher) for grip in motion.grips]
            try:
                approach = self._postures(motion, grips, q_now, 1)[0]
            except NoPathError:
                continue  # something is there too
            with suppress(NoPathError):
                self._way_by(approach, grips[approach.index], q_now)
                return f'the pose {" ".join(f"{value:.4g}" for value in higher)}'
            return ''
        return ''


def _evenly_timed(start_s: float, end_s: float) -> Array:
    return np.linspace(start_s, end_s, 2 + math.ceil((end_s - start_s) / _SAMPLE_S))


def _by_room(grips: Sequence[Grip]) -> list[list[Grip]]:
    enough = max(grip.side_room_m for grip in grips) - 0.004
    roomy = [grip for grip in grips if grip.side_room_m >= enough]
    tight = [grip for grip in grips if grip.side_room_m < enough]
    return [group for group in (roomy, tight) if group]


def _no_path(problem: NoPathError | None, activity: str, where: str) -> SkillError:
    """Return that there is no way, or none but through what the arm is kept out of."""
    blockers = () if problem is None else problem.blockers
    code = Code.NO_PATH
    if WORKSPACE in blockers:
        why = 'every way that was tried leads out of it; a target further in would do'
        code, message = Code.UNSAFE, refusal(SafetyRule.WORKSPACE, activity, why)
    elif boxes := kept_out(blockers):
        why = (
            f'every way that was tried leads through {listed(boxes)}; a target further from it '
            'would do'
        )
        code, message = Code.UNSAFE, refusal(SafetyRule.KEEP_OUT, activity, why)
    elif constraints := forbidden_by(blockers):
        why = 'every way that was tried comes too near to it; a target further from it would do'
        code, message = Code.UNSAFE, constraint_refusal(constraints[0], activity, why)
    elif blockers:
        verb = 'is' if len(blockers) == 1 else 'are'
        message = f'no free way {where} was found: {listed(blockers)} {verb} in the way.'
    else:
        message = f'no free way {where} was found: the arm cannot bend that way.'
    return SkillError(code, message, str(problem or ''), moved=False)
