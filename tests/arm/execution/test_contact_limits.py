"""The forces at which the robot itself stops: told before anything moves, and then in force."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from bbllm.arm.driver import ArmDriver, ContactLimits, JointState, RecoveryError, RobotMode
from bbllm.arm.envelope import ContactForce, SafetyEnvelope, load_envelope
from bbllm.arm.execution.recovery import REST_CHECKS, ContactLimiter
from bbllm.arm.failures import SkillError
from bbllm.core.types import Code, SkillCall, Status
from bbllm.robots.fr3 import FR3
from bbllm.scene.scene_file import LocationSpec, ObjectSpec, SceneFile
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.safety.recording import RecordingDriver

RED = ObjectSpec(name='red_cube', kind='cube', xy=(0.45, 0.2))
PLACE_A = LocationSpec(name='location_A', xy=(0.45, -0.2))
PICK, PLACE = SkillCall('pick', ('red_cube',)), SkillCall('place', ('location_A',))
BASE = SkillCall('return_to_base')
REFUSED = 'libfranka: Set Collision Behavior command rejected'
GENTLE = ContactForce(max_n=20.0).limits


@dataclass
class RobotWithLimits:
    """A robot at rest, or moved by somebody else, that notes what it is told."""

    speeds_rad_s: list[float] = field(default_factory=list)
    takes: bool = True
    reported: list[ContactLimits] = field(default_factory=list)
    contact_limits: ContactLimits | None = None

    def joint_state(self) -> JointState:
        speed = self.speeds_rad_s.pop(0) if self.speeds_rad_s else 0.0
        return JointState(
            position_rad=FR3.home_rad, velocity_rad_s=np.full(7, -speed), width_m=0.08, stamp_s=0.0
        )

    def wait(self, duration_s: float) -> None:
        """Its time need not pass."""

    def limit_contacts(self, limits: ContactLimits) -> None:
        if not self.takes:
            raise RecoveryError(REFUSED)
        self.reported.append(limits)
        self.contact_limits = limits


def limiter_of(robot: Any, limits: ContactLimits | None = GENTLE) -> ContactLimiter:
    return ContactLimiter(robot, limits, 0.05)


def test_the_robot_is_set_once_and_again_when_it_has_begun_anew() -> None:
    robot = RobotWithLimits()
    limiter = limiter_of(robot)

    limiter.need('picking')
    limiter.need('placing')
    assert robot.reported == [GENTLE]
    robot.contact_limits = None
    assert not limiter.in_force
    limiter.need('picking')

    assert robot.reported == [GENTLE, GENTLE]


def test_without_the_rule_the_robot_stays_as_others_have_set_it() -> None:
    robot = RobotWithLimits(takes=False)
    limiter = limiter_of(robot, None)

    limiter.need('picking')
    limiter.set()

    assert (limiter.in_force, robot.reported) == (True, [])


def test_an_arm_that_somebody_else_moves_is_not_taken_from_him() -> None:
    robot = RobotWithLimits(speeds_rad_s=[0.1] * REST_CHECKS)

    with pytest.raises(
        SkillError, match=r'contact_force forbids picking: .* its arm moves'
    ) as reported:
        limiter_of(robot).need('picking')

    assert reported.value.code is Code.UNSAFE
    assert robot.reported == []


def test_a_robot_that_refuses_is_quoted_with_what_would_do() -> None:
    with pytest.raises(SkillError) as reported:
        limiter_of(RobotWithLimits(takes=False)).need('picking red_cube')

    assert reported.value.code is Code.UNSAFE
    assert 'the safety rule contact_force forbids picking red_cube' in str(reported.value)
    assert REFUSED in str(reported.value)
    assert 'would do' in str(reported.value)
    assert reported.value.raw == f'safety rule contact_force: {REFUSED}'


def test_contacts_are_felt_from_the_same_share_on_as_in_the_examples() -> None:
    limits = ContactForce(max_n=20.0, max_nm=7.0).limits

    assert limits.collision_wrench == (20.0, 20.0, 20.0, 7.0, 7.0, 7.0)
    assert limits.contact_wrench == pytest.approx((15.0, 15.0, 15.0, 5.0, 5.0, 5.0))


def table(safety: SafetyEnvelope, **more: Any) -> TabletopWorld:
    scene = SceneFile(objects=(RED,), locations=(PLACE_A,))
    return TabletopWorld(scene, safety=safety, **more)


def push(world: TabletopWorld, force_n: float) -> RobotMode:
    """Lift the hand, along one of its axes, for a while; return the mode after it."""
    robot = world.robot
    body = robot.simulation.model.body('fr3_hand').id
    robot.simulation.data.xfrc_applied[body, :3] = (0.0, 0.0, force_n)
    world.driver.wait(0.5)
    robot.simulation.data.xfrc_applied[body, :3] = 0.0
    return robot.mode


@pytest.mark.parametrize(('name', 'most_n'), [('safety', 40.0), ('safety_slow', 25.0)])
def test_a_push_stops_the_arm_only_from_the_force_of_the_file_on(name: str, most_n: float) -> None:
    below, above = table(load_envelope(name)), table(load_envelope(name))
    for world in (below, above):
        assert world.execute(BASE).succeeded

    # At the hand, so that joints and torques feel less of their own limits than it does.
    assert push(below, most_n * 0.85) is RobotMode.MOVE
    assert push(above, most_n * 1.15) is RobotMode.REFLEX
    assert above.robot.monitor.errors == ('cartesian_reflex',)


def test_a_call_that_moves_nothing_leaves_the_robot_as_it_is() -> None:
    world = table(SafetyEnvelope())

    assert world.execute(SkillCall('wait', ('0.1',))).succeeded

    assert world.driver.contact_limits is None


def test_a_world_that_was_reset_is_set_again_before_it_moves() -> None:
    world = table(load_envelope('safety_slow'))
    assert world.execute(BASE).succeeded
    world.robot.reset()
    assert world.driver.contact_limits is None

    assert world.execute(BASE).succeeded

    assert world.driver.contact_limits is not None
    assert push(world, 25.0 * 1.15) is RobotMode.REFLEX


def test_a_robot_that_does_not_take_the_forces_is_sent_no_motion() -> None:
    class Deaf(RecordingDriver):
        def limit_contacts(self, limits: ContactLimits) -> None:
            raise RecoveryError(REFUSED)

    drivers: list[Deaf] = []

    def wrap(driver: ArmDriver) -> ArmDriver:
        drivers.append(Deaf(driver))
        return drivers[0]

    world = table(SafetyEnvelope(), wrap_driver=wrap)

    for call in (PICK, BASE, SkillCall('close_gripper')):
        outcome = world.execute(call)
        assert (outcome.status, outcome.code) == (Status.REJECTED, Code.UNSAFE)
        assert 'the safety rule contact_force forbids' in outcome.message
    assert drivers[0].trajectories == []


def test_what_a_recovery_brings_back_stops_at_the_forces_of_the_file_too() -> None:
    world = table(load_envelope('safety_slow'))
    assert world.execute(BASE).succeeded
    assert push(world, 25.0 * 1.15) is RobotMode.REFLEX
    world.robot.monitor.upper = [1e3] * 13

    assert world.execute(BASE).succeeded

    assert push(world, 25.0 * 1.15) is RobotMode.REFLEX


def test_work_on_the_table_shows_no_contact_even_to_the_slow_envelope() -> None:
    felt: list[str] = []

    def note_contacts() -> None:
        if world.robot.monitor.contacts.any():
            felt.append(f'{world.robot.monitor.external_torque_nm}')

    world = table(load_envelope('safety_slow'), on_advance=note_contacts)

    outcomes = [world.execute(call) for call in (PICK, PLACE, BASE)]

    assert [outcome.message for outcome in outcomes] == ['', '', '']
    assert felt == []
