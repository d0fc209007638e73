"""What `bbllm doctor --real` says of the network between this machine and the robot."""

from __future__ import annotations

import struct

import pytest

from bbllm.cli.checks import round_trips
from bbllm.cli.checks.findings import Level
from bbllm.cli.checks.real_machine import judge_network
from bbllm.cli.checks.round_trips import RoundTrips, measure


def trips(*times_ms: float, sent: int | None = None, late_ms: float = 0.05) -> RoundTrips:
    return RoundTrips(
        how='ping socket',
        sent=len(times_ms) if sent is None else sent,
        times_ms=times_ms,
        period_ms=1.0,
        received=len(times_ms),
        late_ms=late_ms,
    )


@pytest.mark.parametrize(
    ('found', 'level', 'said'),
    [
        (trips(*[0.1] * 1000), Level.OK, '1000 packets to robot, one every 1 ms, 0 lost'),
        (trips(*[0.1] * 900, *[0.7] * 100), Level.WARN, 'p99 0.700'),
        (trips(*[0.1] * 998, 1.4, 1.4), Level.WARN, 'max 1.400'),
        (trips(*[0.1] * 900, *[1.7] * 100), Level.FAIL, 'p99 1.700'),
        (trips(*[0.1] * 900, *[1.7] * 100, late_ms=9.0), Level.WARN, 'woke up 9.00 ms late'),
        (trips(*[0.1] * 999, sent=1000), Level.WARN, '1 lost'),
        (trips(*[0.1] * 900, sent=1000), Level.FAIL, '100 lost'),
        (trips(sent=1000), Level.FAIL, 'none of 1000 packets to robot came back'),
        ('robot is no address', Level.FAIL, 'robot is no address'),
    ],
)
def test_a_network_is_judged_by_the_cycle_of_the_robot(
    found: RoundTrips | str, level: Level, said: str
) -> None:
    finding = judge_network('robot', found)

    assert finding.level is level
    assert said in finding.text
    assert bool(finding.remedy) == (level is not Level.OK)


def test_packets_to_this_machine_come_back() -> None:
    found = measure('127.0.0.1', count=50)

    if isinstance(found, str):
        pytest.skip(f'{found} (no ICMP for this user)')
    assert (found.sent, found.received, found.loss) == (50, 50, 0.0)
    assert 0.0 < found.at(50) < 1000.0


def test_a_request_carries_the_checksum_that_answers_it() -> None:
    packet = round_trips._packet(4711, 12)

    assert sum(struct.unpack(f'!{len(packet) // 2}H', packet)) % 0xFFFF == 0
    reply = bytes([0]) + packet[1:]
    assert round_trips._number(reply, None) == 12
    assert round_trips._number(b'\x45' + bytes(19) + reply, 4711) == 12
    assert round_trips._number(b'\x45' + bytes(19) + reply, 4712) is None
    assert round_trips._number(packet, None) is None, 'a request is no answer'


def test_the_summary_of_ping_is_understood_and_said_to_be_less() -> None:
    text = (
        '--- 172.16.0.2 ping statistics ---\n'
        '500 packets transmitted, 499 received, 0.2% packet loss, time 998ms\n'
        'rtt min/avg/max/mdev = 0.081/0.112/0.390/0.025 ms\n'
    )

    found = round_trips._of_ping(text, 0.002)

    assert isinstance(found, RoundTrips)
    assert (found.sent, found.received, found.times_ms) == (500, 499, (0.081, 0.112, 0.39))
    finding = judge_network('172.16.0.2', found)
    assert finding.level is Level.FAIL
    assert 'ping_group_range' in finding.remedy


def test_an_address_that_is_none_is_named() -> None:
    assert measure('no.such.robot.invalid').startswith('no.such.robot.invalid is no address')
