"""
What a user or a robot may get wrong, end to end with real libfranka; each ends with its remedy.

* No route, Desk without FCI, firewall, machine too slow: `test_reasons`, by what each layer
  reports, and by the measurement that precedes every motion.
* FCI off, another program in control, another service on the port, system too old, brakes locked,
  a load that does not match, no address, IPv6, a name in place of an address, a wall clock that
  jumps, a robot that restarts between two tasks: here.
* A hand that is missing or was not homed: `test_hand`; one that changes during a session: here.
* A simulation stated as real and the reverse, no --ip, no scene: `test_table`.
* A trajectory that begins elsewhere, a lost process: `test_driver`.
"""

import ast
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import bbllm_franka
from bbllm import Robot
from bbllm.arm import driver as arm_driver
from bbllm.arm.driver import GoalStatus, Tolerances
from bbllm.arm.motion.trajectory import joint_move
from bbllm.core.errors import WorldError
from bbllm.core.events import Ending
from bbllm_fci.process import TableProcess
from bbllm_franka import address as address_module
from bbllm_franka import arm_link
from bbllm_franka.address import check_address
from bbllm_franka.driver import FrankaDriver
from bbllm_franka.errors import (
    ControlTakenError,
    FciOffError,
    LoadError,
    LockedError,
    NoRouteError,
    NotARobotError,
    VersionError,
)
from bbllm_franka.messages import IGNORE
from bbllm_franka.probe import PORT
from bbllm_franka.simulated_server import franka_sim
from tests.fci.conftest import serving
from tests.franka.conftest import PATIENCE_S


def own_address(network: int) -> str:
    high, low = divmod(os.getpid() % 65024, 254)
    return f'127.{network}.{high}.{low + 1}'


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up soon on what never answers."""
    monkeypatch.setattr(arm_link, 'CONNECT_S', 5.0)


def serve_once(connection: socket.socket) -> None:
    connection.close()


def stay_silent(connection: socket.socket) -> None:
    with suppress(ConnectionResetError):
        connection.recv(64)
        connection.recv(64)  # until the client has gone
    connection.close()


def reply_as_redis(connection: socket.socket) -> None:
    connection.recv(64)
    connection.sendall(b'-ERR\r\n')
    stay_silent(connection)


@contextmanager
def service(address: str, behave: Callable[[socket.socket], None]) -> Iterator[None]:
    """Serve the port of the robot's control in a way of its own."""
    with socket.create_server((address, PORT)) as listener:

        def run() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:  # closed
                    return
                threading.Thread(target=behave, args=(connection,), daemon=True).start()

        threading.Thread(target=run, daemon=True).start()
        yield
        listener.shutdown(socket.SHUT_RDWR)


def failure(address: str, **options: float) -> WorldError:
    """Return why a driver does not connect."""
    with pytest.raises(WorldError) as raised:
        FrankaDriver(address, realtime=IGNORE, **options).close()  # type: ignore[arg-type]
    return raised.value


def test_a_port_that_refuses_is_an_fci_that_is_off(address: str) -> None:
    error = failure(own_address(10))

    assert type(error) is FciOffError
    assert 'activate FCI in the menu' in str(error)


@pytest.mark.parametrize('behave', [serve_once, stay_silent])
def test_another_program_in_control_differs_from_no_route(
    address: str, impatient: None, behave: Callable[[socket.socket], None]
) -> None:
    with service(own_address(11), behave):
        error = failure(own_address(11))

    assert type(error) is ControlTakenError
    assert 'end the other one' in str(error)


def test_another_service_on_the_port_is_named_by_its_reply(address: str, impatient: None) -> None:
    with service(own_address(12), reply_as_redis):
        error = failure(own_address(12))

    assert type(error) is NotARobotError
    assert '-ERR' in str(error)
    assert 'which Desk shows' in str(error)


@pytest.fixture(scope='module')
def table() -> Iterator[TableProcess]:
    with serving(own_address(13), '--scene', 'tower', '--speed', '0.5') as table:
        yield table


@pytest.mark.parametrize(
    ('fault', 'error', 'remedy'),
    [
        ('old_system', VersionError, 'Update the robot to system image 5.9.0 or later'),
        ('joints_locked', LockedError, 'unlock the joints in Desk'),
    ],
)
def test_a_robot_that_cannot_be_driven_is_refused_at_the_start(
    table: TableProcess, fault: str, error: type[WorldError], remedy: str
) -> None:
    table.send(f'fault {fault}')
    found = failure(table.address)
    table.send(f'clear {fault}')

    assert type(found) is error
    assert remedy in str(found)


def test_a_load_that_does_not_match_is_refused_at_the_start(table: TableProcess) -> None:
    found = failure(table.address, load_kg=0.5)

    assert type(found) is LoadError
    assert '0 kg set, and 0.5 kg was stated' in str(found)


def test_what_changes_later_is_refused_before_it_moves(table: TableProcess) -> None:
    driver = FrankaDriver(table.address, realtime=IGNORE)
    try:
        q = driver.set_point()
        assert q is not None
        move = joint_move(driver.robot_model, q, q + 0.1, scale=0.5)
        table.send('fault joints_locked')
        refused = driver.follow(move, Tolerances())
        table.send('clear joints_locked')
        assert refused.status is GoalStatus.REJECTED
        assert 'unlock the joints in Desk' in refused.error_string

        table.send('fault hand_not_homed')
        until_unhomed(driver)
        gripped = driver.move_gripper(0.02, 0.1)
        assert (gripped.status, gripped.begun) == (GoalStatus.REJECTED, False)
        assert f'bbllm home --ip {table.address}' in gripped.error
        both = driver.move_both(
            move, Tolerances(), arm_driver.FingerMove(width_m=0.02, speed_m_s=0.1)
        )
        assert {both[0].status, both[1].status} == {GoalStatus.REJECTED}
        assert driver.joint_state().position_rad == pytest.approx(q, abs=0.002)
    finally:
        driver.close()


def until_unhomed(driver: FrankaDriver) -> None:
    """Wait until the hand reports that it was not homed."""
    assert driver._hand is not None
    end_s = time.monotonic() + 20.0
    while not driver._hand.unhomed(driver.robot_model.hand):
        assert time.monotonic() < end_s, 'the hand did not report that it was not homed'
        time.sleep(0.05)


@pytest.mark.parametrize(
    ('typed', 'why'),
    [
        ('no.such.robot.invalid', 'is no address'),
        ('fe80::1', 'IPv4 alone'),
        ('[::1]', 'IPv4 alone'),
        ('172.16.0.2:1337', 'is no address'),
        ('https://172.16.0.2', 'is no address'),
        ('172.16.0.2 ', 'is no address'),
        ('x' * 300, 'is no address'),
    ],
)
def test_what_is_no_address_is_refused_with_one_that_is(typed: str, why: str) -> None:
    with pytest.raises(NoRouteError, match=why) as raised:
        check_address(typed, simulated=False)
    assert 'such as 172.16.0.2' in str(raised.value)


def test_a_name_is_resolved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(['127.0.0.9', '192.0.2.7'])

    def lookup(name: str, *_: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, '', (next(answers), 0))]

    monkeypatch.setattr(address_module.socket, 'getaddrinfo', lookup)

    assert check_address('robot.local', simulated=True) == '127.0.0.9'


def test_a_robot_that_restarts_is_connected_anew(tmp_path: Path) -> None:
    at = own_address(14)
    scene = tmp_path / 'empty.yaml'
    scene.write_text(
        'description: One cube.\nobjects:\n'
        '  - {name: red_cube, kind: cube, color: red, xy: [0.45, 0.1]}\n'
    )
    options = {'ip': at, 'scene': scene, 'simulated_robot': True, 'rehearse': False}
    with franka_sim(at, patience_s=PATIENCE_S) as server:
        robot = Robot('fr3', **options)
        try:
            assert robot.execute('return_to_base()').succeeded
            server.process.terminate()
            server.process.wait(20.0)
            with franka_sim(at, patience_s=PATIENCE_S):
                episode = robot.do('move back to base')
                assert episode.ending is Ending.FINISHED, episode.message
        finally:
            robot.close()


def test_a_wall_clock_that_jumps_changes_nothing(
    address: str, driver: FrankaDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    q = driver.set_point()
    assert q is not None
    there = joint_move(driver.robot_model, q, q - 0.2, scale=0.3)
    real, jumps = time.time, iter([7200.0, -7200.0] * 100_000)
    monkeypatch.setattr(time, 'time', lambda: real() + next(jumps))

    assert driver.follow(there, Tolerances()).status is GoalStatus.SUCCEEDED
    assert driver.vertical_force_n(settled=True) is not None
    back = joint_move(driver.robot_model, there.position_rad[-1], q, scale=0.3)
    assert driver.follow(back, Tolerances()).status is GoalStatus.SUCCEEDED


@pytest.mark.parametrize(
    'path',
    sorted(
        path
        for package in (bbllm_franka, arm_driver)
        for path in Path(str(package.__file__)).parent.rglob('*.py')
    ),
    ids=lambda path: path.name,
)
def test_nothing_that_moves_an_arm_reads_the_wall_clock(path: Path) -> None:
    calls = {
        ast.unparse(node.func)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
    }

    # What a question to a person shows is the time of day.
    allowed = {'time.time'} if path.name == 'home.py' else set()
    assert (
        not calls
        & {'time.time', 'time.localtime', 'datetime.now', 'datetime.datetime.now'} - allowed
    )
