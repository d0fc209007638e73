"""
What is believed of things beyond what scenes show, and who comes to believe it.

Source: Chen et al., LLM-State, section IV-B: entries of things with attributes in plain words,
and a summary of what has happened. Both the planner `llm_state` and the `state_estimator` keep it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from bbllm.core.types import Outcome, Scene


@dataclass(frozen=True, slots=True)
class OpenState:
    """Things that matter, each with what is believed of it; never changed, only replaced."""

    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of each thing, by its name in the scene, attributes such as `warm`; in order of addition,
    and empty where nothing is believed yet."""
    summary: str = ''
    """What has happened so far and why steps failed, '' where nobody has said."""

    def __post_init__(self) -> None:
        held = {name: tuple(words) for name, words in self.attributes.items()}
        object.__setattr__(self, 'attributes', MappingProxyType(held))

    def with_objects(self, names: Iterable[str]) -> OpenState:
        """Add things of which nothing is believed yet; those that are there stay as they are."""
        new: dict[str, tuple[str, ...]] = {
            name: () for name in names if name not in self.attributes
        }
        return OpenState({**self.attributes, **new}, self.summary)

    def with_attributes(self, name: str, words: Sequence[str]) -> OpenState:
        """Replace all that is believed of a thing, which is added if it is not there."""
        return OpenState({**self.attributes, name: tuple(words)}, self.summary)

    def with_summary(self, text: str) -> OpenState:
        """Replace the summary."""
        return OpenState(self.attributes, text)

    def blank(self) -> OpenState:
        """Keep the things, and forget all that is believed of them and the summary."""
        return OpenState(dict.fromkeys(self.attributes, ()))


class OpenStateEstimator(Protocol):
    """Comes to believe something of things by what was done to them."""

    def estimate(self, state: OpenState, history: Sequence[Outcome], scene: Scene) -> OpenState:
        """
        Return what is believed now.

        Args:
            state: The things that matter, and what was believed before; an estimator that begins
                anew each time, as the paper's does, reads only the things.
            history: All that was tried since the start of the episode, oldest first.
            scene: What is there now.

        Returns:
            All things of `state`, and perhaps others of the scene, with what is believed of them.

        Raises:
            ModelError: An estimator that asks a model got no reply.
            ParseError: Or one that cannot be read, twice.
        """
        ...
