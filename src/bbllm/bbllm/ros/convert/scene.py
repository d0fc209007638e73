"""Scenes, and what the hand measures, to messages of bbllm_interfaces and back."""

from __future__ import annotations

from bbllm_interfaces.msg import HandReading as HandReadingMsg
from bbllm_interfaces.msg import Scene as SceneMsg

from bbllm.core.types import HandReading, Scene
from bbllm.ros.convert.records import (
    fact_from_msg,
    fact_to_msg,
    header,
    object_from_msg,
    object_to_msg,
    pose_from_msg,
    pose_to_msg,
    skill_from_msg,
    skill_to_msg,
    stamp_from_msg,
    vector_from_msg,
    vector_to_msg,
)


def hand_reading_to_msg(hand: HandReading) -> HandReadingMsg:
    return HandReadingMsg(
        tcp=pose_to_msg(hand.tcp),
        width=float(hand.width_m),
        has_force=hand.force_n is not None,
        force=vector_to_msg(hand.force_n or (0.0, 0.0, 0.0)),
    )


def hand_reading_from_msg(msg: HandReadingMsg) -> HandReading:
    return HandReading(
        tcp=pose_from_msg(msg.tcp),
        width_m=msg.width,
        force_n=vector_from_msg(msg.force) if msg.has_force else None,
    )


def scene_to_msg(scene: Scene) -> SceneMsg:
    hand = scene.hand
    return SceneMsg(
        header=header(scene.stamp_s),
        objects=[object_to_msg(item) for item in scene.objects],
        skills=[skill_to_msg(skill) for skill in scene.skills],
        facts=[fact_to_msg(fact) for fact in scene.facts],
        has_hand=hand is not None,
        hand=HandReadingMsg() if hand is None else hand_reading_to_msg(hand),
    )


def scene_from_msg(msg: SceneMsg) -> Scene:
    return Scene(
        objects=tuple(object_from_msg(item) for item in msg.objects),
        skills=tuple(skill_from_msg(skill) for skill in msg.skills),
        facts=tuple(fact_from_msg(fact) for fact in msg.facts),
        stamp_s=stamp_from_msg(msg.header.stamp),
        hand=hand_reading_from_msg(msg.hand) if msg.has_hand else None,
    )
