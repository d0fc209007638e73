"""`python -m bbllm` is `bbllm`: what happens before its verbs, and their errors, are loaded."""

import os
import signal
from types import FrameType


def main() -> None:
    # Not where SIGINT is ignored, as in the background jobs of scripts.
    listens = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if listens:
        signal.signal(signal.SIGINT, _end)
    # As core.forked has it; before numpy, which would start threads.
    os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
    from bbllm.cli.main import app

    if listens:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    app(prog_name='bbllm')


def _end(number: int, frame: FrameType | None) -> None:
    """End at once: while modules are loaded there is nothing to clean up, and much to upset."""
    os._exit(128 + number)


if __name__ == '__main__':
    main()
