"""
Facts of the FR3 with the Franka Hand as ROS describes it, for tests.

Sources: franka_description 1.0.1 (commit 566ba44), robots/fr3/fr3.urdf.xacro and fr3.srdf.xacro
expanded by xacro 2.1.1 with their defaults; franka_ros2 3.4.0, franka_fr3_moveit_config/config.
"""

import math
from dataclasses import dataclass

Triple = tuple[float, float, float]
PI = math.pi


@dataclass(frozen=True)
class Joint:
    """One joint, in SI units."""

    name: str
    kind: str
    parent: str
    child: str
    xyz: Triple = (0, 0, 0)
    rpy: Triple = (0, 0, 0)
    axis: Triple | None = None
    lower: float = 0
    upper: float = 0
    effort: float = 0
    velocity: float = 0


def arm_joint(
    i: int, xyz: Triple, roll: float, lower: float, upper: float, effort: float, velocity: float
) -> Joint:
    return Joint(
        f'fr3_joint{i}',
        'revolute',
        f'fr3_link{i - 1}',
        f'fr3_link{i}',
        xyz,
        (roll, 0, 0),
        (0, 0, 1),
        lower,
        upper,
        effort,
        velocity,
    )


def finger_joint(i: int, child: str, yaw: float) -> Joint:
    return Joint(
        f'fr3_finger_joint{i}',
        'prismatic',
        'fr3_hand',
        child,
        (0, 0, 0.0584),
        (0, 0, yaw),
        (0, 1, 0),
        0,
        0.04,
        100,
        0.2,
    )


JOINTS = (
    Joint('fr3_base_joint', 'fixed', 'base', 'fr3_link0'),
    arm_joint(1, (0, 0, 0.333), 0, -2.7437, 2.7437, 87, 2.62),
    arm_joint(2, (0, 0, 0), -PI / 2, -1.7837, 1.7837, 87, 2.62),
    arm_joint(3, (0, -0.316, 0), PI / 2, -2.9007, 2.9007, 87, 2.62),
    arm_joint(4, (0.0825, 0, 0), PI / 2, -3.0421, -0.1518, 87, 2.62),
    arm_joint(5, (-0.0825, 0.384, 0), -PI / 2, -2.8065, 2.8065, 12, 5.26),
    arm_joint(6, (0, 0, 0), PI / 2, 0.5445, 4.5169, 12, 4.18),
    arm_joint(7, (0.088, 0, 0), PI / 2, -3.0159, 3.0159, 12, 5.26),
    Joint('fr3_joint8', 'fixed', 'fr3_link7', 'fr3_link8', (0, 0, 0.107)),
    Joint('fr3_hand_joint', 'fixed', 'fr3_link8', 'fr3_hand', rpy=(0, 0, -PI / 4)),
    Joint('fr3_hand_tcp_joint', 'fixed', 'fr3_hand', 'fr3_hand_tcp', (0, 0, 0.1034)),
    finger_joint(1, 'fr3_leftfinger', 0),
    finger_joint(2, 'fr3_rightfinger', PI),
)
MIMIC = {'fr3_finger_joint2': 'fr3_finger_joint1'}
SAFETY = {'k_position': 100.0, 'k_velocity': 40.0}
"""Of the joints of the arm; their soft limits are their limits."""
DYNAMICS = {'revolute': {'damping': 0.003, 'friction': 0.2}, 'prismatic': {'damping': 0.3}}

_FINGER = (0.0291, (0, 0.0152850, 0.0219675), (8.49e-6, 8.53e-6, 1.77e-6, 0, 0, -1.06e-6))
INERTIALS: dict[str, tuple[float, Triple, tuple[float, ...]]] = {
    'fr3_link0': (2.3966, (-0.0172, 0.0004, 0.0745), (0.0090, 0.0115, 0.0085, 0, 0.0020, 0)),
    'fr3_link1': (
        2.9274653454,
        (0.0000004128, -0.0181251324, -0.0386035970),
        (0.0239273165, 0.0224821613, 0.00635009826, 1.33179e-5, -1.14047749e-4, -1.99503206e-3),
    ),
    'fr3_link2': (
        2.9355370338,
        (0.0031828864, -0.0743221644, 0.0088146084),
        (0.0419389463, 0.0251451489, 0.0617021447, 0.000202573315, 0.00407778423, -0.0042252158),
    ),
    'fr3_link3': (
        2.2449013699,
        (0.0407015686, -0.0048200565, -0.0289730823),
        (0.0241014255, 0.0197405327, 0.0190444945, 0.00240469456, -0.00285626927, -0.00210421268),
    ),
    'fr3_link4': (
        2.6155955791,
        (-0.0459100965, 0.0630492960, -0.0085187868),
        (0.0345299832, 0.0288816219, 0.0412547117, 0.0132255227, 0.01015143, -0.000976283387),
    ),
    'fr3_link5': (
        2.3271207594,
        (-0.0016039605, 0.0292536262, -0.0972965990),
        (0.0516102785, 0.0478772971, 0.0164236256, -0.00571517339, -0.00356731676, 0.0106739851),
    ),
    'fr3_link6': (
        1.8170376524,
        (0.0597131221, -0.0410294666, -0.0101692726),
        (0.00541233359, 0.0140583295, 0.0160808179, 0.00619345636, 0.00142192893, -0.00131407537),
    ),
    'fr3_link7': (
        0.6271432862,
        (0.0045225817, 0.0086261921, -0.0161633251),
        (2.10923892e-4, 1.7718568e-4, 5.9931906e-5, -2.4332991e-5, 4.5644804e-5, 8.7440702e-5),
    ),
    'fr3_hand': (
        0.6544,
        (-0.0000376, 0.0119128, 0.0207260),
        (0.00186, 0.00030, 0.00174, 0, 0, -0.00002),
    ),
    'fr3_leftfinger': _FINGER,
    'fr3_rightfinger': _FINGER,
}  # fmt: skip
"""Mass [kg], centre of mass [m], and ixx, iyy, izz, ixy, ixz, iyz about it [kg m^2]."""

UNCHECKED = {
    frozenset((f'fr3_{a}', f'fr3_{b}'))
    for a, others in {
        'link0': 'link1 link2 link3 link4',
        'link1': 'link2 link3 link4',
        'link2': 'link3 link4 link6',
        'link3': 'link4 link5 link6 link7',
        'link4': 'link5 link6 link7 link8',
        'link5': 'link6 link7',
        'link6': 'link7 link8',
        'link7': 'link8',
        'hand': 'leftfinger rightfinger link3 link4 link6 link7 link8',
        'leftfinger': 'rightfinger link3 link4 link6 link7 link8',
        'rightfinger': 'link3 link4 link6 link7 link8',
    }.items()
    for b in others.split()
}
"""Pairs of links whose collisions MoveIt does not look for."""
