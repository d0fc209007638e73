"""From a node's parameters to its language models."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from bbllm.core.errors import ConfigError
from bbllm.llm.config import Models, load_config, make_models
from bbllm.planners.bodies import MappingMethod, models_for


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


def mapping_of(name: str) -> MappingMethod:
    """
    Return the way in which steps become calls.

    Raises:
        ConfigError: There is none of that name.
    """
    try:
        return MappingMethod(name)
    except ValueError:
        known = ', '.join(method.value for method in MappingMethod)
        raise ConfigError(f'There is no mapping {name!r}. Known: {known}.') from None


def models_of_body(params: ModelParams, mapping: MappingMethod) -> Models:
    """
    Build what a way of mapping needs; see `models_of`.

    Raises:
        ConfigError: As there; or the Body cannot do what the way asks of it.
    """
    return models_for(
        mapping,
        load_config(_path(params.llm_config)),
        brain=params.brain or None,
        body=params.body or None,
        record=_path(params.record),
        replay=_path(params.replay),
    )


def _path(text: str) -> Path | None:
    return Path(text).expanduser() if text else None
