"""Judges the mode that a robot reports."""

from collections.abc import Sequence

from bbllm.arm.driver import RobotMode
from bbllm.core.findings import Finding, Level, warn

MODES = {
    RobotMode.OTHER: (Level.FAIL, 'Unlock the joints in Desk, and activate FCI.'),
    RobotMode.IDLE: (Level.OK, ''),
    RobotMode.MOVE: (Level.OK, ''),
    RobotMode.GUIDING: (Level.WARN, 'Let go of the guiding buttons.'),
    RobotMode.REFLEX: (Level.WARN, 'See what the arm met, and free it; the next task recovers.'),
    RobotMode.USER_STOPPED: (
        Level.FAIL,
        'Release the user stop; the next task then asks you, and recovers. Where it was not '
        'pressed: switch Desk to Execution, and see which safety rule (Watchman) stops the arm.',
    ),
    RobotMode.AUTOMATIC_ERROR_RECOVERY: (Level.WARN, 'Run this check again in a moment.'),
}
"""How each mode of the robot is, and what to do."""


def judge_mode(mode: int, errors: Sequence[str], last: Sequence[str] = ()) -> Finding:
    """Judge mode and errors of a robot; *last* are those that ended its last motion."""
    try:
        known = RobotMode(mode)
    except ValueError:
        return warn('mode', f'the robot is in mode {mode}, which is unknown', 'A newer robot?')
    level, remedy = MODES[known]
    text = f'the robot is in mode {known.name.lower().replace("_", " ")}'
    if errors:
        text += f'; errors: {", ".join(errors)}'
    if last:
        text += f'; the last motion was ended by {", ".join(last)}'
    return Finding('mode', level, text, remedy)
