"""Imports the libraries of the extra `franka`."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from bbllm.core.errors import ConfigError
from bbllm.core.plugins import how_to_install

PACKAGES = {'franky': 'franky-control', 'pylibfranka': 'pylibfranka'}
"""The distribution of each module."""


def library(name: str) -> Any:
    """Return a module; raises ConfigError where it, or a system library of it, is missing."""
    try:
        return import_module(name)
    except (ImportError, OSError) as error:
        raise _missing(name, str(error)) from None


def need_libraries() -> None:
    """
    Raise ConfigError where one is not installed.

    pylibfranka is not imported: two copies of libfranka's types do not fit in one process, and the
    control process has it.
    """
    for name in PACKAGES:
        if find_spec(name) is None:
            raise _missing(name, 'it is not installed')


def _missing(name: str, why: str) -> ConfigError:
    return ConfigError(
        f'A robot without ROS needs the package {PACKAGES[name]}, which cannot be imported '
        f'({why}). Install it {how_to_install("franka")}.'
    )
