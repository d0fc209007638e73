"""What is found on this computer and on its way to a robot, by files as Linux writes them."""

import resource
from pathlib import Path

import pytest

from bbllm.core.findings import Level
from bbllm_franka.checks import computer
from bbllm_franka.checks.computer import (
    Client,
    NoPingError,
    check_governor,
    check_kernel,
    check_limits,
    check_network,
    check_route,
    clients_of,
    judge_network,
    measure,
    trips_of,
)

HEAD = 'Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n'
DEFAULT = 'eth0 00000000 0101A8C0 0003 0 0 100 00000000 0 0 0\n'  # by 192.168.1.1
HOME = 'eth0 0001A8C0 00000000 0001 0 0 100 00FFFFFF 0 0 0\n'  # 192.168.1.0/24
CABLE = 'eth1 000010AC 00000000 0001 0 0 101 00FFFFFF 0 0 0\n'  # 172.16.0.0/24
ROBOT = '172.16.0.2'


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace('__', '/')
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ('routes', 'files', 'level', 'text'),
    [
        (DEFAULT + HOME + CABLE, {'speed': '1000\n'}, Level.OK, 'eth1, 1000 Mbit/s, which serves'),
        (HOME, {}, Level.FAIL, 'no card of this computer has an address'),
        (DEFAULT + HOME, {}, Level.WARN, 'by the card eth0 and the router 192.168.1.1'),
        (CABLE, {'carrier': '0\n'}, Level.FAIL, 'no cable'),
        (CABLE, {'wireless': ''}, Level.FAIL, 'wireless'),
        (CABLE + DEFAULT.replace('eth0', 'eth1'), {}, Level.WARN, 'which serves 0.0.0.0/0 too'),
    ],
)
def test_the_route_is_that_of_the_longest_prefix(
    tmp_path: Path, routes: str, files: dict[str, str], level: Level, text: str
) -> None:
    write(tmp_path, proc__net__route=HEAD + routes)
    write(tmp_path, **{f'sys__class__net__eth1__{name}': text for name, text in files.items()})

    found = check_route(ROBOT, tmp_path)

    assert (found.level, text in found.text) == (level, True), found
    assert bool(found.remedy) == (level is not Level.OK)


def test_an_address_in_the_net_of_the_robot_is_proposed(tmp_path: Path) -> None:
    write(tmp_path, proc__net__route=HEAD)

    assert 'such as 172.16.0.1/24' in check_route(ROBOT, tmp_path).remedy
    assert 'such as 172.16.0.2/24' in check_route('172.16.0.1', tmp_path).remedy


@pytest.mark.parametrize(
    ('flag', 'version', 'level', 'remedy'),
    [
        ('1\n', '#8 SMP PREEMPT_RT', Level.OK, ''),
        (None, '#8 SMP PREEMPT_RT', Level.WARN, 'with that file'),
        ('0\n', '#1 SMP PREEMPT_DYNAMIC', Level.WARN, 'realtime-kernel'),
        (None, '#1 SMP', Level.WARN, '--realtime ignore'),
    ],
)
def test_a_kernel_is_real_time_where_libfranka_takes_it_for_one(
    tmp_path: Path, flag: str | None, version: str, level: Level, remedy: str
) -> None:
    write(tmp_path, proc__sys__kernel__osrelease='6.8.1\n', proc__sys__kernel__version=version)
    if flag is not None:
        write(tmp_path, sys__kernel__realtime=flag)

    found = check_kernel(tmp_path)

    assert found.level is level
    assert version in found.text and remedy in found.remedy


def test_governors_are_those_of_all_processors(tmp_path: Path) -> None:
    assert 'cannot be read' in check_governor(tmp_path).text
    for i, name in enumerate(('performance', 'performance', 'powersave')):
        write(tmp_path, **{f'sys__devices__system__cpu__cpu{i}__cpufreq__scaling_governor': name})
        found = check_governor(tmp_path)

        assert found.level is (Level.WARN if name == 'powersave' else Level.OK)

    assert found.text == 'performance, powersave on 3 processors'


@pytest.mark.parametrize(
    ('priority', 'memory', 'user', 'level'),
    [
        (99, resource.RLIM_INFINITY, 1000, Level.OK),
        (0, 65_536, 1000, Level.WARN),
        (99, 65_536, 1000, Level.WARN),
        (0, 65_536, 0, Level.OK),
    ],
)
def test_limits_of_a_user_are_those_of_real_time(
    monkeypatch: pytest.MonkeyPatch, priority: int, memory: int, user: int, level: Level
) -> None:
    limits = {resource.RLIMIT_RTPRIO: priority, resource.RLIMIT_MEMLOCK: memory}
    monkeypatch.setattr(resource, 'getrlimit', lambda kind: (limits[kind], limits[kind]))
    monkeypatch.setattr(computer.os, 'geteuid', lambda: user)

    assert check_limits().level is level


@pytest.mark.parametrize(
    ('sent', 'times_ms', 'level', 'text'),
    [
        (1000, [0.1] * 1000, Level.OK, '1000 packets to robot, one every 2 ms, 0 lost'),
        (1000, [0.1, 0.3] * 500, Level.OK, 'jitter 0.200 ms'),
        (1000, [0.1] * 900 + [0.7] * 100, Level.WARN, 'p99 0.700'),
        (1000, [0.1] * 998 + [1.4] * 2, Level.WARN, 'max 1.400'),
        (1000, [0.1] * 900 + [1.7] * 100, Level.FAIL, 'p99 1.700'),
        (1000, [0.1] * 999, Level.WARN, '1 lost'),
        (1000, [0.1] * 900, Level.FAIL, '100 lost'),
        (1000, [], Level.FAIL, 'none of 1000 packets to robot came back'),
    ],
)
def test_a_network_is_judged_by_the_cycle_of_the_robot(
    sent: int, times_ms: list[float], level: Level, text: str
) -> None:
    found = judge_network('robot', sent, times_ms)

    assert (found.level, text in found.text) == (level, True), found
    assert bool(found.remedy) == (level is not Level.OK)


def test_what_ping_prints_is_read_and_only_the_first_answer_to_a_packet_counts() -> None:
    text = (
        '64 bytes from 172.16.0.2: icmp_seq=1 ttl=64 time=0.081 ms\n'
        '64 bytes from 172.16.0.2: icmp_seq=1 ttl=64 time=0.390 ms (DUP!)\n'
        '--- 172.16.0.2 ping statistics ---\n'
        '2 packets transmitted, 1 received, +1 duplicates, 50% packet loss, time 998ms\n'
    )

    assert trips_of(text) == (2, [0.081])
    assert trips_of('ping: socket: Operation not permitted\n') is None


def test_without_ping_nothing_is_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv('PATH', str(tmp_path))

    with pytest.raises(NoPingError, match='apt install iputils-ping'):
        measure(ROBOT)
    assert check_network(ROBOT).level is Level.WARN


def test_programs_that_are_connected_to_the_robot_are_named(tmp_path: Path) -> None:
    rows = (
        # To port 1337 of the robot; to its Desk; a listener; to the hand of another robot.
        ('010010AC:9C40', '020010AC:0539', '01', '71'),
        ('010010AC:9C41', '020010AC:01BB', '01', '72'),
        ('00000000:0539', '00000000:0000', '0A', '73'),
        ('010010AC:9C42', '030010AC:053A', '01', '74'),
        ('010010AC:9C43', '020010AC:053A', '01', '75'),
        ('010010AC:9C44', '020010AC:0539', '06', '0'),
    )
    lines = [
        f'{i}: {own} {other} {state} 0:0 00:0 0 1000 0 {inode} 1'
        for i, (own, other, state, inode) in enumerate(rows)
    ]
    write(tmp_path, proc__net__tcp='\n'.join(['sl local_address ...', *lines]) + '\n')
    write(tmp_path, proc__41__comm='bbllm\n')
    (tmp_path / 'proc/41/fd').mkdir()
    (tmp_path / 'proc/41/fd/5').symlink_to('socket:[71]')

    assert clients_of(ROBOT, tmp_path) == [
        Client(1337, 'bbllm (process 41)'),
        Client(1338, 'a program of another user'),
    ]
    assert clients_of('172.16.0.9', tmp_path) == []
