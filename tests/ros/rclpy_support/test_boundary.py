"""Who can reach a stack: this machine only, and another one where it is opened to the network."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError
from bbllm_ros.rclpy_support.dds_boundary import (
    FILE,
    NETWORK,
    OLD_RANGE,
    RANGE,
    SKIP,
    bounded,
    has_own_profile,
    profile_file,
)
from tests.ros.stacks import PATIENCE_S, started, udp_addresses

GUEST = Path(__file__).parents[1] / 'guest.py'
CLOSED = {FILE: str(profile_file()), SKIP: '1', RANGE: 'SYSTEM_DEFAULT'}
LOOPBACK = '127.0.0.1'
HERE_S, ELSEWHERE_S = 60.0, 15.0
"""How long is looked for nodes that must be found, and for those that must not [s]."""


CYCLONE = {'RMW_IMPLEMENTATION': 'rmw_cyclonedds_cpp'}
SITE = {FILE: '/etc/site.xml', RANGE: 'SUBNET', SKIP: '0'}
OPEN = {NETWORK: 'true', RANGE: 'SUBNET'}
OPEN_HERE = {NETWORK: 'true', RANGE: 'LOCALHOST'}


@pytest.mark.parametrize(
    ('given', 'wanted'),
    [
        ({'HOME': '/root'}, {'HOME': '/root', **CLOSED}),
        (CLOSED, CLOSED),
        *(
            ({RANGE: reach, OLD_RANGE: '1', SKIP: '0', NETWORK: ''}, {**CLOSED, NETWORK: ''})
            for reach in ('SUBNET', 'LOCALHOST', 'OFF')
        ),
        ({NETWORK: 'true'}, OPEN),
        ({**CLOSED, NETWORK: 'true'}, OPEN),
        (OPEN_HERE, OPEN_HERE),
        (SITE, SITE),
        (CYCLONE, {**CYCLONE, RANGE: 'LOCALHOST'}),
        ({**CLOSED, **CYCLONE}, {**CYCLONE, RANGE: 'LOCALHOST'}),
    ],
)
def test_processes_stay_on_this_machine_unless_one_variable_or_a_profile_decides_otherwise(
    given: dict[str, str], wanted: dict[str, str]
) -> None:
    assert bounded(given) == wanted
    assert has_own_profile(given) is (given is SITE)


def test_what_is_neither_true_nor_false_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"BBLLM_NETWORK is 'yes': set it to true or to false"):
        bounded({NETWORK: 'yes'})


@pytest.mark.parametrize('shell', ['sh', 'bash'])
@pytest.mark.parametrize(
    ('given', 'wanted'),
    [
        ({}, CLOSED),
        (CLOSED, CLOSED),
        ({RANGE: 'SUBNET', OLD_RANGE: '1'}, CLOSED),
        ({NETWORK: 'true'}, {NETWORK: 'true'}),
        ({**CLOSED, NETWORK: 'true'}, {NETWORK: 'true'}),
        ({FILE: '/etc/site.xml'}, {FILE: '/etc/site.xml'}),
        ({'RMW_IMPLEMENTATION': 'rmw_cyclonedds_cpp'}, {}),
    ],
)
def test_activate_gives_the_tools_of_ros_the_same_boundary(
    shell: str, given: dict[str, str], wanted: dict[str, str], repository: Path
) -> None:
    if not (repository / '.venv' / 'bbllm-env.sh').exists():
        pytest.skip('this checkout was not set up by `make setup`')
    environ = {'PATH': os.environ['PATH'], 'BBLLM_ROOT': str(repository), **given}
    run = subprocess.run(
        [shell, '-c', '. "$BBLLM_ROOT/activate" && env'],
        env=environ,
        capture_output=True,
        text=True,
    )

    assert run.returncode == 0, run.stderr
    found = dict(line.split('=', 1) for line in run.stdout.splitlines() if '=' in line)
    names = {*CLOSED, OLD_RANGE, NETWORK}
    assert {name: found[name] for name in names if name in found} == {
        name: value for name, value in wanted.items() if name in names
    }


@pytest.mark.ros
@pytest.mark.parametrize('network', [False, True])
def test_sockets_are_bound_to_loopback_alone_unless_the_network_is_asked_for(
    empty_domain: int, network: bool
) -> None:
    environ = {NETWORK: str(network).lower(), 'ROS_DOMAIN_ID': str(empty_domain)}
    with started(('body_mapper',), environ=environ) as stack:
        (process,) = stack.stack.processes.values()
        assert ('0.0.0.0' in udp_addresses(process.pid)) is network
        assert (udp_addresses(process.pid) == {LOOPBACK}) is not network


def ip(*words: str) -> None:
    subprocess.run(['ip', *words], check=True, capture_output=True, text=True)


@contextmanager
def two_machines() -> Iterator[tuple[str, str, str]]:
    """Make two network namespaces and a cable; yield them and the address of the first."""
    first, second = (f'bbllm-{os.getpid()}-{i}' for i in range(2))
    address = '192.0.2.1'
    try:
        for name in (first, second):
            ip('netns', 'add', name)
            ip('-n', name, 'link', 'set', 'lo', 'up')
        ends = ('cable0', 'netns', first, 'type', 'veth', 'peer', 'cable1', 'netns', second)
        ip('link', 'add', *ends)
        for name, end, own in ((first, 'cable0', address), (second, 'cable1', '192.0.2.2')):
            ip('-n', name, 'addr', 'add', f'{own}/24', 'dev', end)
            ip('-n', name, 'link', 'set', end, 'up')
            ip('-n', name, 'route', 'add', 'default', 'dev', end)
        yield first, second, address
    finally:
        for name in (first, second):
            subprocess.run(['ip', 'netns', 'del', name], capture_output=True)


@pytest.fixture(scope='module')
def machines() -> Iterator[tuple[str, str, str]]:
    """Skip where this process may not make network namespaces."""
    if shutil.which('ip') is None:
        pytest.skip('`ip` is not installed (iproute2): no second machine can be made')
    try:
        with two_machines() as made:
            yield made
    except subprocess.CalledProcessError as error:
        pytest.skip(f'no network namespaces can be made here: {error.stderr.strip()}')


@pytest.mark.ros
@pytest.mark.slow
@pytest.mark.parametrize('network', [False, True])
def test_another_machine_reaches_the_stack_only_where_it_is_opened(
    machines: tuple[str, str, str], empty_domain: int, network: bool
) -> None:
    first, second, address = machines
    up = [sys.executable, '-u', '-m', 'bbllm', 'up', 'sim', '--speed', '0']
    up += ['--brain', 'offline', '--body', 'offline', *(['--network'] if network else [])]
    stack = subprocess.Popen(
        ['ip', 'netns', 'exec', first, *up],
        env={**os.environ, 'ROS_DOMAIN_ID': str(empty_domain)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        assert stack.stdout is not None
        output = ''
        for line in stack.stdout:
            output += line.decode()
            if 'Ctrl-C here ends all nodes' in output:
                break
        assert 'Ctrl-C here ends all nodes' in output, output
        environ = {name: value for name, value in os.environ.items() if name not in CLOSED}
        patience_s = HERE_S if network else ELSEWHERE_S
        guest = [sys.executable, str(GUEST), str(patience_s), 'return to base']
        run = subprocess.run(
            ['ip', 'netns', 'exec', second, *guest],
            # Shared memory would reach over what is a cable between machines.
            env={
                **environ,
                'ROS_DOMAIN_ID': str(empty_domain),
                'ROS_STATIC_PEERS': address,
                'FASTDDS_BUILTIN_TRANSPORTS': 'UDPv4',
            },
            capture_output=True,
            text=True,
            timeout=PATIENCE_S * 3,
        )
        found = json.loads(run.stdout)
    finally:
        stack.send_signal(signal.SIGINT)
        stack.communicate(timeout=PATIENCE_S)

    if network:
        assert '/bbllm/brain_planner' in found['nodes']
        assert found['ending'] == 'FINISHED'
    else:
        assert found == {'nodes': [], 'ending': ''}
