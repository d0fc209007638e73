"""`wait(seconds)`: stand still."""

from bbllm.core.types import Skill
from bbllm.skills.segments import Motion, StandStill
from bbllm.skills.skill import ArmSkill

WAIT = ArmSkill(
    signature=Skill('wait', ('seconds',), 'stand still for up to 60 seconds'),
    plan=lambda call, scene, hand: Motion((StandStill(float(call.args[0])),)),
    moves=False,
    words=('wait', 'pause', 'stand still'),
    forms=('wait for {}',),
)
