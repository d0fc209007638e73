"""`turn_on(object)`: turn the knob of a stove on."""

from bbllm.core.types import Skill
from bbllm_libero.panda import Panda, Result
from bbllm_libero.skills.fixtures import hand_full, joint_of, pull
from bbllm_libero.skills.skill import PandaSkill


def _run(panda: Panda, args: tuple[str, ...], held: str | None) -> Result:
    (name,) = args
    turn = joint_of(panda.task, name, 'turnon', 'turned on')
    if isinstance(turn, Result):
        return turn
    return hand_full(name, 'turned on', held) or pull(panda, name, turn, 'turned on')


TURN_ON = PandaSkill(
    Skill(
        'turn_on',
        ('object',),
        'turn the knob of a stove on; the hand has to be empty',
        ('switch_on',),
    ),
    _run,
)
