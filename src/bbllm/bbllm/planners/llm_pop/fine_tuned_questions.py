"""
What FT-CoT and FT-Vanilla ask their model.

Source: Sun et al., Interactive Planning Using Large Language Models for Partially Observable
Robotics Tasks, section 4.2 and appendix A.4: the same three questions, in other words. A model is
tuned to these very words: changing one makes data sets that were written before useless.
"""

from __future__ import annotations

from enum import Enum


class Question(Enum):
    """The value is the text that stands in the prompt."""

    ENOUGH = 'Is enough known to solve the task? If not, what is missing?'
    """Answered by Yes or No and a reason, and no actions."""
    GATHER = 'Which actions find out what is missing?'
    SOLVE = 'Which actions solve the task?'
    NEXT = 'Which actions come next, to find out what is missing or to solve the task?'
    """The only one that FT-Vanilla asks; no actions mean that the task is solved."""
