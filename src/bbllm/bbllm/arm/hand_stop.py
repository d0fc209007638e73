"""
What becomes of a goal of the hand that is under way when the robot stops.

The hand is a device of its own: no stop of the arm ends what it does, and a goal may cross a user
stop on its way. So whoever sent it cancels it, and its fingers stay where they are. That must not
drop anything:

* Fingers that go to a width, or home, are cancelled at once. Opening on would let go of what they
  hold; a thing that they have let go of already was meant to be let go of there.
* Fingers that grip are cancelled when they have closed by some way. What they close on then was
  not in the hand before, so that it stands by itself. Those that have not closed may press on
  what hangs in the air already, and no driver promises that a grip lasts that is cancelled before
  it is complete: they go on pressing, with the force that the safety envelope allows, and do not
  go anywhere.

What a cancelled goal leaves in the hand counts as loose until it was gripped again, which is a
motion of the next call, after somebody has let the robot go on.
"""

from __future__ import annotations

CLOSED_M = 0.003
"""Fingers that have closed by this were not yet on what they grip: pads and things give way by
less [m]."""


def may_be_cut(sent_m: float, now_m: float, *, grips: bool) -> bool:
    """
    Tell whether a goal of the hand may be cancelled because the robot has stopped.

    Args:
        sent_m: Distance between the fingers when it was sent [m].
        now_m: The same now [m].
        grips: Whether it is a grasp.
    """
    return not grips or sent_m - now_m > CLOSED_M
