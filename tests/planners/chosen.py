"""Planners by name, with options that are spelled as on the command line."""

from typing import Any

from bbllm.core.episode import EpisodeRun
from bbllm.core.protocols import ModelRequest, Planner
from bbllm.core.registry import load_planner
from bbllm.core.text import without_delimiters
from bbllm.llm.models.factory import Models
from bbllm.planners.assembly import build_planner


def chosen(planner: str, **options: str) -> Any:
    """Return the options of a planner, some of them chosen: `chosen("fltrnn", demos="fixed")`."""
    words = ','.join(f'{key}={value}' for key, value in options.items())
    return load_planner(f'{planner}:{words}' if words else planner).options


def built(run: EpisodeRun, name: str, brain: Any, body: Any) -> Planner:
    return build_planner(run, load_planner(name), Models(brain, body), k=3)


def opening(request: ModelRequest) -> str:
    """Return what was asked first: the system message and that of the user."""
    return without_delimiters('\n'.join(message.content for message in request.messages[:2]))
