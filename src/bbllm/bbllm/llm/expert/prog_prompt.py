"""Which prompts of ProgPrompt and its baselines there are, by the planners' own labels."""

from __future__ import annotations

import re

PROGRAM = re.compile(
    r'from actions import .*\ndef \w+\(\):\s*(?:objects = \[([^\]\n]*)\])?\s*\Z', re.DOTALL
)
"""The whole prompt for a program; its group is what is there, where the last head tells."""
COMMENT = '\t# '
"""What the functions of a prompt have where a program is to have comments."""
STEPS = re.compile(r'^Go on with the steps of the next task\b', re.MULTILINE)
NEXT_STEP = re.compile(r'^Next is line (\d+)\.\Z', re.MULTILINE)
