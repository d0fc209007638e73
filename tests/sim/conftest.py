"""A simulated arm to hold things with, and motions to move it by."""

from collections.abc import Callable

import mink
import numpy as np
import pytest

from bbllm.arm.controllers.trajectory_goal import TrajectoryGoal, goal_from_trajectory
from bbllm.arm.driver import Array, FollowResult, JointTrajectory, Tolerances
from bbllm.robots.fr3 import FR3
from bbllm.robots.robot_model import TCP_SITE
from bbllm.scene.scene_file import SceneFile, load_scene, make_scene
from bbllm.sim.driver import SimDriver
from bbllm.sim.robot import SimulatedRobot
from bbllm.sim.simulation import Simulation


def rest_to_rest(start: Array, end: Array, duration_s: float) -> JointTrajectory:
    """Return a motion that is one quintic from rest to rest."""
    x = np.linspace(0.0, 1.0, 41)[:, None]
    way = np.asarray(end) - np.asarray(start)
    return JointTrajectory(
        time_s=x[:, 0] * duration_s,
        position_rad=start + way * (10 * x**3 - 15 * x**4 + 6 * x**5),
        velocity_rad_s=way * (30 * x**2 - 60 * x**3 + 30 * x**4) / duration_s,
        acceleration_rad_s2=way * (60 * x - 180 * x**2 + 120 * x**3) / duration_s**2,
    )


def joints_above(position_m: Array, start: Array) -> Array:
    """Return joint positions that put the TCP at a position, pointing down."""
    model = FR3.arm_model()
    configuration = mink.Configuration(model, np.array(start))
    target = np.diag([1.0, -1.0, -1.0, 1.0])
    target[:3, 3] = position_m
    task = mink.FrameTask(TCP_SITE, 'site', position_cost=1.0, orientation_cost=1.0)
    task.set_target(mink.SE3.from_matrix(target))
    for _ in range(100):
        velocity = mink.solve_ik(
            configuration, [task], 0.1, 'daqp', limits=[mink.ConfigurationLimit(model)]
        )
        configuration.integrate_inplace(velocity, 0.1)
        if np.abs(task.compute_error(configuration)).max() < 1e-6:
            return configuration.q.copy()
    raise AssertionError(f'no joint positions found for {position_m}')


class Arm:
    """A simulated arm with its driver, and where it was last sent."""

    def __init__(self, scene: SceneFile):
        self.simulation = Simulation(scene)
        self.robot = SimulatedRobot(self.simulation)
        self.driver = SimDriver(self.robot)
        self.q: Array = FR3.home_rad.copy()

    def go(self, *position_m: float, duration_s: float = 1.0) -> FollowResult:
        """Move the TCP to a position, straight in joint space."""
        goal = joints_above(np.array(position_m), self.q)
        result = self.driver.follow(rest_to_rest(self.q, goal, duration_s), Tolerances())
        self.q = goal
        return result

    @property
    def in_hand(self) -> dict[str, Array]:
        """Where objects are in the frame of the TCP."""
        site = self.simulation.data.site(TCP_SITE)
        R = site.xmat.reshape(3, 3)
        return {
            name: R.T @ (np.array(pose.position_m) - site.xpos)
            for name, pose in self.simulation.object_poses().items()
        }


@pytest.fixture(name='rest_to_rest')
def _rest_to_rest() -> Callable[[Array, Array, float], JointTrajectory]:
    return rest_to_rest


@pytest.fixture
def robot() -> SimulatedRobot:
    """A robot over an empty table."""
    return SimulatedRobot(Simulation(load_scene('empty_table')))


@pytest.fixture
def turn() -> TrajectoryGoal:
    """A goal that turns the base by half a radian in two seconds."""
    end = FR3.home_rad + np.array([0.5, 0, 0, 0, 0, 0, 0])
    return goal_from_trajectory(FR3, rest_to_rest(FR3.home_rad, end, 2.0), Tolerances())


@pytest.fixture
def make_arm() -> Callable[..., Arm]:
    """Make an arm at a table with objects, each a dictionary as in a scene file."""

    def make(*objects: dict[str, object]) -> Arm:
        return Arm(make_scene({'objects': objects}))

    return make
