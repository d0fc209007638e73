"""Pictures of the scene in the prompts of planners."""

from typing import Literal

from bbllm.core.protocols import ScenePicture, World, picture_of

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


def sentence(picture: ScenePicture | None) -> str:
    """Return what a prompt says of its picture; '' without one."""
    return '' if picture is None else f'The attached picture shows this scene {picture.view}.'


def images(picture: ScenePicture | None) -> tuple[bytes, ...]:
    """Return the pictures of a message."""
    return () if picture is None else (picture.data,)
