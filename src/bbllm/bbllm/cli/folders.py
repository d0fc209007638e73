"""Where things of this program lie in a person's home."""

from __future__ import annotations

import os
from pathlib import Path


def state_folder() -> Path:
    """Return `$XDG_STATE_HOME/bbllm`, by default `~/.local/state/bbllm`."""
    base = os.environ.get('XDG_STATE_HOME', '')
    # The XDG specification: a relative path is invalid and counts as not set.
    root = Path(base) if Path(base).is_absolute() else Path.home() / '.local' / 'state'
    return root / 'bbllm'


def episodes_folder() -> Path:
    """Return where journals and pictures lie."""
    return state_folder() / 'episodes'
