"""What planners have in common: their models, and the request for a reply."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from bbllm.core.protocols import Body, ChatModel, EpisodeContext, PromptRequest
from bbllm.planners.common.prompting import ask

T = TypeVar('T')


@dataclass(frozen=True)
class ModelPlanner:
    """A planner with its models; its `PlannerSpec` declares what it uses of them."""

    brain: ChatModel
    body: Body
    k: int = 3
    """Number of feedback loops."""

    def ask(
        self,
        prompt: str,
        read: Callable[[str], T],
        request: PromptRequest,
        context: EpisodeContext,
    ) -> T:
        """Ask the brain, and warn of a second request; see `prompting.ask`."""
        return ask(self.brain, prompt, read, request=request, on_retry=context.warn)
