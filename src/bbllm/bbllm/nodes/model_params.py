"""From a node's parameters to its language models."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from bbllm.llm.config import Models, load_config, make_models


class ModelParams(Protocol):
    """The parameters of a node that asks a model; explained in `params`."""

    @property
    def llm_config(self) -> str: ...

    @property
    def brain(self) -> str: ...

    @property
    def body(self) -> str: ...

    @property
    def record(self) -> str: ...

    @property
    def replay(self) -> str: ...


def models_of(params: ModelParams) -> Models:
    """
    Build both models; making one costs nothing until it is asked.

    Raises:
        ConfigError: The file, a key or a recording cannot be used.
    """
    given = {'brain': params.brain, 'body': params.body}
    return make_models(
        load_config(_path(params.llm_config)),
        overrides={role: name for role, name in given.items() if name},
        record=_path(params.record),
        replay=_path(params.replay),
    )


def _path(text: str) -> Path | None:
    return Path(text).expanduser() if text else None
