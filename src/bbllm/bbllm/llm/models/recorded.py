"""All models of an episode at once: recorded, or played back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bbllm.llm.models.factory import Models
from bbllm.llm.recording.replay import RecordingModel, ReplayModel
from bbllm.llm.recording.replay_embeddings import RecordingEmbedder, ReplayEmbedder


def record_models(models: Models, path: Path, *, episode: str = '') -> Models:
    """
    Return models whose exchanges are appended to a file.

    Args:
        models: Who answers.
        path: The file.
        episode: Which episode of a run it is for, where the recording is one of a run.

    Raises:
        ConfigError: There can be no such file.
    """
    embedder = models.embedder
    if embedder is not None:
        embedder = RecordingEmbedder(embedder, path, episode=episode)
    return replace(
        models,
        brain=RecordingModel(models.brain, path, 'brain', episode=episode),
        body=RecordingModel(models.body, path, 'body', episode=episode),
        embedder=embedder,
    )


def replay_models(path: Path, *, embedding: bool, text: str | None = None) -> Models:
    """
    Return models that answer from a recording.

    Args:
        path: The recording.
        embedding: Whether an embedder did the Body's work in it.
        text: Lines of a recording, which then come in place of the file's.

    Raises:
        ReplayError: The recording cannot be read.
    """
    return Models(
        ReplayModel(path, 'brain', text=text),
        ReplayModel(path, 'body', text=text),
        embedder=ReplayEmbedder(path, text=text) if embedding else None,
    )
