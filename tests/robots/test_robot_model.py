"""Robots as values: what holds for each that is installed, and what is refused."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pytest

import bbllm.robots
from bbllm.core.errors import ConfigError, SceneFileError, UnknownNameError
from bbllm.core.plugins import Plugin
from bbllm.robots import ArmKinematics, RobotModel, load_robot, registry, robot_names
from bbllm.robots.fr3 import FR3
from bbllm.robots.joint_limits import Q_MARGIN_RAD
from bbllm.scene.scene_file import load_scene, make_scene
from bbllm.sim.simulation import Simulation

ROBOTS = [pytest.param(load_robot(name), id=name) for name in robot_names()]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Plugin]]:
    """Entry points in place of the installed ones."""
    points: list[Plugin] = []
    monkeypatch.setattr(registry, 'installed', lambda group: tuple(points))
    load_robot.cache_clear()
    yield points
    load_robot.cache_clear()


def point(name: str, value: str) -> Plugin:
    return Plugin(registry.GROUP, name, value, '')


def test_the_public_names_of_robots_resolve() -> None:
    assert all(getattr(bbllm.robots, name) is not None for name in bbllm.robots.__all__)
    assert not hasattr(bbllm.robots, 'numpy')


@pytest.mark.parametrize('robot', ROBOTS)
def test_ranges_and_torques_of_the_model_are_the_limits(robot: RobotModel) -> None:
    model, limits = robot.arm_model(), robot.limits

    np.testing.assert_allclose(model.jnt_range, np.stack([limits.lower_rad, limits.upper_rad], 1))
    np.testing.assert_allclose(model.actuator_forcerange[:, 1], limits.torque_nm)
    assert limits.within(robot.home_rad)


@pytest.mark.parametrize('robot', ROBOTS)
def test_the_kinematics_are_those_of_the_model_and_their_inverse(robot: RobotModel) -> None:
    model, arm, random = robot.arm_model(), robot.kinematics, np.random.default_rng(3)
    data, limits = mujoco.MjData(model), robot.limits

    for q in random.uniform(limits.lower_rad + 0.03, limits.upper_rad - 0.03, size=(40, 7)):
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        frames = arm.link_frames(q)
        for name, frame in zip(robot.links[1:], frames, strict=False):
            np.testing.assert_allclose(frame[:3, 3], data.body(name).xpos, atol=1e-9)
        np.testing.assert_allclose(frames[9, :3, 3], data.site('tcp').xpos, atol=1e-9)
        found = arm.inverse_branches(arm.forward(q), q[6:]).reshape(-1, 7)
        assert np.nanmin(np.abs(found - q).max(axis=1)) < 1e-6


@pytest.mark.parametrize('robot', ROBOTS)
def test_velocity_limits_have_the_shape_of_positions_and_fall_nowhere_below_zero(
    robot: RobotModel,
) -> None:
    limits = robot.limits
    q = np.linspace(limits.lower_rad - 0.1, limits.upper_rad + 0.1, 50)
    lower, upper = limits.velocity_limits(q)

    assert lower.shape == upper.shape == limits.speed_limits(q, q).shape == q.shape
    assert (lower <= 0).all() and (upper >= 0).all() and (upper < limits.velocity_rad_s).all()


@pytest.mark.parametrize('robot', ROBOTS)
def test_a_simulation_of_a_scene_begins_with_its_robot_at_home(robot: RobotModel) -> None:
    simulation = Simulation(make_scene({'robot': robot.name}))

    assert simulation.robot_model is robot
    np.testing.assert_array_equal(simulation.joint_state().position_rad, robot.home_rad)
    assert simulation.width_m == robot.hand.max_width_m


def test_limits_keep_a_margin() -> None:
    q = FR3.limits.upper_rad - Q_MARGIN_RAD

    assert FR3.limits.within(q - 1e-9)
    assert not FR3.limits.within(q + 1e-9)
    assert FR3.limits.within(q + 1e-9, 0.0)


def test_an_unknown_robot_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"no robot named 'fr4'.*'fr3'\? Known: .*fr3"):
        load_robot('fr4')


def test_a_scene_with_an_unknown_robot_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SceneFileError, match=r"robot 'ur5' is unknown. Known: .*fr3"):
        make_scene({'robot': 'ur5'})


def test_the_default_robot_is_not_written_into_scenes() -> None:
    assert 'robot' not in load_scene('plus_sign').model_dump()


def test_a_robot_whose_joints_are_not_those_of_its_model_is_refused_with_both_lists() -> None:
    misnamed = replace(FR3, name='odd', joints=tuple(f'odd_joint{i}' for i in range(1, 8)))

    with pytest.raises(ConfigError) as caught:
        misnamed.spec()
    text = str(caught.value)
    assert text.startswith('The robot odd does not match its MuJoCo model')
    assert ', '.join(misnamed.all_joints) in text
    assert ', '.join(FR3.all_joints) in text


def test_a_robot_whose_bodies_are_in_another_order_is_refused() -> None:
    with pytest.raises(ConfigError, match='names the bodies fr3_link7, fr3_link6'):
        replace(FR3, links=FR3.links[::-1]).arm_model()


def test_what_is_no_robot_model_is_refused(installed: list[Plugin]) -> None:
    installed.append(point('odd', 'bbllm.robots.registry:GROUP'))

    with pytest.raises(ConfigError, match=r'bbllm.robots.registry:GROUP is str and no RobotModel'):
        load_robot('odd')


WIDE = replace(FR3, name='wide', hand=replace(FR3.hand, max_width_m=0.1))


def test_a_robot_with_another_hand_is_refused_as_skills_plan_for_one(
    installed: list[Plugin],
) -> None:
    installed.append(point('wide', f'{__name__}:WIDE'))

    with pytest.raises(ConfigError, match=r'opens to 0.1 m. Skills plan grasps for the Franka'):
        load_robot('wide')


def longer() -> mujoco.MjSpec:
    spec = FR3.spec()
    spec.body('fr3_link5').pos[1] += 0.05
    return spec


def without_tool() -> mujoco.MjSpec:
    spec = FR3.spec()
    spec.delete(spec.site('tcp'))
    return spec


def limited(**changes: Any) -> RobotModel:
    return replace(FR3, name='odd', limits=replace(FR3.limits, **changes))


ODD: Any = None
"""The robot of another package that a test installs."""
LENGTHS = FR3.kinematics.lengths
ENDS = FR3.limits.lower_rad, FR3.limits.upper_rad


def arm(**lengths: float) -> ArmKinematics:
    return ArmKinematics(replace(LENGTHS, **lengths), *ENDS)


NO_MATCH = 'The robot odd does not match its MuJoCo model: '


@pytest.mark.parametrize(
    ('robot', 'wording'),
    [
        (
            replace(FR3, name='odd', kinematics=arm(forearm_m=LENGTHS.forearm_m + 0.05)),
            f'{NO_MATCH}at home its kinematics put the tool at (0.357, 0.000, 0.487) m, the model '
            'at (0.307, 0.000, 0.487) m. Lengths in ChainLengths and bodies in source() have',
        ),
        (
            replace(FR3, name='odd', kinematics=arm(hand_turn_rad=0.0)),
            'turned by 45 degrees. Lengths',
        ),
        (
            replace(FR3, name='odd', kinematics=None),  # type: ignore[arg-type]
            'has kinematics that are NoneType, and needs ArmKinematics(',
        ),
        (limited(torque_nm=np.ones(6)), 'torque_nm as ndarray of shape (6,), and needs'),
        (replace(FR3, name='odd', home_rad=np.zeros(7)), 'odd has home_rad (0.000, 0.000, 0.000'),
        (
            limited(lower_rad=ENDS[0] - 0.5),
            f'{NO_MATCH}the limits of fr3_joint1 are (-3.244, 2.744) rad, and have to lie',
        ),
        (
            replace(FR3, name='odd', source=without_tool),
            f"{NO_MATCH}that has no site 'tcp', which",
        ),
        (
            replace(FR3, name='odd', source=lambda: 1 / 0),
            'has a source() that does not compile (ZeroDivisionError: division by zero)',
        ),
        (FR3, 'The robot fr3 is installed under the name odd: '),
    ],
)
def test_a_robot_of_another_package_that_contradicts_itself_is_refused(
    installed: list[Plugin], monkeypatch: pytest.MonkeyPatch, robot: RobotModel, wording: str
) -> None:
    monkeypatch.setitem(globals(), 'ODD', robot)
    installed.append(point('odd', f'{__name__}:ODD'))

    with pytest.raises(ConfigError) as caught:
        load_robot('odd')
    assert wording in str(caught.value)


def test_a_robot_of_another_package_may_have_other_lengths(
    installed: list[Plugin], monkeypatch: pytest.MonkeyPatch
) -> None:
    robot = replace(
        FR3, name='odd', source=longer, kinematics=arm(forearm_m=LENGTHS.forearm_m + 0.05)
    )
    monkeypatch.setitem(globals(), 'ODD', robot)
    installed.append(point('odd', f'{__name__}:ODD'))

    assert load_robot('odd') is robot


def test_an_installation_of_an_earlier_version_is_named_with_what_renews_it(
    installed: list[Plugin],
) -> None:
    installed.clear()

    with pytest.raises(ConfigError, match='those of an earlier version'):
        load_robot('fr3')


def test_a_robot_that_cannot_be_imported_names_its_package(installed: list[Plugin]) -> None:
    installed.append(point('odd', 'no_such_package:ROBOT'))

    with pytest.raises(ConfigError, match=r'no_such_package:ROBOT cannot be imported \(Module'):
        load_robot('odd')


def test_two_robots_of_one_name_are_refused(installed: list[Plugin]) -> None:
    installed += [point('odd', 'one:ROBOT'), point('odd', 'other:ROBOT')]

    with pytest.raises(ConfigError, match='Two robots are named odd: one:ROBOT and other:ROBOT'):
        load_robot('odd')
