"""What a look at the streams of a camera found; for people who set one up."""

from dataclasses import dataclass

from bbllm.core.types import Pose
from bbllm.scene.camera import Intrinsics


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraReport:
    """One camera with depth, as it was while its topics were subscribed to."""

    name: str
    """What its topics begin with."""
    unpublished: tuple[str, ...] = ()
    """Its topics that no node publishes."""
    silent: tuple[str, ...] = ()
    """Its topics that a node publishes, and on which nothing came."""
    rate_hz: float = 0.0
    """Of its colour pictures."""
    size_px: tuple[int, int] | None = None
    """Width and height of its colour pictures; None where none came."""
    depth_size_px: tuple[int, int] | None = None
    frame: str = ''
    """The optical frame of its colour pictures."""
    depth_frame: str = ''
    intrinsics: Intrinsics | None = None
    depth_share: float = 0.0
    """Share of pixels with a depth, from 0 to 1."""
    fault: str = ''
    """Why a message cannot be read; empty where all can."""
    pose: Pose | None = None
    """Of the optical frame in the world; None where no transform joins them."""
    pose_fault: str = ''
    """Why there is no pose."""
