"""What the log viewer of inspect_ai shows of an episode, beside the calls of models."""

from __future__ import annotations

from bbllm.core.events import (
    ApprovalAnswered,
    EpisodeStarted,
    Event,
    FeedbackReceived,
    ModelCall,
    ModelReplied,
    SceneRecorded,
    describe,
)
from bbllm.core.observation import Observed
from bbllm.core.types import SkillCall

HIDDEN = (
    EpisodeStarted,
    SceneRecorded,
    SkillCall,
    Observed,
    ModelReplied,
    ModelCall,
    FeedbackReceived,
    ApprovalAnswered,
)
"""What the viewer shows by itself (what models were asked and replied), what only pictures need,
and calls, which their outcomes repeat."""


def entry_of(event: Event) -> tuple[str, str] | None:
    """Return title and text (markdown) of an event, None where the viewer does not show it."""
    if isinstance(event.data, HIDDEN):
        return None
    lines = describe(event.data)
    return lines[0][0], '\n\n'.join(text.strip() for _, text in lines)
