"""
Beliefs about objects beyond what scenes contain, and the interface of estimators.

Source: Chen et al., LLM-State, section IV-B: objects with attributes in plain words, and a summary
of what has happened. The planner `llm_state` and the node `state_estimator` both use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from bbllm.core.types import Outcome, Scene


@dataclass(frozen=True, slots=True)
class OpenState:
    """The relevant objects with their attributes; immutable."""

    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Attributes such as `warm` by the object's name in the scene, in order of addition."""
    summary: str = ''
    """What has happened so far and why steps failed; may be empty."""

    def __post_init__(self) -> None:
        copied = {name: tuple(words) for name, words in self.attributes.items()}
        object.__setattr__(self, 'attributes', MappingProxyType(copied))

    def with_objects(self, names: Iterable[str]) -> OpenState:
        """Add objects without attributes; those already present stay unchanged."""
        new = {name: self.attributes.get(name, ()) for name in names}
        return OpenState({**self.attributes, **new}, self.summary)

    def with_attributes(self, name: str, words: Sequence[str]) -> OpenState:
        """Replace the attributes of an object, and add it if it is missing."""
        return OpenState({**self.attributes, name: tuple(words)}, self.summary)

    def with_summary(self, text: str) -> OpenState:
        return OpenState(self.attributes, text)

    def blank(self) -> OpenState:
        """Remove all attributes and the summary, and keep the objects."""
        return OpenState(dict.fromkeys(self.attributes, ()))


class OpenStateEstimator(Protocol):
    """Derives beliefs about objects from the actions so far."""

    def estimate(self, state: OpenState, history: Sequence[Outcome], scene: Scene) -> OpenState:
        """
        Return the current beliefs about all objects of `state`, and possibly others of the scene.

        The history has all outcomes of the episode, oldest first. An estimator that starts anew
        each time, as the paper's does, reads only the objects of `state`.

        Raises:
            ModelError: An estimator that asks a model received no reply.
            ParseError: It received two replies that cannot be read.
        """
        ...
