"""Execution of one call: motions become goals of the arm, failures become messages."""

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from bbllm.arm.driver import Amendment, Array, FingerMove, GripperResult, JointTrajectory
from bbllm.arm.execution.plan_ahead import AheadPlanner, Forecast, PlannedWay, above, forecast
from bbllm.arm.execution.trajectory_executor import GRIPPER_SPEED_M_S, TrajectoryExecutor
from bbllm.arm.failures import (
    HELD_BACK_CODES,
    LateHandError,
    SkillError,
    StuckError,
    let_go,
    misplaced,
    missed_grasp,
    unfelt,
    unheld,
    unlifted,
    untouched,
)
from bbllm.arm.force_estimator import SilentForceError
from bbllm.arm.motion.lifting import LiftParams, gentle_move, parted
from bbllm.arm.motion.motion_planner import GraspPlan, GraspPlanner, GraspPlannerParams, Line
from bbllm.arm.motion.trajectory import NoPathError
from bbllm.core.errors import SceneError
from bbllm.core.skill_calls import CallError, check_call
from bbllm.core.types import Code, Outcome, Scene, SkillCall, Status
from bbllm.skills.grasps import MAX_WIDTH_M, in_tool_frame, in_world_axes
from bbllm.skills.motions import (
    GRIP_FORCE_N,
    WIDTH_WINDOW_M,
    Motions,
    MoveAbove,
    Pick,
    Place,
    plan_motions,
)
from bbllm.skills.rejection import Rejection
from bbllm.skills.risk import moves

LEAST_SLIP_M = 0.0002
MOST_SLIP_M = 0.01
"""Range of a slip that the descent compensates: less is noise, more is another failure [m]."""
MOST_AMENDED_M = 0.003
"""Largest slip that is compensated without a stop above the place [m]."""
AMEND_S = 0.04
"""How long the amendment of a motion may take, from the look at the scene until it is in force
[s]."""
RELEASE_M = 0.004
"""What each finger leaves between it and what it lets go of, where there is room: twice what it
leaves where there is little [m]."""
RETREAT_M = 0.08
TOO_MUCH_CODES = frozenset({Code.REFLEX, Code.CONTROLLER_ABORTED})
"""Failures of a lift after which the arm stays: with its load it would fail again, and whether the
load is fixed and must be released is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorParams:
    """How to move and lift."""

    ways: GraspPlannerParams = field(default_factory=GraspPlannerParams)
    lift: LiftParams = field(default_factory=LiftParams)
    looks_beside: bool = False
    """Whether the scene can be observed by another thread while the arm moves."""
    grip_offset_m: float = 0.0
    """How far from the middle of an object the hand takes it, along the tool's x axis [m]."""


SAME_WIDTH_M = 0.001
"""Openings of the hand nearer to each other than this are the same [m]."""
PLACED_M = 0.01
"""An object that rests further than this from its target is misplaced [m]."""
FINGERS_LATE_S = 0.3
"""How much earlier than due the fingers must be expected at their opening: what the hand takes to
start, to come to rest and to report it [s]."""
SETTLE_S = 0.3
"""How long an object may settle from its release until it is observed; the arm rises in the
meantime, which takes longer [s]."""


class SkillRun:
    """The execution of one call."""

    def __init__(
        self,
        call: SkillCall,
        observe: Callable[[], Scene],
        executor: TrajectoryExecutor,
        planner: GraspPlanner,
        params: ExecutorParams,
        ahead: AheadPlanner | None = None,
    ) -> None:
        """Prepare one call; what was planned for it is with *ahead*, as what is to be planned."""
        self._call, self._observe, self._params = call, observe, params
        self._executor, self._planner, self._ahead = executor, planner, ahead
        self._carried: str | None = None
        self._target = ''
        self._opening_m: float | None = None
        """Of the grip that was chosen [m]."""
        self._touched = self._lifting = False
        self._held_at: tuple[float, float, float] = (0.0, 0.0, 0.0)
        self._scene: Scene | None = None
        self._motions: Motions | None = None

    def outcome(self) -> Outcome:
        try:
            motions = self._prepare(self._observed())
            if self._carried and self._executor.grip_interrupted and moves(self._call):
                self._grip_again(self._carried)
            self._do(motions)
        except CallError as error:
            return error.outcome
        except SkillError as failure:
            told = self._get_out(failure)
            failed = told.outcome(self._call)
            return failed if self._touched else replace(failed, status=untouched(told))
        return Outcome(call=self._call, status=Status.SUCCEEDED)

    def _prepare(self, scene: Scene) -> Motions:
        self._call = check_call(self._call, scene)
        hand = self._executor.hand()
        motions = plan_motions(self._call, scene, hand)
        guard = self._executor.guard
        if guard is not None:
            guard.update(scene, hand)
            guard.check_call(self._call, scene, motions)
        if isinstance(motions, Rejection):
            raise SkillError(motions.code, motions.message, moved=False)
        self._planner.update(scene, hand)
        if guard is not None and self._call.skill in ('pick', 'close_gripper'):
            guard.check_grip(GRIP_FORCE_N, f'{self._call}')
        self._carried, self._motions = scene.held, motions
        if scene.held is not None:
            self._held_at = self._in_hand(scene, scene.held)
        return motions

    def _observed(self) -> Scene:
        self._executor.ready('looking at the scene')
        try:
            self._scene = self._observe()
            return self._scene
        except SceneError as error:
            if self._executor.ready('looking at the scene'):
                return self._observed()  # it had stopped just now, and shows itself again
            empty = 'scene is empty' in str(error)
            code = Code.EMPTY_SCENE if empty else Code.STALE_SCENE
            raise SkillError(code, str(error), moved=self._touched) from error

    def _do(self, motions: Motions) -> None:
        match motions:
            case Pick():
                self._pick(motions)
            case Place():
                self._place(motions)
            case MoveAbove():
                self._move_above(motions)
            case 'return_to_base':
                self._move_to_base()
            case 'open_gripper':
                self._open(MAX_WIDTH_M)
            case 'close_gripper':
                self._close()
            case 'wait':
                duration_s = float(self._call.args[0])
                self._executor.report(f'waiting {duration_s:g} s')
                self._executor.wait(duration_s, 'waiting')

    def _pick(self, pick: Pick) -> None:
        way, is_down = self._move_above(pick, through=True)
        if not is_down:
            if not self._is_open_to(way.grip.opening_m):
                self._open(way.grip.opening_m)
            self._executor.follow(way.line.descent, self._lowering())
        self._close_on(pick)
        left = self._lift_off(pick.name, way.line)
        self._foresee(left, changed=True)
        self._rise(left)
        if self._observed().held != pick.name:
            self._carried = None
            raise unheld(pick.name, self._executor.hand().width_m)

    def _place(self, place: Place) -> None:
        way, is_down = self._move_above(place, through=True)
        if not is_down:
            way = self._without_slip(place.name, way)
            self._executor.follow(way.line.descent, self._lowering())
        grip = way.grip
        self._open(grip.opening_m - 2 * max(grip.side_room_m - RELEASE_M, 0.0))
        settled_s = self._executor.driver.now_s() + SETTLE_S
        self._foresee(way.line.ascent, changed=True)
        self._rise(way.line.ascent)
        left_s = max(0.0, settled_s - self._executor.driver.now_s())
        self._executor.wait(left_s, f'looking where {place.name} came to rest')
        failure = misplaced(self._observed(), place.name, place.target, PLACED_M)
        if failure is not None:
            raise failure

    def _lift_off(self, name: str, line: Line) -> JointTrajectory:
        """
        Lift what is gripped a little, to see whether it comes along; returns the rest of the way.

        Without a reported force there is nothing to measure, and all of the way up is left.

        Raises:
            SkillError: WOULD_NOT_RISE, or TIMEOUT where the force is no longer reported, with the
                object still gripped; or the arm failed otherwise, or was stopped.
        """
        self._lifting, params, robot = True, self._params.lift, self._planner.robot
        before_n = self._felt(name)
        if before_n is None:
            return line.ascent
        up, rise_m = line.path[::-1], params.rise_m(robot, line.path[-1])
        first, rest = parted(robot, up, rise_m)
        left = self._planner.line_along(rest)
        if not self._lift_a_little(name, gentle_move(robot, first), before_n):
            first, rest = parted(robot, up, rise_m, self._executor.q_start())
            left = self._planner.line_along(rest)
            before_n = self._felt(name, reported=True)
            assert before_n is not None  # it is reported
            if not self._lift_a_little(name, gentle_move(robot, first), before_n):
                raise unlifted(name, params.cap_n)
        return left

    def _lift_a_little(self, name: str, first: JointTrajectory, before_n: float) -> bool:
        """
        Lift a little; returns whether that was enough to see that the object comes along.

        It is not where the force changed, but only to where nothing pulls at the hand: then the
        lift has let go of what closing pressed. Raises as `_lift_off`.
        """
        executor, params, activity = self._executor, self._params.lift, f'lifting {name}'
        failure, tripped = None, False

        def too_heavy(now_n: float | None) -> bool:
            nonlocal tripped
            tripped = tripped or (now_n is not None and abs(now_n - before_n) > params.cap_n)
            return tripped

        try:
            watch = executor.driver.vertical_force_n
            executor.follow(first, activity, stop_condition=lambda: too_heavy(watch()))
        except SkillError as failed:
            executor.check(activity)  # who stops the arm is heard first
            cancelled = failed.code is Code.CANCELLED
            if isinstance(failed, StuckError) or (failed.stopped and not cancelled):
                raise
            failure = failed
        # What does not give may make a motion fail in any way, not only by being cancelled for it.
        now_n = self._felt(name, reported=True)
        if too_heavy(now_n):
            cancelled = failure is None or failure.code is Code.CANCELLED
            if (
                cancelled
                and now_n is not None
                and -params.let_go * params.cap_n < now_n < before_n
            ):
                return False
            raise unlifted(name, params.cap_n, '' if failure is None else failure.raw)
        if failure is not None:
            raise failure
        return True

    def _felt(self, name: str, *, reported: bool = False) -> float | None:
        """Read the force at rest; once more where the robot was silent because it had stopped."""
        again = False
        while True:
            try:
                force_n = self._executor.driver.vertical_force_n(settled=True)
                if force_n is None and reported:
                    raise SilentForceError('it is not told any more.')
                return force_n
            except SilentForceError as silence:
                if again or not self._executor.ready(f'lifting {name}'):
                    raise unfelt(name, str(silence)) from silence
                again = True

    def _move_to_base(self) -> None:
        q_start = self._executor.q_start()
        planned = self._planned_ahead(q_start)
        trajectory = None if planned is None else planned.way
        if not isinstance(trajectory, JointTrajectory):
            trajectory = self._planner.to_base(q_start)
        self._executor.check_ahead(trajectory, 'moving back to base')
        self._touched = True
        self._foresee(trajectory)
        self._executor.follow(trajectory, 'moving back to base')
        self._check_carried('on the way back to base')

    def _move_above(
        self, motions: Pick | Place | MoveAbove, *, through: bool = False
    ) -> tuple[GraspPlan, bool]:
        """
        Move above the target, and with *through* on to the grip where that takes no stop.

        With something in the hand that is decided on the way. Returns the way, and whether the
        hand is at the grip.
        """
        executor = self._executor
        motion = above(motions, self._params.grip_offset_m)
        self._target = motion.target
        way = self._way_above(motion)
        activity = f'moving above {motion.target}'
        lowers = motion.hover_m > 0.0
        move, opens = self._first_move(way, activity, through) if lowers else (way.transit, False)
        if not opens:
            executor.check_ahead(move, activity)
        if lowers:
            opening_m = self._opening_m = way.grip.opening_m
            if move is way.transit:
                width_m = None if self._carried else opening_m
                executor.check_ahead(way.line.descent, self._lowering(), width_m)
            if self._carried:
                end = way.line.descent.position_rad[-1]
                executor.check_hand(opening_m, self._opening(), at=end)
        self._touched = True
        if motion.hover_m == 0.0:
            self._foresee(way.transit)
        if opens:
            fingers = self._fingers(way, move)
            try:
                executor.follow_opening(move, activity, fingers, self._opening())
            except LateHandError:
                # As on a machine that is busy: now at rest, and on with a stop above the grip.
                self._open(fingers.width_m)
                assert self._scene is not None  # observed before anything was planned
                self._planner.update(self._scene, executor.hand())
                return self._move_above(motions)
        elif through and self._carried is not None and way.approach is not None:
            way, is_down = self._move_down(self._carried, way, activity)
            if is_down:
                return way, True
        else:
            executor.follow(move, activity)
        self._check_carried(f'on the way to {motion.target}')
        return way, move is way.approach

    def _move_down(self, name: str, way: GraspPlan, activity: str) -> tuple[GraspPlan, bool]:
        """
        Move above a place, and on without a stop unless the look on the way is against it.

        Returns the way with the slip compensated, and whether the hand is down.
        """
        assert way.approach is not None  # the caller looked
        down = way

        def make() -> JointTrajectory | None:
            nonlocal down
            try:
                scene = self._observe()
                hand = scene.hand
                if hand is None or scene.held != name:
                    return None  # what was lost is found out at rest
                now = in_tool_frame(scene.object(name).pose.position_m, hand.tcp)
                x, y, z = (was - is_now for was, is_now in zip(self._held_at, now, strict=True))
                if math.hypot(x, y, z) > MOST_AMENDED_M:
                    return None
                down = self._planner.amended(way, (x, y, z))
            except (SceneError, NoPathError):
                return None
            return down.approach

        amendment = Amendment(
            at_s=max(way.leaves_s - AMEND_S, 0.0),
            until_s=way.leaves_s,
            lasts_s=way.approach.duration_s,
            make=make,
        )
        is_down = self._executor.follow_amended(way.transit, activity, amendment, self._lowering())
        return (down if is_down else way), is_down

    def _way_above(self, motion: MoveAbove) -> GraspPlan:
        q_start = self._executor.q_start()
        planned = self._planned_ahead(q_start)
        if planned is None or not isinstance(planned.way, GraspPlan):
            return self._planner.above(motion, q_start)
        # The descent compensates what the forecast was off by, as it does a slip.
        self._held_at = planned.held_at or self._held_at
        return planned.way

    def _planned_ahead(self, q_start: Array) -> PlannedWay | None:
        if self._ahead is None or self._motions is None or self._scene is None:
            return None
        return self._ahead.way(self._motions, self._scene, q_start)

    def _foresee(self, last: JointTrajectory, *, changed: bool = False) -> None:
        """
        Let the next call be planned from where the last motion of this one leads.

        *changed* is whether the hand has gripped or released since the scene was observed.
        """
        if self._ahead is None or not self._ahead.wanted:
            return
        carried, end = self._carried, last.position_rad[-1]

        def state(scene: Scene) -> Forecast | None:
            return forecast(self._planner.robot, scene, end) if scene.held == carried else None

        if changed and self._params.looks_beside:
            self._ahead.foresee(lambda: state(self._observe()))
            return
        try:
            scene = self._observe() if changed or self._scene is None else self._scene
        except SceneError:
            return  # nothing is planned ahead, and the next look tells why
        self._ahead.foresee(lambda: state(scene))

    def _first_move(
        self, way: GraspPlan, activity: str, through: bool
    ) -> tuple[JointTrajectory, bool]:
        """
        Return the first motion of a way, and whether the fingers move to the opening meanwhile.

        Nothing is released on the way. Where an object or a box is beside it, the hand opens above
        the grip, at rest.
        """
        opening_m, approach = way.grip.opening_m, way.approach if through else None
        if self._carried is not None:
            return way.transit, False
        if self._is_open_to(opening_m):
            return approach or way.transit, False
        if approach is not None:
            fingers = self._fingers(way, approach)
            takes_s = abs(self._executor.hand().width_m - opening_m) / fingers.speed_m_s
            in_time = takes_s + FINGERS_LATE_S < fingers.due_s
            if in_time and self._is_allowed_opening(approach, opening_m, activity):
                return approach, True
        clear = self._planner.is_clear_opening(way.transit, opening_m)
        return way.transit, clear and self._is_allowed_opening(way.transit, opening_m, activity)

    def _fingers(self, way: GraspPlan, move: JointTrajectory) -> FingerMove:
        """Return how the fingers open on a motion: before it comes down, if it does."""
        on_s = move.duration_s - way.line.descent.duration_s
        due_s = on_s if move is way.approach else math.inf
        return FingerMove(width_m=way.grip.opening_m, speed_m_s=GRIPPER_SPEED_M_S, due_s=due_s)

    def _is_allowed_opening(self, move: JointTrajectory, opening_m: float, activity: str) -> bool:
        try:
            self._executor.check_ahead(move, activity, opening_m=opening_m)
        except SkillError:
            return False  # the way as it is is judged next
        return True

    def _is_open_to(self, width_m: float) -> bool:
        return abs(self._executor.hand().width_m - width_m) < SAME_WIDTH_M

    def _lowering(self) -> str:
        what = f'{self._carried} onto {self._target}' if self._carried else 'the hand'
        return f'lowering {what}'

    def _without_slip(self, name: str, way: GraspPlan) -> GraspPlan:
        """Shift the descent by as much as the grasped object has slipped on the way."""
        assert self._scene is not None  # looked at since the arm came to rest here
        now = self._in_hand(self._scene, name)
        x, y, z = (was - is_now for was, is_now in zip(self._held_at, now, strict=True))
        if not LEAST_SLIP_M < math.hypot(x, y, z) < MOST_SLIP_M:
            return way
        shift_m = in_world_axes((x, y, z), self._executor.hand().tcp)
        # Without another line, the way as it was planned is good to a few millimetres.
        with contextlib.suppress(NoPathError):
            return self._planner.shifted(way, shift_m)
        return way

    def _in_hand(self, scene: Scene, name: str) -> tuple[float, float, float]:
        """Return where the centre of an object is in the frame of the TCP [m]."""
        return in_tool_frame(scene.object(name).pose.position_m, self._executor.hand().tcp)

    def _rise(self, ascent: JointTrajectory) -> None:
        self._lifting = True
        self._executor.follow(ascent, f'lifting {self._carried or "the hand"}')
        self._lifting = False

    def _open(self, width_m: float) -> None:
        self._executor.check_hand(width_m, self._opening())
        self._touched = True
        self._executor.open_to(width_m, self._opening())
        self._carried = None
        self._executor.carry(None)

    def _opening(self) -> str:
        released = f' to let go of {self._carried}' if self._carried else ''
        return f'opening the hand{released}'

    def _close_on(self, pick: Pick) -> None:
        activity = f'closing the hand on {pick.name}'
        result = self._grasp(
            pick.width_m - WIDTH_WINDOW_M, pick.widest_m + WIDTH_WINDOW_M, activity
        )
        if not result.success:
            raise missed_grasp(pick.name, pick.width_m, result)
        self._carried = pick.name
        self._executor.carry(pick.name)

    def _grip_again(self, name: str) -> None:
        """Close on what a stop may have left loose."""
        self._touched = True
        width, activity = self._executor.hand().width_m, f'closing the hand on {name} again'
        result = self._grasp(width - 2 * WIDTH_WINDOW_M, width + WIDTH_WINDOW_M, activity)
        if not result.success:
            raise missed_grasp(name, width, result)

    def _grasp(self, least_m: float, most_m: float, activity: str) -> GripperResult:
        """
        Close on what is between two widths wide.

        The goal's width is less than that of the hand: asked for more, a hand opens and presses
        outwards, as does one that came down between neighbours half open.
        """
        width = self._executor.hand().width_m - WIDTH_WINDOW_M
        asked = max(0.0, min((least_m + most_m) / 2, width))
        inner, outer = max(0.0, asked - least_m), most_m - asked
        return self._executor.grasp(asked, GRIP_FORCE_N, inner, outer, activity)

    def _close(self) -> None:
        self._executor.check_hand(0.0, 'closing the hand')
        self._touched = True
        # The window is wide open: closing on something is as good as closing on nothing.
        result = self._executor.grasp(0.0, GRIP_FORCE_N, 0.08, 0.08, 'closing the hand')
        if not result.success:
            apart = f'the fingers ended {result.width_m * 100:.1f} cm apart'
            raise SkillError(Code.GRASP_FAILED, f'closing the hand failed: {apart}.')

    def _check_carried(self, where: str) -> None:
        if self._carried is not None and self._observed().held != self._carried:
            lost, self._carried = self._carried, None
            raise SkillError(Code.OBJECT_LOST, f'{lost} was lost {where}.')

    def _get_out(self, failure: SkillError) -> SkillError:
        """Raise the arm where it may still move, after releasing what may be fixed."""
        executor, lifts = self._executor, self._lifting and self._carried is not None
        too_much = lifts and failure.code in TOO_MUCH_CODES
        may_move = failure.may_back_off and not isinstance(failure, StuckError)
        if not self._touched or not may_move or too_much:
            return failure
        held_back = lifts and failure.code in HELD_BACK_CODES
        try:
            if failure.code is Code.GRASP_FAILED and self._opening_m is not None:
                executor.open_to(self._opening_m, 'opening the hand again')
            if self._opening_m is not None and (failure.lets_go or held_back):
                self._open(self._opening_m)
                failure = let_go(failure)
            rise = self._planner.straight_up(executor.q_start(), RETREAT_M)
            executor.follow(rise, 'rising out of the way')
        except (SkillError, NoPathError):
            pass  # the first failure is the one that tells what went wrong
        return failure
