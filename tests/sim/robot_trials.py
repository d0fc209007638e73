"""What is tried on the simulated robot: a turn of its base, and the way back from a stop."""

from collections.abc import Callable

import numpy as np

from bbllm.arm.driver import Array, JointTrajectory
from bbllm.robots.fr3 import FR3
from bbllm.sim.robot import SimulatedRobot

Motion = Callable[[Array, Array, float], JointTrajectory]
"""Makes a motion from rest to rest of start, end and duration."""
TURNED = FR3.home_rad + np.array([0.6, 0, 0, 0, 0, 0, 0])


def bring_back(robot: SimulatedRobot) -> None:
    """Recover in the three steps."""
    assert robot.recover_errors() is None
    assert robot.activate_hardware()
    assert robot.activate_controllers()
