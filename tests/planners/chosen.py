"""Planners by name, with options that are spelled as on the command line."""

from typing import Any

from bbllm.core.episode import EpisodeRun
from bbllm.core.protocols import Planner
from bbllm.core.registry import load_planner
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.llm.models.factory import Models
from bbllm.planners.assembly import build_planner
from bbllm.planners.common.methods import MappingMethod


def chosen(planner: str, **options: str) -> Any:
    """Return the options of a planner, some of them chosen: `chosen("fltrnn", demos="fixed")`."""
    words = ','.join(f'{key}={value}' for key, value in options.items())
    return load_planner(f'{planner}:{words}' if words else planner).options


def built(run: EpisodeRun, name: str, brain: Any, body: Any) -> Planner:
    """Build a planner, with an embedder where it works with nothing else."""
    factory = load_planner(name)
    if not factory.needs_embedder:
        return build_planner(run, factory, Models(brain, body), k=3)
    models = Models(brain, body, embedder=LexicalEmbedder())
    return build_planner(run, factory, models, k=3, mapping=MappingMethod.EMBEDDING)
