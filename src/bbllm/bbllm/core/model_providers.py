"""
Models that are not servers, by name, from the entry points of every installed package.

The group is `bbllm.models`. An entry point names a `ModelProvider`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from bbllm.core.protocols import ChatModel

GROUP = 'bbllm.models'
BRAIN_AND_BODY = ('brain', 'body')


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProvider:
    """What an entry point of the group `bbllm.models` names."""

    build: Callable[[Mapping[str, object] | None], ChatModel]
    """Return the model; takes the goal that a bench hands over, None where there is none."""
    remark: str
    """What it is, in words that follow its name: `is a rule-based model, ...`."""
    short: str
    """The same in a few words for brackets."""
    roles: Sequence[str] = BRAIN_AND_BODY
    fallback: bool = False
    """Whether `auto` takes it where no server is set."""
    needs_goal: bool = False
    """Whether a bench has to hand it the goal of a case."""


def provider_names() -> tuple[str, ...]:
    """Return the names of all installed providers, sorted."""
    return tuple(sorted(_points()))


def find_provider(name: str) -> ModelProvider | None:
    """Return the provider of that name, None if there is none."""
    return _load(_points()[name]) if name in _points() else None


def fallback_name() -> str:
    """Return the name of the provider that `auto` takes where no server is set."""
    return next(name for name in provider_names() if _load(_points()[name]).fallback)


def needs_goal(name: str) -> bool:
    """Whether a name is that of a provider that has to be handed the goal of a case."""
    provider = find_provider(name)
    return provider is not None and provider.needs_goal


def with_remark(name: str) -> str:
    """Return the name of a model, with what it is where it is no language model."""
    provider = find_provider(name)
    return f'{name} ({provider.short})' if provider is not None else name


@cache
def _points() -> Mapping[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


@cache
def _load(point: EntryPoint) -> ModelProvider:
    load: Callable[[], ModelProvider] = point.load
    return load()
