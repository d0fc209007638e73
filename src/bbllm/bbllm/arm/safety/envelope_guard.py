"""Checks of every motion against the safety envelope before it is sent."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bbllm.arm.driver import Array, JointTrajectory
from bbllm.arm.envelope import (
    Point,
    SafetyEnvelope,
    SafetyRule,
    constraint_refusal,
    kept_out,
    refusal,
)
from bbllm.arm.failures import SkillError
from bbllm.arm.motion.collision import TABLE, CollisionChecker, Contact
from bbllm.arm.motion.motion_planner import GraspPlannerParams
from bbllm.arm.motion.sweep import Sweep, beyond, broken_at, corners, solid_names, sweep
from bbllm.arm.obstacles import (
    Held,
    Obstacle,
    ObstacleShape,
    forbidden_bodies,
    forbidden_by,
    held_by,
    obstacle_from_object,
)
from bbllm.core.types import Code, Scene, SkillCall
from bbllm.robots.robot_model import RobotModel
from bbllm.skills.catalog import moves
from bbllm.skills.constraints import broken_by_call, broken_by_motion, unbound
from bbllm.skills.grasps import Hand
from bbllm.skills.rejection import Rejection
from bbllm.skills.segments import Motion

SLACK_SHARE = 1e-3
"""How much faster than its limit a motion may be, for rounding, as a share of the limit."""
SAME_WIDTH_M = 1e-3
"""Openings nearer to each other than this are the same [m]."""
FINGER_STEP_M = 0.005
"""Largest step of the finger distance between two checks [m]."""
HELD = 'held'
"""Name of the grasped object in collision models: objects of one form share one."""
MOST_FORMS = 8


def unsafe(rule: SafetyRule, activity: str, why: str) -> SkillError:
    """Return the refusal of a rule; *why* ends with what would do."""
    return SkillError(Code.UNSAFE, refusal(rule, activity, why), f'safety rule {rule.value}')


def forbidden(constraint: str, activity: str, why: str, *, moved: bool = True) -> SkillError:
    """Return the refusal of a constraint; *why* ends with what would do."""
    raw = f'constraint {constraint}'
    return SkillError(Code.UNSAFE, constraint_refusal(constraint, activity, why), raw, moved=moved)


def rounded_up(value: float) -> str:
    """Write a number rounded up, so that what is asked for is enough."""
    return f'{math.ceil(value * 100) / 100:.2f}'


def _widths_m(width_m: float, opening_m: float) -> Array:
    """Return the widths to check between two, both included, shape (n,) [m]."""
    return np.linspace(width_m, opening_m, 2 + int(abs(opening_m - width_m) / FINGER_STEP_M))


def bounded(ways: GraspPlannerParams, envelope: SafetyEnvelope) -> GraspPlannerParams:
    """Return parameters with which the planner stays within the envelope wherever it can."""
    return replace(
        ways,
        scale=min(ways.scale, envelope.joint_speed.max_share),
        line_speed_m_s=min(ways.line_speed_m_s, envelope.tcp_speed.max_m_s),
        joint_share=min(ways.joint_share, envelope.joint_speed.max_share),
        tcp_speed_m_s=min(ways.tcp_speed_m_s, envelope.tcp_speed.max_m_s),
        workspace=envelope.workspace,
        keep_out=(*ways.keep_out, *envelope.keep_out),
        never=(*ways.never, *envelope.never),
    )


class EnvelopeGuard:
    """
    Refuses motions with Code.UNSAFE, and names the rule.

    A motion that starts outside of a rule, as after a person has led the arm there by hand, may
    only lead back: never deeper, and less deep at its end. One thread only.

    *scene_age_s* returns the age of the newest scene, by the wall clock; without it the scene
    comes from this process and is never stale.
    """

    def __init__(
        self,
        robot: RobotModel,
        envelope: SafetyEnvelope,
        *,
        width_m: Callable[[], float] | None = None,
        scene_age_s: Callable[[], float] | None = None,
    ) -> None:
        self.robot = robot
        self.envelope = envelope
        self.scene_age_s = scene_age_s
        force = envelope.contact_force
        self.contact_limits = None if force is None else force.limits
        self._width_m = width_m or (lambda: robot.hand.max_width_m)
        self._keep_out = tuple(box.obstacle for box in envelope.keep_out)
        self._boxes = self._keep_out
        self._checkers: dict[tuple[ObstacleShape, Point] | None, CollisionChecker] = {}
        self._scene: Scene | None = None
        self._item: Obstacle | None = None
        self._held: Held | None = None
        self._allowed: list[tuple[JointTrajectory, Held | None, float, float]] = []

    def update(self, scene: Scene, hand: Hand) -> None:
        """Set the objects and the grasped one, before the motions of a call are planned."""
        self._scene = scene
        self._boxes = (*self._keep_out, *forbidden_bodies(self.envelope.never, scene))
        self._allowed.clear()
        self.carry(scene.held, hand)

    def check_call(
        self, call: SkillCall, scene: Scene, motion: Motion | Rejection | None = None
    ) -> None:
        """Check what a call, and the motion that it becomes, are for; raises SkillError."""
        nevers = self.envelope.never if moves(call) else ()
        for never, why in unbound(nevers, scene):
            raise forbidden(str(never), f'{call}', why, moved=False)
        constraint, why = broken_by_call(call, nevers, scene)
        if not constraint and isinstance(motion, Motion):
            constraint, why = broken_by_motion(motion, nevers, scene)
        if constraint:
            raise forbidden(constraint, f'{call}', why, moved=False)

    def carry(self, name: str | None, hand: Hand) -> None:
        """Learn what is in the hand from now on; None where nothing is."""
        self._item = self._held = None
        if name is None or self._scene is None or name not in self._scene.names:
            return
        item = self._scene.object(name)
        self._item, self._held = obstacle_from_object(item), held_by(item, hand)

    def check_motion(
        self,
        trajectory: JointTrajectory,
        activity: str,
        *,
        width_m: float | None = None,
        opening_m: float | None = None,
    ) -> None:
        """
        Check a motion with the fingers open as now or to a width [m]; raises SkillError.

        Where they move to *opening_m* meanwhile, all widths are checked all the way [m].
        *activity* is what the arm is about, for the sentence: `moving above red_cube`.
        """
        self._check_age(activity)
        self._check_bound(activity)
        width_m = self._width_m() if width_m is None else width_m
        opening_m = width_m if opening_m is None else opening_m
        if self._was_allowed(trajectory, width_m, opening_m):
            return
        if not np.isfinite(trajectory.position_rad).all():
            raise unsafe(
                SafetyRule.WORKSPACE, activity, 'it leads nowhere; a motion of numbers would do'
            )
        way = sweep(self.robot, trajectory)
        held_m = None
        if self._held is not None and self._item is not None:
            held_m = way.points_m(corners(self._item.size_m, self._held.T_tcp_object))
        self._check_workspace(way, held_m, activity)
        self._check_table(way, held_m, activity)
        self._check_speeds(way, activity)
        self._check_contacts(way, width_m, activity)
        if abs(opening_m - width_m) >= SAME_WIDTH_M:
            self.check_hand(trajectory.position_rad[0], opening_m, activity)
            # Without boxes there is only the arm itself to touch, which the ends show.
            for between_m in _widths_m(width_m, opening_m)[1 if self._boxes else -1 :]:
                self._check_contacts(way, float(between_m), activity)
        self._allowed.append((trajectory, self._held, width_m, opening_m))

    def check_hand(self, position_rad: Array, width_m: float, activity: str) -> None:
        """
        Check the fingers on their way to another width against boxes; raises SkillError.

        The table is checked by motions, with the fingers closed and wide open.
        """
        self._check_age(activity)
        if not self._boxes or not np.isfinite(width_m):
            return
        now_m = self._width_m()
        contact = self._checker(now_m).first_deeper_fingers(
            position_rad, _widths_m(now_m, width_m), (TABLE,)
        )
        if contact is not None:
            raise self._touching(contact, activity)

    def check_grip(self, force_n: float, activity: str) -> None:
        """Raise SkillError where the fingers would press too hard [N]."""
        most_n = self.envelope.grip_force.max_n
        if not force_n <= most_n:
            raise unsafe(
                SafetyRule.GRIP_FORCE,
                activity,
                f'the fingers would press with {force_n:g} N, and may with {most_n:g} N; a force '
                f'of {most_n:g} N or less would do',
            )

    def _was_allowed(self, trajectory: JointTrajectory, width_m: float, opening_m: float) -> bool:
        """Return whether this very motion was checked ahead, with the same in the hand."""
        return any(
            trajectory is one
            and held is self._held
            and abs(width - width_m) < SAME_WIDTH_M
            and abs(opening - opening_m) < SAME_WIDTH_M
            for one, held, width, opening in self._allowed
        )

    def _check_bound(self, activity: str) -> None:
        """Refuse all motions where the object of a constraint is not in the scene."""
        if not self.envelope.never:
            return
        if self._scene is None:
            why = 'no scene with its object was observed; one with it would do'
            raise forbidden(str(self.envelope.never[0]), activity, why)
        for never, why in unbound(self.envelope.never, self._scene):
            raise forbidden(str(never), activity, why)

    def _check_age(self, activity: str) -> None:
        if self.scene_age_s is None:
            return
        age_s, most_s = self.scene_age_s(), self.envelope.stale_scene.max_age_s
        if not age_s <= most_s:
            seen = f'is {age_s:.1f} s old' if math.isfinite(age_s) else 'was never received'
            raise unsafe(
                SafetyRule.STALE_SCENE,
                activity,
                f'the scene {seen}, and may be {most_s:g} s old at most; a scene that is '
                'published again would do',
            )

    def _check_workspace(self, way: Sweep, held_m: Array | None, activity: str) -> None:
        low, high = map(np.array, (self.envelope.workspace.min_m, self.envelope.workspace.max_m))
        named = [('the tool', way.tcp_m[:, None])]
        if held_m is not None and self._held is not None:
            named.append((self._held.name, held_m))
        for name, points in named:
            excesses = beyond(points, low, high)  # (n, m, 6)
            row = broken_at(excesses.max(axis=(1, 2)))
            if row is None:
                continue
            point, side = np.unravel_index(int(excesses[row].argmax()), excesses.shape[1:])
            axis, excess = 'xyz'[side % 3], float(excesses[row, point, side])
            limit = float(np.concatenate([low, high])[side])
            would = float(points[row, point, side % 3])
            raise unsafe(
                SafetyRule.WORKSPACE,
                activity,
                f'{name} would come to {axis} = {would:.3f} m, and may come to {limit:g} m; a way '
                f'that stays {rounded_up(excess)} m further in would do',
            )

    def _check_table(self, way: Sweep, held_m: Array | None, activity: str) -> None:
        rule, names = self.envelope.table_height, solid_names(self.robot)
        lows = way.lowest_m(rule.top_m)
        fingers = self.robot.hand.fingers
        floors = np.array([rule.fingers_m if name in fingers else 0.0 for name in names])
        if held_m is not None and self._held is not None:
            lows = np.column_stack([lows, held_m[..., 2].min(axis=1)])
            floors = np.append(floors, rule.held_m)
            names = (*names, self._held.name)
        below = (rule.top_m - floors) - lows  # (n, m)
        row = broken_at(below.max(axis=1))
        if row is None:
            return
        solid = int(below[row].argmax())
        limit = rule.top_m - floors[solid]
        raise unsafe(
            SafetyRule.TABLE_HEIGHT,
            activity,
            f'{names[solid]} would come down to z = {lows[row, solid]:.3f} m, and may to '
            f'{limit:.3f} m; a place {rounded_up(float(below[row, solid]))} m higher would do',
        )

    def _check_speeds(self, way: Sweep, activity: str) -> None:
        most = self.envelope.tcp_speed.max_m_s
        speed = float(way.tcp_speed_m_s.max())
        if not speed <= most * (1 + SLACK_SHARE):
            raise unsafe(
                SafetyRule.TCP_SPEED,
                activity,
                f'the tool would move at {speed:.2f} m/s, and may at {most:g} m/s; the same way '
                f'{rounded_up(speed / most)} times as slow would do',
            )
        most = self.envelope.joint_speed.max_share
        shares = way.joint_share.max(axis=0)
        if not float(shares.max()) <= most * (1 + SLACK_SHARE):
            joint = int(shares.argmax())
            raise unsafe(
                SafetyRule.JOINT_SPEED,
                activity,
                f'joint {joint + 1} would turn at {shares[joint] * 100:.0f} % of its limit, and '
                f'may at {most * 100:g} %; the same way '
                f'{rounded_up(float(shares[joint]) / most)} times as slow would do',
            )

    def _check_contacts(self, way: Sweep, width_m: float, activity: str) -> None:
        itself = self.envelope.self_collision.enabled
        if not itself and not self._boxes:
            return
        contact = self._checker(width_m).first_deeper(way.position_rad, (TABLE,), itself=itself)
        if contact is not None:
            raise self._touching(contact, activity)

    def _touching(self, contact: Contact, activity: str) -> SkillError:
        first, second = (self._called(name) for name in (contact.first, contact.second))
        if constraints := forbidden_by((second,)):
            why = f'{first} would come too near to it; a place further from it would do'
            return forbidden(constraints[0], activity, why)
        if not kept_out((second,)):
            why = f'{first} would touch {second}; another place or direction would do'
            return unsafe(SafetyRule.SELF_COLLISION, activity, why)
        box = next(box for box in self.envelope.keep_out if box.obstacle.name == second)
        low, high = (', '.join(f'{x:g}' for x in corner) for corner in (box.min_m, box.max_m))
        return unsafe(
            SafetyRule.KEEP_OUT,
            activity,
            f'{first} would enter {box.name}, which reaches from ({low}) to ({high}) m; a place '
            'further from it would do',
        )

    def _checker(self, width_m: float) -> CollisionChecker:
        """Return a collision model of the boxes and the grasped object, cached by its form."""
        item, held = self._item, self._held
        form = None if item is None else (item.shape, item.size_m)
        obstacles = self._boxes
        if item is not None and held is not None:
            obstacles = (*obstacles, replace(item, name=HELD))
            held = replace(held, name=HELD)
        if form not in self._checkers:
            if len(self._checkers) >= MOST_FORMS:
                self._checkers.clear()
            self._checkers[form] = CollisionChecker(self.robot, obstacles, held)
        self._checkers[form].update(obstacles, held, width_m=width_m)
        return self._checkers[form]

    def _called(self, name: str) -> str:
        return self._held.name if name == HELD and self._held is not None else name
