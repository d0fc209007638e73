"""`bbllm doctor --fr3` at the simulated table, by unmodified libfranka."""

import subprocess
import sys

import pytest

from bbllm_fci.process import TableProcess
from bbllm_franka.libraries import PACKAGES
from tests.fci.conftest import free_address, run_client, serving
from tests.fci.test_clients import CONNECT, FRANKY, STATES, STAY
from tests.franka.checks.reports import doctor


def test_an_idle_robot_is_ready_and_the_next_command_is_a_task(served: TableProcess) -> None:
    served.send('reset')
    before = run_client(STATES, served.address)['q']

    found = doctor(served.address)

    assert found.exit_code == 0, found
    assert 'fail' not in found.levels.values()
    for name, text in {
        'address': 'is this computer',
        'fci': 'version 10',
        'mode': 'idle',
        'hand': 'version 3',
        'tool': 'that of a Franka Hand',
        'load': '0 kg, as stated',
        'desk': 'not checked without a password',
    }.items():
        assert text in found.findings[name]['text'], found.findings[name]
    assert 'route' not in found.levels and 'network' not in found.levels
    assert found.next.endswith(f'--ip {served.address} --scene first_day --simulated-robot')
    assert run_client(STATES, served.address)['q'] == pytest.approx(before, abs=1e-3)


def test_a_reflex_is_found_and_left_to_the_next_task(served: TableProcess) -> None:
    served.send('fault reflex')
    found = doctor(served.address)

    assert (found.exit_code, found.levels['mode']) == (0, 'warn')
    assert 'reflex; errors:' in found.findings['mode']['text']


def test_a_load_that_was_not_set_is_refused(served: TableProcess) -> None:
    found = doctor(served.address, '--load', '0.5')

    assert (found.exit_code, found.levels['load']) == (1, 'fail')
    assert found.next.endswith('--load 0.5')


def test_a_program_that_has_the_robot_is_named_and_keeps_it(served: TableProcess) -> None:
    with subprocess.Popen(
        [sys.executable, '-c', STAY, served.address], stdout=subprocess.PIPE, text=True
    ) as other:
        try:
            assert other.stdout is not None and other.stdout.readline() == 'connected\n'
            found = doctor(served.address)
            # It still has the only connection.
            refused = run_client(CONNECT, served.address)
        finally:
            other.kill()

    assert found.levels['fci'] == 'fail'
    assert f'(process {other.pid})' in found.findings['fci']['text']
    assert not {'mode', 'hand', 'keep-up'} & set(found.levels)
    assert 'TCP connection got interrupted' in refused


@pytest.mark.parametrize(
    ('fault', 'name', 'text', 'next_step'),
    [
        ('user_stop', 'mode', 'user stopped', 'Release the user stop; the next'),
        ('joints_locked', 'mode', 'mode other', 'Unlock the joints in Desk'),
        ('hand_not_homed', 'hand', 'it was not homed since', 'Take what is between the fingers'),
        ('old_system', 'fci', 'it has server version 9', 'Update the robot to system image 5.9.0'),
    ],
)
def test_what_is_wrong_is_named_with_what_comes_first(
    served: TableProcess, fault: str, name: str, text: str, next_step: str
) -> None:
    served.send(f'fault {fault}')
    found = doctor(served.address)
    served.send(f'clear {fault}')
    if fault == 'user_stop':  # which lasts until a client recovers
        run_client(f'{FRANKY}print(json.dumps(0))', served.address)

    assert (found.exit_code, found.levels[name]) == (1, 'fail')
    assert [key for key, level in found.levels.items() if level == 'fail'] == [name]
    assert text in found.findings[name]['text'], found
    assert found.next.startswith(next_step)
    assert found.next.endswith(f'bbllm doctor --fr3 --ip {served.address}')


def test_a_hand_that_is_missing_is_named_and_the_arm_is_still_checked() -> None:
    address = free_address().replace('127.8', '127.9')
    with serving(address, '--speed', '0.5', '--fault', 'no_hand'):
        found = doctor(address)

    assert (found.exit_code, found.levels['hand'], found.levels['mode']) == (1, 'fail', 'ok')
    assert 'No Franka Hand answers' in found.findings['hand']['text']
    assert found.next.startswith('Mount it')


def test_without_fci_the_next_step_is_in_desk(served: TableProcess) -> None:
    address = free_address().replace('127.8', '127.10')

    found = doctor(address)

    assert (found.exit_code, found.levels['fci']) == (1, 'fail')
    assert 'its FCI does not' in found.findings['fci']['text']
    assert found.next.startswith(f'Open Desk (https://{address}), unlock the joints')


def test_a_name_that_is_no_address_ends_the_check(served: TableProcess) -> None:
    found = doctor('no.such.robot.invalid')

    assert [*found.levels] == ['franky', 'pylibfranka', 'address']
    assert 'is no address' in found.findings['address']['text']
    assert 'Settings > Network' in found.next


def test_a_wheel_that_is_missing_is_installed_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PACKAGES, 'franky', 'no-such-wheel')

    found = doctor('127.0.0.1')

    assert (found.exit_code, found.levels['franky']) == (1, 'fail')
    assert 'fci' not in found.levels
    assert 'make extras' in found.next
