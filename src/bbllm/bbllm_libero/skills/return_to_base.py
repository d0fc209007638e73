"""`return_to_base()`: move the hand back to where it began, over everything."""

from bbllm.core.types import Code, Skill
from bbllm_libero.panda import CLOSE, OPEN, Panda, Result
from bbllm_libero.skills.hand import tips_at
from bbllm_libero.skills.motion import move, reach_over
from bbllm_libero.skills.place import carry_over
from bbllm_libero.skills.skill import PandaSkill, done, failed

NEAR_M, NEAR_RAD = 0.02, 0.15
"""How near to its first pose the hand has returned."""


def _run(panda: Panda, args: tuple[str, ...], held: str | None) -> Result:
    first = tips_at(panda.task.tool)
    if held is None:
        reach_over(panda, first, 0.0)
    else:
        carry_over(panda, held, first)
    grip = OPEN if held is None else CLOSE
    if move(panda, first, grip, near_m=NEAR_M, near_rad=NEAR_RAD):
        return done(held)
    return failed(
        Code.GOAL_TOLERANCE,
        'The hand did not get back to where it began; what is in its way can be moved.',
        held,
    )


RETURN_TO_BASE = PandaSkill(
    Skill('return_to_base', (), 'move the hand back to where it began'),
    _run,
)
