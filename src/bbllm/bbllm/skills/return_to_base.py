"""`return_to_base()`: move the arm back to where it started."""

from bbllm.core.types import Skill
from bbllm.skills.needs import FREE_WAY
from bbllm.skills.segments import Motion, ToBase
from bbllm.skills.skill import ArmSkill

RETURN_TO_BASE = ArmSkill(
    signature=Skill('return_to_base', (), 'move the arm back to where it started'),
    needs=(FREE_WAY,),
    plan=lambda call, scene, hand: Motion((ToBase(),)),
    words=('return to base', 'home', 'back base', 'to base'),
    forms=('return to the base',),
)
