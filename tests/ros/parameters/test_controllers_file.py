"""What config/franka/controllers.yaml tells the real arm's controllers, and who relies on it."""

from typing import Any

import numpy as np
import yaml

from bbllm.arm.controllers.manager import KINDS
from bbllm.arm.controllers.trajectory_goal import STOPPED_RAD_S
from bbllm.arm.driver import Tolerances
from bbllm.arm.execution.trajectory_executor import FINAL_RAD
from bbllm.arm.motion.trajectory import STOP_SHARE
from bbllm.core.paths import config_dir
from bbllm.robots.fr3 import FR3
from bbllm_ros.parameters.node_params import Fr3ExecutorParams

FILE = config_dir() / 'franka' / 'controllers.yaml'
ARM = Fr3ExecutorParams().controller

# franka_fr3_moveit_config 3.4.0, config/fr3_ros_controllers.yaml [Nm/rad, Nm s/rad].
STIFFNESS = (600.0, 600.0, 600.0, 600.0, 250.0, 150.0, 50.0)
DAMPING = (30.0, 30.0, 30.0, 30.0, 10.0, 10.0, 5.0)
# Parameters of a joint trajectory controller, ros2_controllers 4.42 (jazzy).
KNOWN = {'joints', 'command_interfaces', 'state_interfaces', 'gains', 'constraints'}
KNOWN |= {'allow_partial_joints_goal', 'allow_nonzero_velocity_at_trajectory_end'}
CONSTRAINTS = {'stopped_velocity_tolerance', 'goal_time', 'decelerate_on_cancel'}


def parameters(node: str) -> dict[str, Any]:
    """Return what the file tells a node, wherever the namespace lies."""
    reported = yaml.safe_load(FILE.read_text())
    assert set(reported) == {'/**'}
    assert set(reported['/**'][node]) == {'ros__parameters'}
    return reported['/**'][node]['ros__parameters']


def test_manager_has_the_controllers_of_the_simulated_driver() -> None:
    manager = parameters('controller_manager')
    controllers = {
        name: reported['type']
        for name, reported in manager.items()
        if isinstance(reported, dict) and 'type' in reported
    }

    assert controllers == {name: kind.type for name, kind in KINDS.items()}
    assert manager['update_rate'] == 1000


def test_arm_is_controlled_by_torque_joint_by_joint_in_our_order() -> None:
    arm = parameters(ARM)

    assert set(arm) <= KNOWN
    assert arm['joints'] == list(FR3.joints)
    assert arm['command_interfaces'] == ['effort']
    assert arm['state_interfaces'] == ['position', 'velocity']


def test_gains_are_those_of_the_driver() -> None:
    gains = parameters(ARM)['gains']

    assert list(gains) == list(FR3.joints)
    assert tuple(gain['p'] for gain in gains.values()) == STIFFNESS
    assert tuple(gain['d'] for gain in gains.values()) == DAMPING
    assert all(gain['i'] == 0.0 for gain in gains.values())


def test_constraints_are_those_that_goals_carry_and_the_simulator_checks() -> None:
    constraints = dict(parameters(ARM)['constraints'])
    joints = {joint: constraints.pop(joint) for joint in FR3.joints}
    sent = Tolerances()

    assert set(constraints) == CONSTRAINTS
    assert constraints['stopped_velocity_tolerance'] == STOPPED_RAD_S
    assert constraints['goal_time'] == sent.goal_time_s
    assert {joint['trajectory'] for joint in joints.values()} == {sent.path_rad}
    assert {joint['goal'] for joint in joints.values()} == {sent.goal_rad}


def test_what_the_controller_takes_for_reached_is_at_rest_for_the_executor_too() -> None:
    assert Tolerances().goal_rad < FINAL_RAD


def test_no_joint_brakes_harder_than_the_arm_may() -> None:
    constraints = parameters(ARM)['constraints']

    assert constraints['decelerate_on_cancel'] is True
    for joint, most in zip(FR3.joints, (STOP_SHARE * FR3.limits.acceleration_rad_s2).tolist()):
        assert 0 < constraints[joint]['max_deceleration_on_cancel'] <= most


def test_goals_bear_the_error_that_friction_leaves() -> None:
    # Without an integral part a joint rests where stiffness no longer overcomes friction.
    model = FR3.arm_model()
    friction = np.array([model.joint(joint).frictionloss[0] for joint in FR3.joints])
    left_rad = friction / np.array(STIFFNESS)

    for joint, error in zip(FR3.joints, left_rad.tolist()):
        # Half as much again, as friction differs from arm to arm.
        assert 0 < 1.5 * error < Tolerances().goal_rad
        assert error < parameters(ARM)['constraints'][joint]['goal']
