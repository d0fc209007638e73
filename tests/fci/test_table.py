"""What the server refuses, and what it does without a client of libfranka."""

import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from typing import Any

import pytest

from bbllm.core.errors import ConfigError
from bbllm.scene.scene_file import load_scene
from bbllm.sim.faults import Fault
from bbllm_fci import library
from tests.fci.conftest import free_address

pytest.importorskip('franka_sim', reason='franka-sim is not installed: make extras')

PORT, HAND_PORT = 1337, 1338
CONNECT = 0


@pytest.fixture(scope='module')
def table() -> Iterator[Any]:
    from bbllm_fci.table import FciTable

    with FciTable(load_scene('tower'), ip=free_address(), speed=0.5) as table:
        yield table


def test_no_simulator_of_franka_sim_is_imported() -> None:
    code = 'import bbllm_fci.table, sys; print(*[name for name in sys.modules])'
    names = subprocess.check_output([sys.executable, '-c', code], text=True).split()

    assert 'franka_sim.franka_sim_server' in names
    assert not {'franka_sim.mujoco_franka_sim', 'franka_sim.franka_genesis_sim'} & set(names)


@pytest.mark.parametrize('found', ['', '1.1.6'])
def test_another_franka_sim_is_refused_with_what_to_type(
    found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(name: str) -> str:
        if not found:
            raise PackageNotFoundError(name)
        return found

    monkeypatch.setattr(library, 'version', version)

    with pytest.raises(ConfigError, match=r'pip install --no-deps franka-sim==1\.1\.7'):
        library.need_franka_sim()


@pytest.mark.parametrize('speed', [0.0, 1.5])
def test_a_speed_that_clients_cannot_count_by_is_refused(speed: float) -> None:
    from bbllm_fci.table import FciTable

    with pytest.raises(ConfigError, match='above 0 and up to 1'):
        FciTable(load_scene('tower'), speed=speed)


def test_a_port_that_is_taken_is_named(table: Any) -> None:
    from bbllm_fci.table import FciTable

    with (
        pytest.raises(ConfigError, match=f'Port {PORT} of {free_address()}.*choose another'),
        FciTable(load_scene('tower'), ip=free_address()),
    ):
        pass


def test_a_client_of_another_version_gets_to_know_that(table: Any) -> None:
    with socket.create_connection((free_address(), PORT), timeout=20) as client:
        client.sendall(struct.pack('<IIIHH', CONNECT, 1, 16, 9, 40000))
        reply = client.recv(15)

    command, number, _, status, version = struct.unpack('<IIIBH', reply)
    assert (command, number, status, version) == (CONNECT, 1, 1, 10)


def test_faults_of_a_driver_are_refused(table: Any) -> None:
    with pytest.raises(ConfigError, match=r'driver_hang .*user_stop, reflex'):
        table.inject(Fault.DRIVER_HANG)


def test_a_stop_aborts_what_the_hand_does(table: Any) -> None:
    with socket.create_connection((free_address(), HAND_PORT), timeout=60) as client:
        client.sendall(struct.pack('<HIIHH', CONNECT, 1, 14, 3, 40001))
        client.recv(100)
        client.sendall(struct.pack('<HII', 1, 2, 10))  # homing
        client.sendall(struct.pack('<HII', 4, 3, 10))  # stop
        replies: dict[int, int] = {}
        while len(replies) < 2:
            _, number, _, status = struct.unpack('<HIIH', client.recv(12, socket.MSG_WAITALL))
            replies[number] = status

    assert replies == {2: 3, 3: 0}  # aborted, successful
