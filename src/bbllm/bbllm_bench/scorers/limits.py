"""What limited an episode whose goal was not reached, for suites that report it."""

from bbllm.core.events import Ending, Episode
from bbllm.core.types import Code, Outcome, SkillCall

BUDGET, PERCEPTION, GRASP, MOTION, PLAN = 'budget', 'perception', 'grasp', 'motion', 'plan'
OF_CODE = {
    **dict.fromkeys((Code.TIMEOUT,), BUDGET),
    **dict.fromkeys((Code.STALE_SCENE, Code.EMPTY_SCENE), PERCEPTION),
    **dict.fromkeys(
        (
            Code.NOT_GRASPABLE,
            Code.NO_CLEARANCE,
            Code.GRASP_FAILED,
            Code.OBJECT_LOST,
            Code.WOULD_NOT_RISE,
        ),
        GRASP,
    ),
    **dict.fromkeys(
        (
            Code.UNKNOWN_SKILL,
            Code.UNKNOWN_OBJECT,
            Code.BAD_ARGUMENTS,
            Code.NOT_HOLDING,
            Code.ALREADY_HOLDING,
            Code.PRECONDITION,
        ),
        PLAN,
    ),
}
"""The class of a failed call; every other code is one of `motion`."""


def limit_of(episode: Episode) -> str:
    """
    Return `budget`, `perception`, `grasp`, `motion` or `plan`: what an unreached goal is due to.

    The last call that failed, and did not succeed later, decides. Where there is none, it is the
    plan: it ended too early, or its calls lead elsewhere. A limit of the run is the budget.
    """
    if episode.ending is Ending.OUT_OF_BUDGET:
        return BUDGET
    left: dict[SkillCall, Code] = {}
    for event in episode.events:
        if isinstance(event.data, Outcome):
            left.pop(event.data.call, None)
            if not event.data.succeeded:
                left[event.data.call] = event.data.code
    return OF_CODE.get([*left.values()][-1], MOTION) if left else PLAN
