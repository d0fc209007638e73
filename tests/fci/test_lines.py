"""Lines that programs send to a table that is served, as the conformance checks do."""

from pathlib import Path

import pytest

from bbllm.arm.driver import RobotMode
from bbllm_fci.lines import socket_path
from bbllm_fci.process import TableProcess

pytest.importorskip('franka_driver_conformance', reason='make setup installs it')


def test_a_program_stops_and_releases_the_robot(
    served: TableProcess,
) -> None:
    from franka_driver_conformance.stop_scenario import Cause, SocketProvoker

    provoker = SocketProvoker(str(socket_path(served.address)), 60.0)

    provoker.provoke(Cause.USER_STOP)
    stopped = served.arm()
    provoker.release(Cause.USER_STOP)

    assert stopped.mode is RobotMode.USER_STOPPED
    assert stopped.fastest_rad_s < 0.01


def test_what_cannot_be_done_is_answered(tmp_path: Path) -> None:
    from franka_driver_conformance.expectations import CheckFailedError
    from franka_driver_conformance.stop_scenario import Cause, SocketProvoker

    nobody = SocketProvoker(str(tmp_path / 'no.sock'), 1.0)

    with pytest.raises(CheckFailedError, match='No such file'):
        nobody.provoke(Cause.REFLEX)


def test_the_table_is_drawn_as_it_is(served: TableProcess, tmp_path: Path) -> None:
    picture = tmp_path / 'table.png'

    served.send(f'picture {picture}')

    assert picture.read_bytes().startswith(b'\x89PNG')
