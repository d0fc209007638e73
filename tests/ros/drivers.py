"""What tests do to a driver over DDS: motions, faults and recoveries."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bbllm.arm.driver import JointTrajectory
from bbllm.arm.execution.recovery import Recovery
from bbllm.arm.stop_causes import Stop
from bbllm.core.cancel import CancelToken
from bbllm_ros.driver.ros_driver import RosDriver
from bbllm_ros.rclpy_support.fast_subscription import Poller
from tests.ros.stacks import Running


def driver_of(sim: Running, **options: Any) -> RosDriver:
    poller = Poller(sim.client.node)  # type: ignore[arg-type]  # it only subscribes
    driver = RosDriver(sim.client.node, poller, sim.client.group, **options)
    poller.start()
    return driver


def recover(driver: RosDriver, allow: Callable[[], bool] = lambda: False) -> Stop:
    """Recover as the executor does, with somebody who says whether it may."""
    recovery = Recovery(driver, lambda what, cancel: allow(), lambda _: None)
    return recovery.run('testing', CancelToken())


def move(driver: RosDriver, by_rad: float, duration_s: float) -> JointTrajectory:
    """Return a smooth motion of joint 1 from where it is, rest to rest."""
    start = driver.joint_state().position_rad
    goal = start.copy()
    goal[0] += by_rad
    zero = np.zeros((2, 7))
    return JointTrajectory(
        time_s=np.array([0.0, duration_s]),
        position_rad=np.array([start, goal]),
        velocity_rad_s=zero,
        acceleration_rad_s2=zero,
    )
