"""A planner that can be varied, for tests of how options are named."""

from __future__ import annotations

from types import MappingProxyType

from bbllm.core.protocols import Body, ChatModel, EpisodeContext, World
from bbllm.core.types import Task


class Varied:
    """Keeps what it was built with."""

    uses_feedback = False
    feels = True
    stand_ins = frozenset({'expert'})
    plays_in = frozenset({'household'})
    options = MappingProxyType(
        {'check': ('model', 'graph'), 'grounding': ('random', 'nearest', 'held_first')}
    )

    def __init__(
        self,
        brain: ChatModel,
        body: Body,
        *,
        k: int,
        check: str = 'model',
        grounding: str = 'random',
    ):
        self.built = (k, check, grounding)

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        pass
