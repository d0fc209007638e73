"""The process of a table, for programs that start one."""

import os
import select
import subprocess
import sys

import pytest

from bbllm_fci.process import ANSWER_S
from tests.fci.conftest import free_address

pytest.importorskip('franka_sim', reason='franka-sim is not installed: make extras')

OWNER = """
import sys, time
from bbllm_fci.process import TableProcess
with TableProcess(sys.argv[1], '--scene', 'tower') as table:
    print(table._process.pid, flush=True)
    time.sleep(float(sys.argv[2]))
"""


def test_no_table_outlives_the_program_that_started_it() -> None:
    command = [sys.executable, '-c', OWNER, free_address(), str(2 * ANSWER_S)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as owner:
        try:
            assert owner.stdout is not None
            table = os.pidfd_open(int(owner.stdout.readline()))
        finally:
            owner.kill()
    try:
        assert select.select([table], [], [], ANSWER_S)[0], 'the table did not end'
    finally:
        os.close(table)
