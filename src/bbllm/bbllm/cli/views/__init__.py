"""Text and live views of episodes and runs."""


class StdoutError(OSError):
    """Stdout cannot be written, for example because the disk is full."""
