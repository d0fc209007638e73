"""The proxy that loses packets, between a client and a robot that both are sockets of the test."""

import socket
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from bbllm.core.errors import WorldError
from bbllm_bench.benchmarks.driver.lossy_link import CONNECTS, Losses, LossyLink

WAIT_S = 20.0
ROBOT, PROXY = '127.31.7.1', '127.31.7.2'


class Peers:
    """A client and a robot after the first message, each with its TCP and UDP socket."""

    def __init__(self, stack: ExitStack, link: LossyLink, port: int) -> None:
        def opened(kind: socket.SocketKind, address: str, number: int) -> socket.socket:
            made = stack.enter_context(socket.socket(socket.AF_INET, kind))
            made.settimeout(WAIT_S)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind((address, number))
            return made

        listening = opened(socket.SOCK_STREAM, ROBOT, port)
        listening.listen()
        self.states = opened(socket.SOCK_DGRAM, '127.0.0.1', 0)
        self.client = stack.enter_context(socket.create_connection((PROXY, port), WAIT_S))
        own = self.states.getsockname()[1]
        self.client.sendall(CONNECTS[port].pack(0, 1, CONNECTS[port].size, 10, own))
        self.robot = stack.enter_context(listening.accept()[0])
        self.robot.settimeout(WAIT_S)
        self.hello = CONNECTS[port].unpack(self.robot.recv(CONNECTS[port].size))
        self.sender = opened(socket.SOCK_DGRAM, ROBOT, 0)
        self.own, self.proxy = own, (self.robot.getpeername()[0], self.hello[-1])


@pytest.fixture(params=CONNECTS)
def peers(request: pytest.FixtureRequest) -> Iterator[tuple[LossyLink, Peers]]:
    with ExitStack() as stack:
        link = stack.enter_context(LossyLink(ROBOT, PROXY, seed=3))
        yield link, Peers(stack, link, request.param)


def test_the_robot_gets_the_port_of_the_proxy_and_the_rest_unchanged(
    peers: tuple[LossyLink, Peers],
) -> None:
    _, both = peers
    assert both.hello[:-1] == (0, 1, both.hello[2], 10) and both.hello[-1] != both.own
    both.robot.sendall(b'reply')
    assert both.client.recv(5) == b'reply'
    both.client.sendall(b'next')
    assert both.robot.recv(4) == b'next'


def test_states_and_commands_pass_and_the_lost_ones_are_counted(
    peers: tuple[LossyLink, Peers],
) -> None:
    link, both = peers
    for i in range(20):
        both.sender.sendto(struct.pack('<I', i), both.proxy)
        state, back = both.states.recvfrom(64)
        assert struct.unpack('<I', state)[0] == i
        both.states.sendto(state, back)
        assert both.sender.recv(64) == state
    assert (link.passed, link.lost) == (40, 0)
    link.losses = Losses(share=1.0, burst=3)
    for _ in range(7):
        both.sender.sendto(b'lost', both.proxy)
    end_s = time.monotonic() + WAIT_S
    while link.lost < 7:
        assert time.monotonic() < end_s, f'{link.lost} of 7 packets are counted as lost'
        time.sleep(0.01)
    link.losses = Losses(delay_s=0.01, jitter_s=0.01)
    for i in range(20):  # of which two are lost with the last gap
        both.sender.sendto(struct.pack('<I', i), both.proxy)
    assert {struct.unpack('<I', both.states.recv(64))[0] for _ in range(18)} == set(range(2, 20))
    assert (link.passed, link.lost) == (58, 9)


def test_a_cut_closes_both_ends(peers: tuple[LossyLink, Peers]) -> None:
    link, both = peers
    link.cut()
    assert both.client.recv(1) == b'' and both.robot.recv(1) == b''


def test_an_address_in_use_is_named() -> None:
    with LossyLink(ROBOT, PROXY), pytest.raises(WorldError, match=PROXY), LossyLink(ROBOT, PROXY):
        pass
