"""What the driver's state broadcaster publishes of a robot, simulated or not."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bbllm.arm.driver import Array, RobotMode
from bbllm.sim.robot_settings import Load


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotState:
    """The state of a robot at one moment; joints have shape (7,), poses (4, 4)."""

    time_s: float
    """The robot's own clock [s]."""
    mode: RobotMode
    success_rate: float
    """Share of the commands that came in time."""
    current_errors: tuple[str, ...]
    last_errors: tuple[str, ...]
    position_rad: Array
    velocity_rad_s: Array
    torque_nm: Array
    desired_rad: Array
    desired_rad_s: Array
    desired_rad_s2: Array
    desired_nm: Array
    """Torque without gravity [Nm]."""
    external_nm: Array
    """`tau_ext_hat_filtered` [Nm]."""
    contacts: NDArray[np.bool_]
    """What is above its lower threshold: joints, then force and torque, shape (13,)."""
    collisions: NDArray[np.bool_]
    """What is above its upper threshold, shape (13,)."""
    tool: Load
    """The end effector, in the flange frame."""
    load: Load
    T_flange_ee: Array
    """The tool's centre point in the flange frame."""
    T_ee_stiffness: Array
