"""
The Franka Research 3 with the Franka Hand.

Two sets of joint limits are in the field. Robots with system image 5.9.0 or later have wider
position limits and slower velocity curves near the stops; older images, franka_description 1.x
and the rate limiter that franka_hardware calls have the narrower ones. What is planned here is
legal under both.

Sources: Franka's control-parameters-joint-fr3.csv (old and current), its limits in Cartesian
space, libfranka's `joint_velocity_limits.cpp` and `rate_limiting.h`, and franka_description's
`robots/fr3/kinematics.yaml`. The MuJoCo model has lengths and limits too; a test compares them.
"""

from importlib.resources import files

import mujoco
import numpy as np

from bbllm.robots.joint_limits import BrakingCurve, JointLimits
from bbllm.robots.kinematics import ArmKinematics, ChainLengths
from bbllm.robots.robot_model import HandModel, RobotModel, ServoModel, ToolLimits
from bbllm.skills.grasps import MAX_WIDTH_M


def _source() -> mujoco.MjSpec:
    return mujoco.MjSpec.from_string(files(__name__).joinpath('fr3.xml').read_text('utf-8'))


_DECELERATION = np.array([12.0, 5.17, 7.0, 8.0, 34.0, 11.0, 34.0])
_LIMITS = JointLimits(
    # The old ones, inside the current ones.
    lower_rad=np.array([-2.7437, -1.7837, -2.9007, -3.0421, -2.8065, 0.5445, -3.0159]),
    upper_rad=np.array([2.7437, 1.7837, 2.9007, -0.1518, 2.8065, 4.5169, 3.0159]),
    velocity_rad_s=np.array([2.62, 2.62, 2.62, 2.62, 5.26, 4.18, 5.26]),
    acceleration_rad_s2=np.full(7, 10.0),
    jerk_rad_s3=np.full(7, 5000.0),
    torque_nm=np.array([87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0]),
    collision_stop_rad_s2=np.array([20.0, 20.0, 20.0, 20.0, 40.0, 40.0, 40.0]),
    braking=(
        BrakingCurve(  # documented since system 5.9.0
            lower_stop_rad=np.array(
                [-2.9007, -1.8361, -2.9007, -3.0770, -2.8763, 0.4398, -3.0508]
            ),
            upper_stop_rad=np.array([2.9007, 1.8361, 2.9007, -0.1169, 2.8763, 4.6216, 3.0508]),
            offset_rad_s=np.array([0.6599, 0.2517, 0.2000, 0.3533, 0.5757, 0.4878, 0.4628]),
            twice_deceleration=_DECELERATION,
        ),
        BrakingCurve(  # fixed constants of rate_limiting.h
            lower_stop_rad=np.array(
                [-2.75010, -1.79180, -2.90650, -3.0481, -2.81010, 0.54092, -3.01960]
            ),
            upper_stop_rad=np.array(
                [2.75010, 1.79180, 2.90650, -0.1458, 2.81010, 4.52050, 3.01960]
            ),
            offset_rad_s=np.array([0.30, 0.20, 0.20, 0.30, 0.35, 0.35, 0.35]),
            twice_deceleration=_DECELERATION,
        ),
    ),
)
LENGTHS = ChainLengths(
    shoulder_m=0.333,
    upper_arm_m=0.316,
    forearm_m=0.384,
    elbow_m=0.0825,
    wrist_m=0.088,
    flange_m=0.107,
    hand_turn_rad=-np.pi / 4,
    tcp_m=0.1034,
)
FR3 = RobotModel(
    name='fr3',
    title='Franka Research 3',
    source=_source,
    links=tuple(f'fr3_link{i}' for i in range(8)),
    flange_link='fr3_link8',
    tcp_link='fr3_hand_tcp',
    joints=tuple(f'fr3_joint{i}' for i in range(1, 8)),
    limits=_LIMITS,
    tool=ToolLimits(
        speed_m_s=3.0, acceleration_m_s2=9.0, turn_speed_rad_s=2.5, turn_acceleration_rad_s2=17.0
    ),
    kinematics=ArmKinematics(LENGTHS, _LIMITS.lower_rad, _LIMITS.upper_rad),
    home_rad=np.array([0.0, -np.pi / 4, 0.0, -3 * np.pi / 4, 0.0, np.pi / 2, np.pi / 4]),
    # An elbow that swings out (joints 3 and 5) sweeps neighbours.
    comfort_s_rad2=np.array([0.0, 0.2, 0.6, 0.1, 0.5, 0.1, 0.0]),
    lever_m=np.array([0.9, 0.9, 0.7, 0.6, 0.35, 0.3, 0.2]),
    servos=ServoModel(
        stiffness_nm_rad=np.array([4500.0, 4500.0, 3500.0, 3500.0, 2000.0, 2000.0, 2000.0]),
        # The gains of config/franka/controllers.yaml.
        controller_stiffness_nm_rad=np.array([600.0, 600.0, 600.0, 600.0, 250.0, 150.0, 50.0]),
        lag_s=0.1,
        overshoot=1.55,  # measured in simulation (design/lift-off.md)
    ),
    hand=HandModel(
        body='fr3_hand',
        fingers=('fr3_leftfinger', 'fr3_rightfinger'),
        joints=('fr3_finger_joint1', 'fr3_finger_joint2'),
        pads=('fr3_leftfinger_pad', 'fr3_rightfinger_pad'),
        actuator='fr3_hand',
        max_width_m=MAX_WIDTH_M,
        max_speed_m_s=0.1,  # 50 mm/s per finger, from the hand's data sheet
        max_force_n=140.0,  # peak from the data sheet; 70 N is what the hand can keep up
    ),
)
