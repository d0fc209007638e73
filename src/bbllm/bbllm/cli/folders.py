"""Where episodes lie."""

from __future__ import annotations

from pathlib import Path

from bbllm.core.paths import state_dir


def episodes_dir() -> Path:
    """Return where journals and pictures go; it may not exist yet."""
    return state_dir() / 'episodes'
