"""`turn_off(object)`: turn the knob of a stove off."""

from bbllm.core.types import Skill
from bbllm_libero.panda import Panda, Result
from bbllm_libero.skills.fixtures import hand_full, joint_of, pull
from bbllm_libero.skills.skill import PandaSkill


def _run(panda: Panda, args: tuple[str, ...], held: str | None) -> Result:
    (name,) = args
    turn = joint_of(panda.task, name, 'turnoff', 'turned off')
    if isinstance(turn, Result):
        return turn
    return hand_full(name, 'turned off', held) or pull(panda, name, turn, 'turned off')


TURN_OFF = PandaSkill(
    Skill(
        'turn_off',
        ('object',),
        'turn the knob of a stove off; the hand has to be empty',
        ('switch_off',),
    ),
    _run,
)
