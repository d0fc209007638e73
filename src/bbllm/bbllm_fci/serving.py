"""`bbllm up fci`: serves the table until Ctrl-C, and takes lines that make faults happen."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from bbllm.cli.support.supervision import interrupts
from bbllm.cli.views.output import Output
from bbllm.core.errors import BbllmError, UnknownNameError
from bbllm.scene.scene_file import load_scene
from bbllm_fci.library import need_franka_sim

if TYPE_CHECKING:
    from bbllm_fci.table import FciTable

LOCAL = '127.0.0.1'
"""The address without another one: clients of this machine alone."""
POLL_S = 0.05


class _Line(NamedTuple):
    """One kind of line that is read while the table is served."""

    text: str
    does: str


LINES = (
    _Line('fault NAME', 'user_stop, reflex, communication_loss, hand_not_homed, ...'),
    _Line('clear NAME', 'end a fault that lasts; the client recovers'),
    _Line('objects', 'where the objects are [m]'),
    _Line('reset', 'put arm and objects back'),
)


def serve(scene: str, ip: str, speed: float, output: Output, faults: Sequence[str] = ()) -> None:
    """
    Serve a scene until Ctrl-C, with faults from the start on.

    Raises ConfigError where that is not possible, UnknownNameError for a fault that there is not,
    WorldError when the physics ends.
    """
    need_franka_sim()
    # Only now: this imports franka-sim.
    from bbllm_fci.table import FciTable, fault_named

    given = [fault_named(name) for name in faults]
    with FciTable(load_scene(scene), ip=ip, speed=speed, faults=given) as table:
        output.print(
            f'An FR3 at the table {scene} answers at {ip}, ports 1337 and 1338, at {speed:g} '
            'times real time.',
            'green',
        )
        output.print('Its clients are those of a robot, for example franky.Robot.')
        output.print('Lines that you can type here:')
        for line in LINES:
            output.print(f'  {line.text:<12} {line.does}')
        output.print('Ctrl-C ends it.')
        output.result({'ip': ip, 'speed': speed, 'scene': scene})
        lines = _typed_lines()
        with interrupts() as counter:
            while not counter.count:
                table.tend()
                with suppress(Empty):
                    _carry_out(lines.get(timeout=POLL_S), table, output)


def _typed_lines() -> SimpleQueue[str]:
    """Read standard input aside; its end is not that of the table."""
    lines: SimpleQueue[str] = SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line)

    threading.Thread(target=read, name='fci lines', daemon=True).start()
    return lines


def _carry_out(line: str, table: FciTable, output: Output) -> None:
    """Do what a line asks for; what it cannot do is printed."""
    from bbllm_fci.table import fault_named

    verb, _, name = line.strip().partition(' ')
    done: dict[str, Callable[[], object]] = {
        'fault': lambda: table.inject(fault_named(name.strip())),
        'clear': lambda: table.clear(fault_named(name.strip())),
        'reset': table.reset,
        'objects': lambda: output.print_line('\n'.join(table.places())),
    }
    if not verb:
        return
    try:
        if verb not in done:
            raise UnknownNameError('line', verb, done)
        done[verb]()
    except BbllmError as error:
        output.print(str(error), 'yellow')
    else:
        output.print(f'done: {line.strip()}', 'dim')
