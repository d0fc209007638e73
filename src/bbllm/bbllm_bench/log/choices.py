"""Which options of an episode a run of the bench has; `EpisodeConfig` declares them."""

from typing import Annotated

from pydantic import BeforeValidator

from bbllm.api.config import (
    ExperienceChoice,
    LimitChoice,
    MappingChoice,
    PlannerChoice,
    RecordChoice,
    RehearsalChoice,
    SourceChoice,
    TalkChoice,
    model_setting,
)
from bbllm.api.settings import Settings, revised
from bbllm.core.dialogue import AskMode


class PlannerName(PlannerChoice):
    """What is planned with, which other processes find by its name."""

    planner: str = revised(PlannerChoice, 'planner')


class AskChoice(Settings):
    """Whether a planner may ask the person of a case."""

    ask: Annotated[AskMode, BeforeValidator(AskMode)] = revised(TalkChoice, 'ask')


class PlayChoice(
    LimitChoice,
    RehearsalChoice,
    SourceChoice,
    MappingChoice,
    ExperienceChoice,
    AskChoice,
    PlannerName,
):
    """What decides how episodes go, beside models."""


class ReplayChoice(RecordChoice):
    """Recordings of runs, of this version of bbllm or another."""

    changed_prompts: bool = model_setting(
        False,
        'With --replay, go on where a prompt is not the recorded one: the recorded replies are '
        'taken in their order, and no figure is one of the model (docs/bench.md).',
    )
