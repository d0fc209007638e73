"""Imports the libraries of the extra `voice`."""

from importlib import import_module
from typing import Any

from bbllm.core.errors import ConfigError
from bbllm.core.plugins import how_to_install


def library(name: str) -> Any:
    """Return a module; raises ConfigError where it, or a system library of it, is missing."""
    try:
        return import_module(name)
    except (ImportError, OSError) as error:
        raise ConfigError(
            f'Speech needs the package {name.replace("_", "-")}, which cannot be imported '
            f'({error}). Install it {how_to_install("voice")}.'
        ) from None
