"""Execution of one call: motions become goals of the arm, failures become messages."""

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from bbllm.arm.driver import Amendment, Array, FingerMove, GripperResult, JointTrajectory
from bbllm.arm.execution.plan_ahead import AheadPlanner, Forecast, PlannedWay, forecast, offset
from bbllm.arm.execution.trajectory_executor import GRIPPER_SPEED_M_S, TrajectoryExecutor
from bbllm.arm.failures import (
    HELD_BACK_CODES,
    LateHandError,
    SkillError,
    StuckError,
    jammed,
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
from bbllm.skills.catalog import moves
from bbllm.skills.grasps import in_tool_frame, in_world_axes
from bbllm.skills.motions import plan_motion
from bbllm.skills.rejection import Rejection
from bbllm.skills.segments import (
    GRIP_FORCE_N,
    WIDTH_WINDOW_M,
    CloseHand,
    CloseOn,
    Glide,
    LetGo,
    Lift,
    Motion,
    MoveAbove,
    OpenHand,
    Rise,
    Segment,
    StandStill,
    ToBase,
)

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
    observes_meanwhile: bool = False
    """Whether the scene can be observed by another thread while the arm moves."""
    grip_offset_m: float = 0.0
    """How far from the middle of an object the hand takes it, along the tool's x axis [m]."""


SAME_WIDTH_M = 0.001
"""Openings of the hand nearer to each other than this are the same [m]."""
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
        self._motion: Motion | None = None
        self._way: GraspPlan | None = None
        """On which the hand came down."""
        self._is_last = False
        """Whether the segment that runs is the last one that moves the arm."""
        self._glided = False
        self._settled_s = 0.0
        """When what was let go or moved rests [s]."""

    def outcome(self) -> Outcome:
        try:
            motion = self._prepare(self._observed())
            if self._carried and self._executor.grip_interrupted and moves(self._call):
                self._grip_again(self._carried)
            self._do(motion)
        except CallError as error:
            return error.outcome
        except SkillError as failure:
            ended = self._get_out(failure)
            failed = ended.outcome(self._call)
            return failed if self._touched else replace(failed, status=untouched(ended))
        return Outcome(call=self._call, status=Status.SUCCEEDED)

    def _prepare(self, scene: Scene) -> Motion:
        self._call = check_call(self._call, scene)
        hand = self._executor.hand()
        motion = plan_motion(self._call, scene, hand)
        guard = self._executor.guard
        if guard is not None:
            guard.update(scene, hand)
            guard.check_call(self._call, scene, motion)
        if isinstance(motion, Rejection):
            raise SkillError(motion.code, motion.message, moved=False)
        self._planner.update(scene, hand)
        if guard is not None and motion.grips:
            guard.check_grip(GRIP_FORCE_N, f'{self._call}')
        self._carried, self._motion = scene.held, motion
        if scene.held is not None:
            self._held_at = self._in_hand(scene, scene.held)
        return motion

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

    def _do(self, motion: Motion) -> None:
        moving = [each for each in motion.segments if not isinstance(each, CloseOn | LetGo)]
        for segment in motion.segments:
            self._is_last = segment is moving[-1]
            self._follow(segment)
        rest = motion.rest
        if rest is None:
            return
        left_s = max(0.0, self._settled_s - self._executor.driver.now_s())
        self._executor.wait(left_s, f'looking where {rest.name} came to rest')
        failure = misplaced(self._observed(), rest)
        if failure is not None:
            raise failure

    def _follow(self, segment: Segment) -> None:
        match segment:
            case MoveAbove(hover_m=0.0):
                self._move_above(segment)
            case MoveAbove():
                self._come_down(segment)
            case CloseOn():
                self._close_on(segment)
            case Lift():
                self._lift(segment.name)
            case Glide():
                self._glide(segment)
            case LetGo():
                self._let_go()
            case Rise():
                self._rise_again()
            case ToBase():
                self._move_to_base()
            case OpenHand():
                self._open(self._planner.robot.hand.max_width_m)
            case CloseHand():
                self._close()
            case StandStill():
                self._executor.report(f'waiting {segment.duration_s:g} s')
                self._executor.wait(segment.duration_s, 'waiting')

    def _come_down(self, above: MoveAbove) -> None:
        way, is_down = self._move_above(above, through=True)
        if not is_down:
            if self._carried is not None:
                way = self._without_slip(self._carried, way)
            elif not self._is_open_to(way.grip.opening_m):
                self._open(way.grip.opening_m)
            self._executor.follow(way.line.descent, self._lowering())
        self._way = way

    @property
    def _way_down(self) -> GraspPlan:
        assert self._way is not None  # segments after a way down alone ask for it
        return self._way

    def _lift(self, name: str) -> None:
        left = self._lift_off(name, self._way_down.line)
        self._foresee(left, changed=True)
        self._rise(left)
        if self._observed().held != name:
            self._carried = None
            raise unheld(name, self._executor.hand().width_m)

    def _let_go(self) -> None:
        grip = self._way_down.grip
        self._open(grip.opening_m - 2 * max(grip.side_room_m - RELEASE_M, 0.0))
        self._settled_s = self._executor.driver.now_s() + SETTLE_S

    def _rise_again(self) -> None:
        """Rise the way that it came down, or after a glide straight up."""
        ascent = self._way_down.line.ascent
        if self._glided:
            ascent = self._planner.straight_up(self._executor.q_start(), RETREAT_M)
        self._foresee(ascent, changed=True)
        self._rise(ascent)

    def _glide(self, glide: Glide) -> None:
        if self._carried is not None and self._scene is not None:
            self._planner.update(self._scene, self._executor.hand())
        width_m = self._executor.hand().width_m
        try:
            move = self._planner.glide(glide, self._executor.q_start(), width_m)
        except SkillError as failed:
            failed.moved = True
            raise
        self._glided = True
        try:
            self._executor.follow(move, glide.activity)
        except SkillError as failed:
            raise jammed(failed, glide) from failed
        self._settled_s = self._executor.driver.now_s() + SETTLE_S
        self._check_carried(f'while {glide.activity}')

    def _glides_after(self, way: GraspPlan) -> list[tuple[Glide, JointTrajectory, float]]:
        """Return the glides after a way down, with the finger distance on each [m]."""
        assert self._motion is not None  # it was prepared
        q, width_m, held, found = way.line.path[-1], way.grip.opening_m, '', []
        for segment in self._motion.segments:
            match segment:
                case CloseOn():
                    width_m, held = segment.width_m, segment.name
                case Lift():
                    q = way.line.path[0]
                case Glide():
                    move = self._planner.glide(segment, q, width_m, held)
                    found.append((segment, move, width_m))
                    q = move.position_rad[-1]
        return found

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
            executor.check(activity)  # a stop by a person counts first
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
                    raise SilentForceError('it is no longer reported.')
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

    def _move_above(self, above: MoveAbove, *, through: bool = False) -> tuple[GraspPlan, bool]:
        """
        Move above the target, and with *through* on to the grip where that takes no stop.

        With something in the hand that is decided on the way. Returns the way, and whether the
        hand is at the grip.
        """
        executor = self._executor
        self._target = above.target
        way = self._way_above(offset(above, self._params.grip_offset_m))
        activity = f'moving above {above.target}'
        lowers = above.hover_m > 0.0
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
        if above.hover_m == 0.0:
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
                return self._move_above(above)
        elif through and self._carried is not None and way.approach is not None:
            way, is_down = self._move_down(self._carried, way, activity)
            if is_down:
                return way, True
        else:
            executor.follow(move, activity)
        self._check_carried(f'on the way to {above.target}')
        return way, move is way.approach

    def _move_down(self, name: str, way: GraspPlan, activity: str) -> tuple[GraspPlan, bool]:
        """
        Move above a place, and on without a stop unless an observation on the way is against it.

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

    def _way_above(self, above: MoveAbove) -> GraspPlan:
        q_start = self._executor.q_start()
        planned = self._planned_ahead(q_start)
        if planned is None or not isinstance(planned.way, GraspPlan):
            return self._planned_now(above, q_start)
        # The descent compensates what the forecast was off by, as it does a slip.
        self._held_at = planned.held_at or self._held_at
        return planned.way

    def _planned_now(self, above: MoveAbove, q_start: Array) -> GraspPlan:
        """Plan the way to a grip from which the arm can follow the glides of the motion too."""
        grips, problem = above.grips, None
        while True:
            try:
                way = self._planner.above(replace(above, grips=grips), q_start)
            except SkillError as failed:
                raise (problem or failed) from None
            try:
                glides = self._glides_after(way)
            except SkillError as failed:
                problem = problem or failed
                grips = tuple(grip for grip in grips if grip is not way.grip)
                if not grips:
                    raise problem from None
                continue
            for glide, move, width_m in glides:
                self._executor.check_ahead(move, glide.activity, width_m)
            return way

    def _planned_ahead(self, q_start: Array) -> PlannedWay | None:
        if self._ahead is None or self._motion is None or self._scene is None:
            return None
        return self._ahead.way(self._motion, self._scene, q_start)

    def _foresee(self, last: JointTrajectory, *, changed: bool = False) -> None:
        """
        Let the next call be planned from where the last motion of this one leads.

        *changed* is whether the hand has gripped or released since the scene was observed.
        """
        if self._ahead is None or not self._ahead.wanted or not self._is_last:
            return
        carried, end = self._carried, last.position_rad[-1]

        def state(scene: Scene) -> Forecast | None:
            return forecast(self._planner.robot, scene, end) if scene.held == carried else None

        if changed and self._params.observes_meanwhile:
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
        if self._opening_m == 0.0:
            return 'closing the hand'
        released = f' to let go of {self._carried}' if self._carried else ''
        return f'opening the hand{released}'

    def _close_on(self, pick: CloseOn) -> None:
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
        widest_m = self._planner.robot.hand.max_width_m
        result = self._executor.grasp(0.0, GRIP_FORCE_N, widest_m, widest_m, 'closing the hand')
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
