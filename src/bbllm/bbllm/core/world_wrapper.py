"""The base of worlds around another world, which forwards whatever they do not change."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from bbllm.core.protocols import World, WorldFeatures, features_of
from bbllm.core.types import Outcome, Scene, Skill, SkillCall


class WorldWrapper:
    """
    A world around another one.

    A subclass overrides what it changes, and extends `features` for the features that it adds or
    guards. All other ones stay those of the inner world.
    """

    DROPPED: ClassVar[Mapping[str, str]] = {}
    """Names of features that are not forwarded, each with the reason."""

    def __init__(self, inner: World) -> None:
        self.inner = inner

    @property
    def skills(self) -> tuple[Skill, ...]:
        return self.inner.skills

    @property
    def features(self) -> WorldFeatures:
        """What the inner world can do, without what is dropped."""
        dropped: dict[str, Any] = dict.fromkeys(self.DROPPED)
        return replace(features_of(self.inner), **dropped)

    def observe(self) -> Scene:
        return self.inner.observe()

    def execute(self, call: SkillCall) -> Outcome:
        return self.inner.execute(call)

    def stop(self) -> None:
        self.inner.stop()
