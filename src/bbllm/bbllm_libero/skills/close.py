"""`close(object)`: push a drawer or door shut."""

from bbllm.core.types import Skill
from bbllm_libero.panda import Panda, Result
from bbllm_libero.skills.fixtures import hand_full, joint_of, press
from bbllm_libero.skills.skill import PandaSkill


def _run(panda: Panda, args: tuple[str, ...], held: str | None) -> Result:
    (name,) = args
    turn = joint_of(panda.task, name, 'close', 'closed')
    if isinstance(turn, Result):
        return turn
    return hand_full(name, 'closed', held) or press(panda, name, turn, 'closed')


CLOSE_IT = PandaSkill(
    Skill(
        'close',
        ('object',),
        'push a drawer, named by its region, or the door of a fixture shut; the hand has to be '
        'empty',
        ('shut',),
    ),
    _run,
)
