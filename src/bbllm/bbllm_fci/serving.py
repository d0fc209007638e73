"""`bbllm up fci`: serves the table until Ctrl-C, and takes lines that make faults happen."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue

from bbllm.cli.support.supervision import interrupts
from bbllm.cli.views.output import Output
from bbllm.scene.scene_file import load_scene
from bbllm_fci.library import need_franka_sim
from bbllm_fci.lines import LINES, Asked, carry_out, read_typed, socket_lines

LOCAL = '127.0.0.1'
"""The address without another one: clients of this machine alone."""
READY = 'Ctrl-C ends it.'
"""The last line before it serves."""
POLL_S = 0.05


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
    lines: SimpleQueue[Asked] = SimpleQueue()
    with (
        FciTable(load_scene(scene), ip=ip, speed=speed, faults=given) as table,
        socket_lines(ip, lines),
    ):
        output.print(
            f'An FR3 at the table {scene} answers at {ip}, ports 1337 and 1338, at {speed:g} '
            'times real time.',
            'green',
        )
        output.print('Its clients are those of a robot, for example franky.Robot.')
        output.print('Lines that you can type here:')
        for line in LINES:
            output.print(f'  {line.text:<12} {line.does}')
        output.print(READY)
        output.result({'ip': ip, 'speed': speed, 'scene': scene})
        read_typed(lines, output.print_line)
        with interrupts() as counter:
            while not counter.count:
                table.tend()
                with suppress(Empty):
                    carry_out(lines.get(timeout=POLL_S), table)
