"""The ways in which steps can become calls, by name."""

from __future__ import annotations

from enum import Enum

from bbllm.core.episode import EpisodeRun
from bbllm.core.protocols import Body
from bbllm.llm.config import Models
from bbllm.planners.body_llm import BodyLLM


class MappingMethod(str, Enum):
    """How a Body works."""

    AUTO = 'auto'
    """A language model, held to a JSON schema where it supports that."""


def make_body(method: MappingMethod, run: EpisodeRun, models: Models) -> Body:
    """Build a Body whose model calls are on the episode's account."""
    return BodyLLM(run.model(models.body, 'body'))
