"""`open(object)`: grip the handle of a drawer or door, and open it."""

from bbllm.core.types import Skill
from bbllm_libero.panda import Panda, Result
from bbllm_libero.skills.fixtures import hand_full, joint_of, pull
from bbllm_libero.skills.skill import PandaSkill


def _run(panda: Panda, args: tuple[str, ...], held: str | None) -> Result:
    (name,) = args
    turn = joint_of(panda.task, name, 'open', 'opened')
    if isinstance(turn, Result):
        return turn
    return hand_full(name, 'opened', held) or pull(panda, name, turn, 'opened')


OPEN_IT = PandaSkill(
    Skill(
        'open',
        ('object',),
        'open a drawer, named by its region, or the door of a fixture; the hand has to be empty',
        (),
    ),
    _run,
)
