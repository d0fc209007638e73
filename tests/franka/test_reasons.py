"""Errors of a connection by the texts of libfranka 0.21."""

import pytest

from bbllm.core.errors import WorldError
from bbllm_franka.arm_link import check_machine
from bbllm_franka.errors import (
    ControlTakenError,
    FciOffError,
    NoRouteError,
    RealtimeError,
    SlowMachineError,
    VersionError,
)
from bbllm_franka.messages import ENFORCE, IGNORE, LinkQuality
from bbllm_franka.reasons import connection_error


@pytest.mark.parametrize(
    ('kind', 'text', 'error', 'advice'),
    [
        (
            'NetworkException',
            'libfranka: Connection to FCI refused. Please install FCI feature or enable FCI mode '
            'in Desk.',
            FciOffError,
            'activate FCI',
        ),
        ('NetworkException', 'libfranka: No route to host', NoRouteError, 'ping 172.16.0.2'),
        ('NetworkException', 'libfranka: Connection timeout', NoRouteError, 'cable'),
        ('NetworkException', 'libfranka: server closed connection', ControlTakenError, 'one'),
        (
            'FrankaException',
            'libfranka: Incompatible library version (server version: 9, library version: 10).',
            VersionError,
            'system image 5.9.0',
        ),
        (
            'RealtimeException',
            'libfranka: Running kernel does not have realtime capabilities.',
            RealtimeError,
            '--realtime ignore',
        ),
    ],
)
def test_each_error_of_a_connection_has_its_remedy(
    kind: str, text: str, error: type[WorldError], advice: str
) -> None:
    found = connection_error(kind, text, '172.16.0.2')

    assert type(found) is error
    assert advice in str(found)


@pytest.mark.parametrize(('share', 'widest_s'), [(0.9, 0.003), (0.99, 0.025)])
def test_a_slow_machine_is_refused_where_real_time_is_enforced(
    share: float, widest_s: float
) -> None:
    slow = LinkQuality(share=share, widest_s=widest_s, prioritized=False)

    with pytest.raises(SlowMachineError, match='CPU governor'):
        check_machine(slow, ENFORCE)
    check_machine(slow, IGNORE)
    check_machine(LinkQuality(share=0.99, widest_s=0.003, prioritized=False), ENFORCE)
