"""The memory between the control process and the driver."""

import os
import subprocess
import sys

from bbllm_franka.board import StateBoard

WRITER = """
import sys
from bbllm_franka.board import StateBoard
board = StateBoard(int(sys.argv[1]))
for i in range(1, 40_000):
    board.write([float(i)] * 2 + [0.0] * 7, *[[float(i)] * 7] * 8, *[[0.0] * 6] * 2,
                *([0.0] * 7, [0.0] * 6) * 2)
"""


def test_a_reading_is_whole_while_the_next_is_written() -> None:
    file = StateBoard.new_file()
    board = StateBoard(file)
    assert board.read() is None
    writer = subprocess.Popen([sys.executable, '-c', WRITER, str(file)], pass_fds=[file])
    os.close(file)
    newest = 0.0
    while writer.poll() is None:
        reading = board.read()
        if reading is None:
            assert newest == 0.0
            continue
        assert newest <= reading.host_s == reading.robot_s == reading.position_rad[6]
        newest = reading.host_s
    assert writer.returncode == 0
    last = board.read()
    assert last is not None and last.host_s == 39_999.0
