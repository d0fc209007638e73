"""What a robot reports of itself, simulated or not."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bbllm.arm.driver import Array, RobotMode
from bbllm.arm.robot_settings import Load


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotState:
    """The state of a robot at one moment; joints have shape (7,)."""

    robot_s: float
    """The robot's own clock [s]."""
    mode: RobotMode
    success_rate: float
    """Share of the commands of the last 100 ms that came in time; 0 outside motions."""
    current_errors: tuple[str, ...]
    last_errors: tuple[str, ...]
    position_rad: Array
    velocity_rad_s: Array
    set_point_rad: Array
    """Where the robot's own controller keeps or leads the arm, `q_d`."""
    set_point_rad_s: Array
    set_point_rad_s2: Array
    torque_nm: Array
    desired_nm: Array
    """`tau_J_d`, without gravity [Nm]."""
    external_nm: Array
    """`tau_ext_hat_filtered` [Nm]."""
    contacts: NDArray[np.bool_]
    """What is above its lower threshold: joints, then force and torque, shape (13,)."""
    collisions: NDArray[np.bool_]
    """What is above its upper threshold, shape (13,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mounted:
    """End effector and load that are set in a robot; poses have shape (4, 4)."""

    tool: Load
    """The end effector, in the flange frame."""
    load: Load
    T_flange_ee: Array
    """The tool's centre point in the flange frame."""
    T_ee_stiffness: Array
    """The stiffness frame in that of the tool's centre point."""
