"""
Plan the way of the next call while the arm moves.

Before the last motion of a call the state that it leads to is known: where the arm ends, what is
in the hand and how, and where all else lies. From that state the call that is expected next is
planned in a thread. Its way is used only where the arm starts from exactly there, and what is
observed then asks for the same motion among the same obstacles; otherwise the way is planned anew.
Nothing moves for it, and every check of a call and of a motion is made at its turn.
"""

import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as LateError
from dataclasses import dataclass, replace

import numpy as np

from bbllm.arm.driver import Array, JointTrajectory
from bbllm.arm.motion.motion_planner import GraspPlan, GraspPlanner, GraspPlannerParams
from bbllm.arm.obstacles import Held, held_by, matrix_from_pose, obstacles_from_scene
from bbllm.core.errors import BbllmError
from bbllm.core.skill_calls import check_call
from bbllm.core.types import Scene, SkillCall
from bbllm.robots.kinematics import pose_of_matrix
from bbllm.robots.robot_model import RobotModel
from bbllm.skills.grasps import Grip, Hand, in_tool_frame, shifted
from bbllm.skills.motions import plan_motion
from bbllm.skills.rejection import Rejection
from bbllm.skills.segments import Motion, MoveAbove, ToBase
from bbllm.skills.shapes import Vector

START_RAD = 1e-6
"""A way begins at most this far from where the arm was commanded to, for rounding [rad]."""
SAME_M = 2e-4
"""Grips, and places in the hand, nearer to each other than this are the same: less is noise, and
a slip that the descent does not compensate either [m]."""
SAME_RAD = 2e-3
"""Turns by less than this are the same: a tenth of a millimetre at the rim of what is grasped."""
SAME_PLACE_M = 5e-4
"""Obstacles that have moved by less are where they were: half of the least clearance [m]."""
PATIENCE_S = 10.0
"""How long a way that is still being planned is waited for, wall clock [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What the next call finds where the present one succeeds."""

    scene: Scene
    hand: Hand
    position_rad: Array
    """Where the arm ends, shape (7,) [rad]."""


StateAfter = Callable[[], Forecast | None]
"""Returns the state after a motion; None where that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedWay:
    """A way, and what it was planned from."""

    forecast: Forecast
    motion: Motion
    way: GraspPlan | JointTrajectory

    @property
    def held_at(self) -> Vector | None:
        """Where what is in the hand was assumed, in the frame of the TCP [m]."""
        scene, hand = self.forecast.scene, self.forecast.hand
        if scene.held is None:
            return None
        return in_tool_frame(scene.object(scene.held).pose.position_m, hand.tcp)


def forecast(robot: RobotModel, scene: Scene, position_rad: Array) -> Forecast | None:
    """
    Carry what is in the hand from where it was observed to joint positions, shape (7,) [rad].

    None where the scene does not show the hand.
    """
    seen = scene.hand
    if seen is None:
        return None
    hand = robot.hand_at(position_rad, seen.width_m)
    there = replace(seen, tcp=hand.tcp)
    if scene.held is not None:
        item = scene.object(scene.held)
        held = held_by(item, Hand(tcp=seen.tcp, width_m=seen.width_m))
        T = matrix_from_pose(hand.tcp) @ held.T_tcp_object
        moved = replace(item, pose=pose_of_matrix(T))
        objects = tuple(moved if each is item else each for each in scene.objects)
        scene = replace(scene, objects=objects)
    return Forecast(scene=replace(scene, hand=there), hand=hand, position_rad=position_rad)


def offset(above: MoveAbove, grip_offset_m: float) -> MoveAbove:
    """Return the way to what is taken beside its middle by so much [m]."""
    if not above.takes:
        return above
    return replace(above, grips=tuple(shifted(grip, grip_offset_m) for grip in above.grips))


class AheadPlanner:
    """
    Plans the way of the expected call, in one thread at a time; see the module.

    `expect` may be called from any thread, the rest from the one that executes calls.
    """

    def __init__(
        self, robot: RobotModel, params: GraspPlannerParams, grip_offset_m: float = 0.0
    ) -> None:
        self._robot = robot
        self._params, self._grip_offset_m = params, grip_offset_m
        self._planner: GraspPlanner | None = None
        self._planning = threading.Lock()
        self._lock = threading.Lock()
        self._expected: tuple[SkillCall, ...] = ()
        self._is_new = self._running = False
        self._state_after: StateAfter | None = None
        self._job: tuple[SkillCall, Future[PlannedWay | None]] | None = None
        self._current: Future[PlannedWay | None] | None = None
        self.wanted = False
        """Whether calls were ever expected; else no state is forecast."""

    def expect(self, calls: Sequence[SkillCall]) -> None:
        """
        Replace what follows the call that runs, or the next one where none does.

        A way that is planned for the next call stays: it is used only where it fits.
        """
        with self._lock:
            self.wanted = self.wanted or bool(calls)
            self._expected = tuple(calls)
            self._is_new = not self._running
            if self._running:
                self._plan_expected()

    def begin(self, call: SkillCall) -> None:
        """Begin a call: what follows it is expected next."""
        with self._lock:
            if not self._is_new:
                follows = self._expected[:1] == (call,)
                self._expected = self._expected[1:] if follows else ()
            self._is_new, self._running, self._state_after = False, True, None
            job, self._job = self._job, None
            self._current = job[1] if job is not None and job[0] == call else None

    def end(self, *, succeeded: bool) -> None:
        """End a call; what was forecast from its success is void where it failed."""
        with self._lock:
            self._running, self._current = False, None
            if not succeeded:
                self._job, self._expected = None, ()

    def foresee(self, state_after: StateAfter) -> None:
        """
        Plan the expected call from the state that the last motion of this one leads to.

        *state_after* is called in the thread that plans.
        """
        with self._lock:
            self._state_after = state_after
            self._plan_expected()

    def way(self, motion: Motion, scene: Scene, position_rad: Array) -> PlannedWay | None:
        """
        Return the way of the call that runs where it was planned from what is so; else None.

        *scene* is observed now, and *position_rad*, shape (7,) [rad], is where the motion starts.
        """
        with self._lock:
            current = self._current
        if current is None:
            return None
        try:
            planned = current.result(PATIENCE_S)
        except LateError:
            return None
        if planned is None or not self._holds(planned, motion, scene, position_rad):
            return None
        return planned

    def _plan_expected(self) -> None:
        """Start to plan, where call and state are known and it is not under way yet."""
        state_after, call = self._state_after, next(iter(self._expected), None)
        if state_after is None or (self._job is not None and self._job[0] == call):
            return
        if call is None:
            self._job = None
            return
        future: Future[PlannedWay | None] = Future()
        self._job = (call, future)
        threading.Thread(
            target=self._plan_into,
            args=(future, call, state_after),
            name='plan-ahead',
            daemon=True,
        ).start()

    def _plan_into(
        self, future: Future[PlannedWay | None], call: SkillCall, state_after: StateAfter
    ) -> None:
        try:
            with self._planning:
                state = state_after()
                future.set_result(None if state is None else self._plan(call, state))
        except BbllmError:
            future.set_result(None)  # planned anew, it fails with its reason
        except BaseException as error:
            future.set_exception(error)

    def _plan(self, call: SkillCall, state: Forecast) -> PlannedWay | None:
        planner = self._planner = self._planner or GraspPlanner(self._robot, self._params)
        motion = plan_motion(check_call(call, state.scene), state.scene, state.hand)
        if isinstance(motion, Rejection) or motion.glides:
            return None
        way: GraspPlan | JointTrajectory
        if motion.above is not None:
            planner.update(state.scene, state.hand)
            way = planner.above(offset(motion.above, self._grip_offset_m), state.position_rad)
        elif isinstance(motion.segments[0], ToBase):
            planner.update(state.scene, state.hand)
            way = planner.to_base(state.position_rad)
        else:
            return None
        return PlannedWay(forecast=state, motion=motion, way=way)

    def _holds(
        self, planned: PlannedWay, motion: Motion, scene: Scene, position_rad: Array
    ) -> bool:
        state = planned.forecast
        off_rad = float(np.abs(position_rad - state.position_rad).max())
        return (
            off_rad <= START_RAD
            and _same_motion(planned.motion, motion)
            and _same_hand(state.scene, scene)
            and _same_obstacles(state.scene, scene)
        )


def _same_motion(one: Motion, other: Motion) -> bool:
    was, now = one.above, other.above
    if was is None or now is None:
        return one == other
    return (
        (was.target, was.touching, len(was.grips)) == (now.target, now.touching, len(now.grips))
        and abs(was.hover_m - now.hover_m) <= SAME_M
        and all(any(_same_grip(grip, like) for like in now.grips) for grip in was.grips)
    )


def _same_grip(one: Grip, other: Grip) -> bool:
    shift_m = np.abs(np.subtract(one.position_m, other.position_m)).max()
    return bool(
        shift_m <= SAME_M
        and abs(math.remainder(one.yaw_rad - other.yaw_rad, math.tau)) <= SAME_RAD
        and abs(one.opening_m - other.opening_m) <= SAME_M
        and abs(one.side_room_m - other.side_room_m) <= SAME_M
    )


def _same_hand(one: Scene, other: Scene) -> bool:
    """Return whether the fingers, and what is in them, are the same."""
    hand, now = one.hand, other.hand
    if hand is None or now is None or one.held != other.held:
        return False
    if abs(hand.width_m - now.width_m) > SAME_PLACE_M:
        return False
    held, holds = _held(one), _held(other)
    return held is None or holds is None or _near(held.T_tcp_object, holds.T_tcp_object, SAME_M)


def _held(scene: Scene) -> Held | None:
    assert scene.hand is not None  # the caller looked
    if scene.held is None:
        return None
    hand = Hand(tcp=scene.hand.tcp, width_m=scene.hand.width_m)
    return held_by(scene.object(scene.held), hand)


def _same_obstacles(one: Scene, other: Scene) -> bool:
    lay, lies = obstacles_from_scene(one), obstacles_from_scene(other)
    if [(each.name, each.shape) for each in lay] != [(each.name, each.shape) for each in lies]:
        return False
    return all(
        np.allclose(was.size_m, now.size_m, rtol=0.0, atol=SAME_M)
        and (
            now.name == other.held or _near(was.T_base_obstacle, now.T_base_obstacle, SAME_PLACE_M)
        )
        for was, now in zip(lay, lies, strict=True)
    )


def _near(one: Array, other: Array, shift_m: float) -> bool:
    off = np.abs(one - other)
    return bool(off[:3, 3].max() <= shift_m and off[:3, :3].max() <= SAME_RAD)
