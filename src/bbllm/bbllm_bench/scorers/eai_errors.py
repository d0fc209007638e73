"""
What was wrong with a step that a house refused, in the classes of the Embodied Agent Interface.

    WRONG_ORDER      a precondition does not hold, and did before
    MISSING_STEP     a precondition does not hold, and never did
    AFFORDANCE       the object is not good for the action
    ADDITIONAL_STEP  the object is already so

Source: section 3 of Li et al., arXiv 2410.07166. Which check is of which class is as in the calls
of `assign_error_type` in `execution.py`, and in `checker.py`, of eai-eval 1.0.5. Its errors of
grammar are codes of outcomes here: UNKNOWN_OBJECT and UNKNOWN_SKILL for hallucinations, NO_CALL
for parsing.
"""

from collections.abc import Sequence

from bbllm.worlds.household.household import Household
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action

WRONG_ORDER, MISSING_STEP = 'WRONG_ORDER', 'MISSING_STEP'
AFFORDANCE, ADDITIONAL_STEP = 'AFFORDANCE', 'ADDITIONAL_STEP'
_SATISFIED = frozenset({
    *('not_closed', 'still_on', 'not_on', 'not_off', 'unplugged', 'not_plugged_out'),
    *('not_plugged_in', 'already_grabbed', 'lying'),
})  # fmt: skip
_SATISFIED_OF = frozenset({(Action.CLOSE, 'not_open'), (Action.SIT, 'sitting')})
_ORDERED = frozenset({
    *('not_close', 'not_holding', 'no_free_hand', 'empty_hands', 'not_facing', 'not_resting'),
    *('sitting', 'not_worn'),
})  # fmt: skip
"""Checks of a precondition that the original looks for in earlier states."""
_MISSING = _ORDERED | {'inside_closed', 'no_place', 'no_knife'}


def error_class(states: Sequence[Household], line: ScriptLine, broken: str) -> str:
    """
    Return the class of a refused step.

    Args:
        states: The house at first and after each step that succeeded.
        line: The step.
        broken: The check that failed, for example `not_close`.
    """
    if broken in _SATISFIED or (line.action, broken) in _SATISFIED_OF:
        return ADDITIONAL_STEP
    if broken not in _MISSING:
        return AFFORDANCE
    held = broken in _ORDERED and any(home.check(line).broken != broken for home in states)
    return WRONG_ORDER if held else MISSING_STEP
