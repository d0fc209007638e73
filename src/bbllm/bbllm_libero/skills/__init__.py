"""Skills of the Panda of robosuite, through its own controller: one file each."""

from bbllm_libero.panda import LiberoSkill
from bbllm_libero.skills.close import CLOSE_IT
from bbllm_libero.skills.open import OPEN_IT
from bbllm_libero.skills.pick import PICK
from bbllm_libero.skills.place import PLACE
from bbllm_libero.skills.push import PUSH
from bbllm_libero.skills.return_to_base import RETURN_TO_BASE
from bbllm_libero.skills.turn_off import TURN_OFF
from bbllm_libero.skills.turn_on import TURN_ON

SKILLS: tuple[LiberoSkill, ...] = (
    *(PICK, PLACE, OPEN_IT, CLOSE_IT, TURN_ON, TURN_OFF, PUSH),
    RETURN_TO_BASE,
)

__all__ = ['SKILLS']
