"""A planner that can be varied, for tests of how options are named."""

from dataclasses import dataclass
from typing import Literal

from bbllm.core.protocols import Body, ChatModel, EpisodeContext, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.types import Task
from bbllm.planners.common.grounding import Policy


@dataclass(frozen=True)
class VariedOptions:
    """Two options of words."""

    check: Literal['model', 'graph'] = 'model'
    grounding: Policy = Policy.RANDOM


class Varied:
    """Keeps what it was built with."""

    def __init__(self, brain: ChatModel, body: Body, *, k: int, options: VariedOptions):
        self.built = (k, options.check, options.grounding.value)

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        pass


VARIED = PlannerSpec(
    factory=Varied,
    options=VariedOptions(),
    uses_feedback=False,
    uses_force=True,
    domains=frozenset({'household'}),
)
