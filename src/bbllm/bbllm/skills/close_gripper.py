"""`close_gripper()`: close the fingers where the hand is."""

from collections.abc import Iterator

from bbllm.core.types import Fact, Scene, Skill, SkillCall
from bbllm.skills.segments import CloseHand, Motion
from bbllm.skills.skill import ArmSkill


def _risks(call: SkillCall, scene: Scene) -> Iterator[str]:
    if scene.held is None:
        yield 'it closes the fingers on whatever is between them'


CLOSE_GRIPPER = ArmSkill(
    signature=Skill('close_gripper', (), 'close the fingers where the hand is'),
    removes=(Fact('{empty hand}', 'is', 'empty'),),
    adds=(Fact('{empty hand}', 'is', 'empty', estimated=True),),
    plan=lambda call, scene, hand: Motion((CloseHand(),)),
    risks=_risks,
    words=('close gripper', 'close hand', 'close fingers'),
    forms=('close the gripper',),
)
