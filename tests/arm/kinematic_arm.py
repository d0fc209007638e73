"""An arm without physics, of which a test says what goes wrong, and things to put before it."""

import math
import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bbllm.arm.driver import (
    Amendment,
    Array,
    FingerMove,
    FollowError,
    FollowResult,
    GoalStatus,
    GraspGoal,
    GripperResult,
    JointState,
    JointTrajectory,
    RecoveryError,
    RobotCondition,
    RobotMode,
    Tolerances,
)
from bbllm.arm.execution.executor import SkillExecutor
from bbllm.arm.force_estimator import SilentForceError
from bbllm.arm.motion.trajectory import sample
from bbllm.arm.obstacles import matrix_from_pose
from bbllm.core.approval import AskPerson
from bbllm.core.types import Code, Kind, Pose, Scene, SceneObject, SkillCall, Status
from bbllm.robots.fr3 import FR3
from bbllm.robots.kinematics import pose_of_matrix
from bbllm.scene.relations import build_scene
from bbllm.skills.catalog import SKILLS
from bbllm.skills.grasps import Hand

TABLE = SceneObject(
    name='table',
    kind=Kind.FIXTURE,
    pose=Pose(position_m=(0.45, 0.0, -0.02)),
    size_m=(1.4, 1.6, 0.04),
)
PICK_RED = SkillCall('pick', ('red_cube',))
SUCCESS = FollowResult(status=GoalStatus.SUCCEEDED)
REFUSED = FollowResult(status=GoalStatus.REJECTED)
DEACTIVATED = FollowResult(
    status=GoalStatus.ABORTED,
    error_code=FollowError.INVALID_GOAL,
    error_string='Current goal cancelled during deactivate transition.',
)


def cube(name: str, x: float, y: float, z: float = 0.02, yaw_deg: float = 0.0) -> SceneObject:
    half = math.radians(yaw_deg) / 2
    pose = Pose(position_m=(x, y, z), quat_xyzw=(0.0, 0.0, math.sin(half), math.cos(half)))
    return SceneObject(name=name, kind=Kind.CUBE, pose=pose, size_m=(0.04, 0.04, 0.04))


def location(name: str, x: float, y: float) -> SceneObject:
    return SceneObject(name=name, kind=Kind.LOCATION, pose=Pose(position_m=(x, y, 0.0)))


class KinematicArm:
    """
    A world in which joints go where they are sent and held things move with the hand.

    `replies` are what `follow` answers, in order; when they are used up it succeeds. The arm
    moves on success only. `DEACTIVATED` takes the controllers down, as a stop of the robot does:
    they come up again in a recovery.
    """

    def __init__(self, *objects: SceneObject) -> None:
        self.objects = {item.name: item for item in (*objects, TABLE)}
        self.robot_model = FR3
        self.q: Array = np.array(FR3.home_rad)
        self.width_m = 0.08
        self.clock_s = 0.0
        self.held: str | None = None
        self.replies: list[FollowResult] = []
        self.sent: list[JointTrajectory] = []
        self.openings: list[float] = []
        self.activities: list[str] = []
        self.slips_after: int | None = None
        self.grip_result: GripperResult | None = None
        self.drop_offset_m = (0.0, 0.0)
        self.error_rad = 0.0
        self.recoveries = 0
        self.recovers = True
        self.down = False
        self.mode = RobotMode.REFLEX
        self.errors: tuple[str, ...] = ('cartesian_reflex',)
        self.hand_commands = 0
        self.lift_takes_n: float | None = None
        """What a lift of what is in the hand takes; None where nobody feels it."""
        self.force_is_late = False
        """Whether that is known only after a motion."""
        self.cut_reply = FollowResult(status=GoalStatus.CANCELED)
        """How a motion ends that is cut short."""
        self.force_silent_from: int | None = None
        """From so many motions on the force is silent that was told before; None for never."""
        self.risen = False
        self.on_follow: Callable[[], None] = lambda: None
        self.amends = False
        """Whether motions may be amended on the way."""
        self.on_amend: Callable[[], None] = lambda: None
        self.stopped = threading.Event()

    def now_s(self) -> float:
        return self.clock_s

    def joint_state(self) -> JointState:
        return JointState(
            position_rad=self.q + self.error_rad,
            velocity_rad_s=np.zeros(7),
            width_m=self.width_m,
            stamp_s=self.clock_s,
        )

    def set_point(self) -> Array:
        return self.q

    def follow(
        self, trajectory: JointTrajectory, tolerances: Tolerances,
        stop_condition: Callable[[], bool] | None = None,
    ) -> FollowResult:  # fmt: skip
        self.sent.append(trajectory)
        self.on_follow()
        if self.stopped.is_set():
            return FollowResult(status=GoalStatus.CANCELED)
        if self.down:
            return REFUSED
        self.risen = self.held is not None
        if stop_condition is not None and not self.force_is_late and stop_condition():
            self.down = self.cut_reply.error_string == DEACTIVATED.error_string
            return self.cut_reply
        result = self.replies.pop(0) if self.replies else SUCCESS
        self.down = result.error_string == DEACTIVATED.error_string
        if result.status is GoalStatus.SUCCEEDED:
            self._move_to(trajectory.position_rad[-1])
            self.clock_s += trajectory.duration_s
        if self.slips_after is not None and len(self.sent) >= self.slips_after:
            self.let_go()
        return result

    def follow_amended(
        self, trajectory: JointTrajectory, tolerances: Tolerances, amendment: Amendment
    ) -> tuple[FollowResult, bool]:
        if not self.amends:
            return self.follow(trajectory, tolerances), False
        self._move_to(sample(trajectory, np.array([amendment.at_s]))[0][0])
        self.on_amend()
        whole = amendment.make()
        return self.follow(whole or trajectory, tolerances), whole is not None

    def move_both(
        self, trajectory: JointTrajectory, tolerances: Tolerances, fingers: FingerMove
    ) -> tuple[FollowResult, GripperResult]:
        followed = self.follow(trajectory, tolerances)
        if followed.status is not GoalStatus.SUCCEEDED:
            return followed, GripperResult(status=GoalStatus.CANCELED, begun=not self.down)
        return followed, self.move_gripper(fingers.width_m, fingers.speed_m_s)

    def vertical_force_n(self, *, settled: bool = False) -> float | None:
        if self.lift_takes_n is None:
            return None
        count = self.force_silent_from
        if self.down or (count is not None and len(self.sent) >= count):
            if settled:
                raise SilentForceError('the broadcaster has sent no force for 2 s.')
            return 0.5  # what was told last
        return -self.lift_takes_n if self.risen and self.held is not None else 0.5

    def move_gripper(self, width_m: float, speed_m_s: float) -> GripperResult:
        self.openings.append(width_m)
        self.hand_commands += 1
        self.width_m = width_m
        self.let_go()
        return GripperResult(status=GoalStatus.SUCCEEDED, success=True, width_m=width_m)

    def grasp(self, goal: GraspGoal) -> GripperResult:
        self.hand_commands += 1
        if self.grip_result is not None:
            self.width_m = self.grip_result.width_m
            return self.grip_result
        tcp = FR3.kinematics.forward(self.q)[:3, 3]
        near = [
            item for item in self.objects.values()
            if item.kind is Kind.CUBE and math.dist(item.pose.position_m, tcp) < 0.03
        ]  # fmt: skip
        self.width_m = near[0].size_m[0] if near else 0.0
        self.held = near[0].name if near else None
        ok = abs(self.width_m - goal.width_m) <= goal.inner_m
        status = GoalStatus.SUCCEEDED if ok else GoalStatus.ABORTED
        return GripperResult(status=status, success=ok, width_m=self.width_m)

    def home_gripper(self) -> GripperResult:
        return GripperResult(status=GoalStatus.SUCCEEDED, success=True, width_m=0.08)

    def condition(self, patience_s: float = 0.0) -> RobotCondition:
        return RobotCondition(
            controllers_active=not self.down,
            hardware_active=not self.down,
            mode=self.mode if self.down else RobotMode.MOVE,
            current_errors=self.errors if self.down else (),
            last_errors=self.errors,
        )

    def clear_errors(self) -> None:
        self.recoveries += 1
        if not self.recovers:
            raise RecoveryError('the robot refused it.')

    def activate_hardware(self) -> None: ...

    def activate_broadcasters(self) -> None: ...

    def wait_fresh(self, timeout_s: float) -> None: ...

    def activate_controller(self) -> None:
        self.down = False

    def wait(self, duration_s: float) -> None:
        self.clock_s += duration_s

    def begin(self) -> None:
        self.stopped.clear()

    def stop(self) -> None:
        self.stopped.set()

    def observe(self) -> Scene:
        hand = Hand(tcp=pose_of_matrix(FR3.kinematics.forward(self.q)), width_m=self.width_m)
        return build_scene(
            tuple(self.objects.values()), hand, skills=SKILLS, stamp_s=0.0, now_s=0.0
        )

    def position(self, name: str) -> tuple[float, float, float]:
        return self.objects[name].pose.position_m

    def _move_to(self, q: Array) -> None:
        if self.held is not None:
            move = FR3.kinematics.forward(q) @ np.linalg.inv(FR3.kinematics.forward(self.q))
            item = self.objects[self.held]
            T = move @ matrix_from_pose(item.pose)
            self.objects[self.held] = replace(item, pose=pose_of_matrix(T))
        self.q = np.array(q)

    def let_go(self) -> None:
        """Drop what is held straight down onto whatever is there."""
        if self.held is None:
            return
        item, self.held = self.objects[self.held], None
        x, y, _ = item.pose.position_m
        below = [
            other.pose.position_m[2] + 0.02 for other in self.objects.values()
            if other.kind is Kind.CUBE and other is not item
            and math.dist(other.pose.position_m[:2], (x, y)) < 0.02
        ]  # fmt: skip
        dx, dy = self.drop_offset_m
        pose = replace(item.pose, position_m=(x + dx, y + dy, max(below, default=0.0) + 0.02))
        self.objects[item.name] = replace(item, pose=pose)


def executor_on(arm: KinematicArm, ask_person: AskPerson | None = None) -> SkillExecutor:
    return SkillExecutor(
        arm, arm.observe, on_activity=arm.activities.append, ask_person=ask_person
    )


def run(arm: KinematicArm, *calls: SkillCall) -> list[tuple[Status, Code, str]]:
    executor = executor_on(arm)
    outcomes = [executor.execute(call) for call in calls]
    return [(outcome.status, outcome.code, outcome.message) for outcome in outcomes]


def place(target: str) -> SkillCall:
    return SkillCall('place', (target,))
