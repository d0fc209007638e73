"""The one error of stdout, in a module that imports nothing."""

from __future__ import annotations


class StdoutError(OSError):
    """Stdout cannot be written, for example because the disk is full."""
