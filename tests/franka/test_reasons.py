"""Errors of a connection by the texts of libfranka 0.21 and by what an address itself shows."""

import pytest

from bbllm.core.errors import WorldError
from bbllm_franka.arm_link import check_machine
from bbllm_franka.errors import (
    ControlTakenError,
    FciOffError,
    NoRouteError,
    NoStatesError,
    NotARobotError,
    RealtimeError,
    SlowMachineError,
    VersionError,
)
from bbllm_franka.messages import ENFORCE, IGNORE, LinkQuality
from bbllm_franka.probe import Probe, Reached
from bbllm_franka.reasons import connection_error

NET = ('NetworkException', 'libfranka: Connection error: Net Exception')
"""What libfranka reports of a wrong address, a cable that is out and an unknown name alike."""
ENDED = ('NetworkException', 'libfranka: server closed connection')


@pytest.mark.parametrize(
    ('kind', 'text', 'found', 'error', 'advice'),
    [
        (*NET, Probe(Reached.NOTHING, 'No route to host'), NoRouteError, 'ping 172.16.0.2'),
        (*NET, Probe(Reached.NOTHING, 'no answer within 2 s'), NoRouteError, 'cable'),
        (
            'NetworkException',
            'libfranka: Connection timeout. Please check your network connection or settings.',
            Probe(Reached.HOST, 'no answer within 2 s'),
            FciOffError,
            'activate FCI',
        ),
        (
            'NetworkException',
            'libfranka: Connection to FCI refused. Please install FCI feature or enable FCI mode '
            'in Desk.',
            Probe(Reached.REFUSED, 'connection refused'),
            FciOffError,
            'activate FCI',
        ),
        (*ENDED, Probe(Reached.PORT, 'ended without a reply'), ControlTakenError, 'end the other'),
        (
            '',
            'no answer within 20 s',
            Probe(Reached.STRANGER, "'SSH-2.0'"),
            NotARobotError,
            'State the address of the robot',
        ),
        (
            'NetworkException',
            'libfranka: UDP receive: Timeout',
            Probe(Reached.ROBOT),
            NoStatesError,
            'firewall',
        ),
        (
            'IncompatibleVersionException',
            'libfranka: Incompatible library version (server version: 9, library version: 10).',
            None,
            VersionError,
            'server version 9 (system image 5.7.2 or later), and libfranka needs version 10 '
            '(system image 5.9.0 or later). Update the robot',
        ),
        (
            'IncompatibleVersionException',
            'libfranka: Incompatible library version (server version: 11, library version: 10).',
            None,
            VersionError,
            'server version 11, and libfranka needs version 10 (system image 5.9.0 or later). '
            'Install a libfranka',
        ),
        (
            'RealtimeException',
            'libfranka: Running kernel does not have realtime capabilities.',
            None,
            RealtimeError,
            '--realtime ignore',
        ),
    ],
)
def test_each_error_of_a_connection_has_its_remedy(
    kind: str, text: str, found: Probe | None, error: type[WorldError], advice: str
) -> None:
    def ask(address: str) -> Probe:
        assert found is not None, 'the text of libfranka says it all'
        return found

    shown = connection_error(kind, text, '172.16.0.2', ask)

    assert type(shown) is error
    assert advice in str(shown)


@pytest.mark.parametrize(('share', 'widest_s'), [(0.9, 0.003), (0.99, 0.025)])
def test_a_slow_machine_is_refused_where_real_time_is_enforced(
    share: float, widest_s: float
) -> None:
    slow = LinkQuality(share=share, widest_s=widest_s, prioritized=False)

    with pytest.raises(SlowMachineError, match='CPU governor'):
        check_machine(slow, ENFORCE)
    check_machine(slow, IGNORE)
    check_machine(LinkQuality(share=0.99, widest_s=0.003, prioritized=False), ENFORCE)
