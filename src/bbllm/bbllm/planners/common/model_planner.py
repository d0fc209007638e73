"""What planners have in common: their models, and the request for a reply, with its history."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from bbllm.core.events import FeedbackReceived
from bbllm.core.protocols import (
    Body,
    ChatModel,
    EpisodeContext,
    PromptRequest,
    ScenePicture,
    World,
    picture_of,
)
from bbllm.planners.common.prompting import ask
from bbllm.planners.common.reply_diagnostics import reporting

T = TypeVar('T')

PictureUse = Literal['none', 'before', 'each']
"""Which requests have a picture of the scene: none, those before anything was moved, or each."""


def picture_for(world: World, use: PictureUse, *, moved: bool) -> ScenePicture | None:
    """
    Return the picture of a request, None for no picture; *moved* is whether a plan was begun.

    Raises:
        ConfigError: The world has no camera.
        WorldError: Its camera sends no picture.
    """
    if use == 'none' or (use == 'before' and moved):
        return None
    return picture_of(world)


def picture_sentence(picture: ScenePicture | None) -> str:
    """Return what a prompt says of its picture; '' without one."""
    return '' if picture is None else f'The attached picture shows this scene {picture.view}.'


def images(picture: ScenePicture | None) -> tuple[bytes, ...]:
    """Return the pictures of a message."""
    return () if picture is None else (picture.data,)


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
        images: tuple[bytes, ...] = (),
        on_answer: Callable[[Sequence[FeedbackReceived]], None] | None = None,
    ) -> T:
        """Ask the brain, and report a second request and discarded lines; see `ask`."""
        read = reporting(read, context.emit)
        return ask(
            self.brain,
            prompt,
            read,
            request=request,
            on_retry=context.warn,
            images=images,
            person=context,
            on_answer=on_answer,
        )
