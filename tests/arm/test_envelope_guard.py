"""The guard of the safety envelope by itself: motions that it refuses, and those it lets pass."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bbllm.arm.driver import Array, JointTrajectory
from bbllm.arm.envelope import SafetyEnvelope
from bbllm.arm.failures import SkillError
from bbllm.arm.kinematics import forward
from bbllm.arm.limits import Q_READY
from bbllm.arm.motion.trajectory import joint_move
from bbllm.arm.safety.envelope_guard import EnvelopeGuard
from bbllm.core.types import Code, Kind, Pose, Scene, SceneObject
from bbllm.skills.grasps import Hand
from bbllm.skills.shapes import pose_of_matrix
from bbllm.worlds.scene.relations import build_scene


def test_a_way_that_leads_through_a_box_is_refused_by_the_guard_too() -> None:
    box = {'name': 'laptop', 'min_m': [0.1, -0.6, 0.2], 'max_m': [0.6, -0.3, 0.8]}
    guard = EnvelopeGuard(SafetyEnvelope.model_validate({'keep_out': [box]}))

    with pytest.raises(SkillError, match=r'keep_out forbids turning: fr3_\w+ would enter laptop'):
        guard.check_motion(joint_move(Q_READY, turned(-1.2)), 'turning')

    guard.check_motion(joint_move(Q_READY, turned(1.2)), 'turning')


def turned(angle_rad: float) -> Array:
    return np.concatenate([[angle_rad], Q_READY[1:]])


def test_a_scene_that_was_never_heard_of_is_said_to_be_so() -> None:
    guard = EnvelopeGuard(SafetyEnvelope(), scene_age_s=lambda: math.inf)

    with pytest.raises(SkillError, match='the scene has never been heard of'):
        guard.check_motion(joint_move(Q_READY, turned(0.1)), 'turning')


def test_an_arm_outside_may_come_back_but_not_go_further() -> None:
    out, further = turned(0.6), turned(0.9)
    edge = float(forward(turned(0.4))[1, 3])
    workspace = {'min_m': [-1.0, -1.0, -0.02], 'max_m': [1.0, edge, 1.2]}
    guard = EnvelopeGuard(SafetyEnvelope.model_validate({'workspace': workspace}))

    guard.check_motion(joint_move(out, Q_READY), 'coming back')
    guard.check_motion(joint_move(further, out), 'coming nearer')
    for goal in (further, out):
        with pytest.raises(SkillError, match='rule workspace'):
            guard.check_motion(joint_move(out, goal), 'staying out')


def test_numbers_that_are_none_are_refused() -> None:
    move = joint_move(Q_READY, turned(0.2))
    broken = np.array(move.position_rad)
    broken[1, 3] = math.nan
    strange = JointTrajectory(
        time_s=move.time_s,
        position_rad=broken,
        velocity_rad_s=move.velocity_rad_s,
        acceleration_rad_s2=move.acceleration_rad_s2,
    )

    with pytest.raises(SkillError) as caught:
        EnvelopeGuard(SafetyEnvelope()).check_motion(strange, 'turning')

    assert caught.value.code is Code.UNSAFE


def holding(name: str, size_m: tuple[float, float, float], below_m: float) -> tuple[Scene, Hand]:
    """Return a scene in which the hand at rest holds a thing, its centre so far below the TCP."""
    tcp = pose_of_matrix(forward(Q_READY).tolist())
    x, y, z = tcp.position_m
    item = SceneObject(
        name=name, kind=Kind.CUBE, pose=Pose(position_m=(x, y, z - below_m)), size_m=size_m
    )
    hand = Hand(tcp=tcp, width_m=size_m[0])
    scene = build_scene([item], hand, skills=(), stamp_s=0.0, now_s=0.0)
    return scene, hand


@pytest.mark.parametrize('carried', [True, False])
def test_what_is_held_counts_as_the_hand_does(carried: bool) -> None:
    low_m = float(forward(Q_READY)[2, 3]) - 0.02  # so far below the hand it ends, if held
    guard = EnvelopeGuard(SafetyEnvelope())
    scene, hand = holding('pole', (0.02, 0.02, 0.2), low_m - 0.1)
    guard.look(scene, hand)
    guard.carry('pole' if carried else None, hand)
    move = joint_move(Q_READY, Q_READY + np.array([0, 0.1, 0, 0, 0, 0, 0]))

    if carried:
        with pytest.raises(SkillError, match='table_height forbids leaning: pole would come down'):
            guard.check_motion(move, 'leaning')
    else:
        guard.check_motion(move, 'leaning')
