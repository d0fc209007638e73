"""Judges what a robot, its hand and the connection to them report."""

from collections.abc import Iterator

import numpy as np

from bbllm.arm.robot_settings import T_FLANGE_NOMINAL
from bbllm.arm.robot_state import Mounted
from bbllm.core.findings import Finding, fail, ok, warn
from bbllm.robots.fr3 import FR3
from bbllm_franka.arm_link import check_machine
from bbllm_franka.driver import check_load
from bbllm_franka.errors import LoadError, SlowMachineError, UnhomedError
from bbllm_franka.hand import HandLink
from bbllm_franka.messages import ENFORCE, LinkQuality

HAND_KG = 0.73
"""Mass of the Franka Hand in Desk, by Franka's product manual."""
NEAR_KG, NEAR_M = 0.2, 0.005
"""How far mass and frame of the end effector may be from those of the hand as shipped."""


def judge_quality(quality: LinkQuality, *, simulated: bool) -> Finding:
    """Judge how this computer kept up with a robot at rest."""
    rank = 'with' if quality.prioritized else 'without'
    text = (
        f'{quality.share:.1%} of the states of half a second were read in their turn, the longest '
        f'gap was {quality.widest_s * 1e3:.0f} ms; {rank} real-time priority'
    )
    try:
        check_machine(quality, ENFORCE)
    except SlowMachineError as error:
        judge = warn if simulated else fail
        return judge('keep-up', text, error.remedy)
    return ok('keep-up', text)


def judge_tool(mounted: Mounted, load_kg: float) -> Iterator[Finding]:
    """Judge the end effector and the load that are set in a robot."""
    mass_kg, T_flange_ee = mounted.tool.mass_kg, mounted.T_flange_ee
    text = f'{mass_kg:.2f} kg, {T_flange_ee[2, 3] * 1e3:.0f} mm along the axis of the flange'
    if abs(mass_kg - HAND_KG) < NEAR_KG and np.allclose(
        T_flange_ee, T_FLANGE_NOMINAL, atol=NEAR_M
    ):
        yield ok('tool', f'{text}: that of a Franka Hand')
    else:
        yield warn(
            'tool',
            f'{text}; a Franka Hand has {HAND_KG:g} kg and {T_FLANGE_NOMINAL[2, 3] * 1e3:.0f} mm',
            'Select the Franka Hand as end effector in Desk under Settings: with another mass '
            'the robot takes the difference for a force.',
        )
    set_kg = mounted.load.mass_kg
    try:
        check_load(set_kg, load_kg)
    except LoadError as error:
        yield fail('load', error.fact, error.remedy)
    else:
        yield ok('load', f'{set_kg:g} kg, as stated')


def judge_hand(hand: HandLink) -> Finding:
    """Judge the state of a hand, as it was sent last."""
    text = (
        f'answers with version {hand.server_version} of its protocol; the fingers are '
        f'{hand.last_width_m * 1e3:.0f} mm apart'
    )
    try:
        hand.need_homed(FR3.hand)
    except UnhomedError as error:
        return fail('hand', error.fact, error.remedy)
    return ok('hand', f'{text}, and open to {hand.max_width_m * 1e3:.0f} mm')
