"""
Nodes as forks of a server that has imported what they need: half the processor time of a stack.

The server starts with the first node and ends with the process of the tests. Where the start of a
process is the subject of a test, it starts a new one.
"""

from collections.abc import Callable, Mapping, Sequence
from multiprocessing import get_context
from multiprocessing.reduction import DupFd
from typing import Any

from bbllm.core.forked import ForkedProcess
from bbllm_ros.stack.forked import PRELOADED, run_module


def serve_module(
    module: str, arguments: Sequence[str], environ: Mapping[str, str], log: int
) -> ForkedProcess:
    """Run the `main` of a module in a fork of the server, with its output in a log."""
    get_context('forkserver').set_forkserver_preload(list(PRELOADED))
    return ForkedProcess(
        run_module, module, arguments, dict(environ), _Log(log), start_method='forkserver'
    )


class _Log:
    """A file descriptor that the process which is being started receives."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> tuple[Callable[[Any], int], tuple[Any]]:
        return _received, (DupFd(self.number),)


def _received(duplicate: Any) -> int:
    return int(duplicate.detach())
