"""How long programs look for a stack before they say that there is none."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import TYPE_CHECKING

from bbllm.cli.output import Output
from bbllm.core.errors import LostNodeError

if TYPE_CHECKING:
    from bbllm.nodes.client import StackClient

NONE_S = 8.0
"""How long none of the nodes may be seen, wall clock. Programs announce themselves every 3 s, and
on a busy machine an announcement is overheard [s]."""
SILENT_S = 20.0
"""How long a node that is seen may be silent, wall clock [s]."""
LOOK_S = 0.05


def look_for(
    client: StackClient,
    nodes: Iterable[str],
    found: Callable[[], bool],
    output: Output,
    missing: Callable[[float], str],
) -> None:
    """
    Wait until a stack is found, and say so on a terminal.

    Args:
        client: Looks.
        nodes: Any of these, once it is seen, is waited for longer.
        found: Tells whether it is.
        output: Where people read.
        missing: Returns the error for a time that was waited in vain [s].

    Raises:
        LostNodeError: It is not found.
    """
    wanted = set(nodes)
    status = output.console.status('looking for the stack ...') if output.live else nullcontext()
    begun_s = time.monotonic()
    with status:
        while not found():
            seen = wanted.intersection(client.node.get_node_names())
            patience_s = SILENT_S if seen else NONE_S
            if time.monotonic() > begun_s + patience_s:
                raise LostNodeError(missing(patience_s))
            time.sleep(LOOK_S)
