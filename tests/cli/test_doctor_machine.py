"""What `bbllm doctor --real` says of this machine: processors, messages, driver, safety file."""

from __future__ import annotations

from pathlib import Path

import pytest

from bbllm.cli.checks.findings import Level
from bbllm.cli.checks.real_machine import (
    DRIVER,
    MESSAGES,
    check_driver_packages,
    check_governor,
    check_messages,
    check_safety,
)


@pytest.mark.parametrize(
    ('governors', 'level', 'said'),
    [
        (['performance', 'performance'], Level.OK, 'performance on 2 processors'),
        (['performance', 'powersave'], Level.WARN, 'performance, powersave on 2 processors'),
        ([], Level.WARN, 'cannot be read here'),
    ],
)
def test_processors_that_slow_down_are_found(
    tmp_path: Path, governors: list[str], level: Level, said: str
) -> None:
    for number, governor in enumerate(governors):
        folder = tmp_path / f'cpu{number}' / 'cpufreq'
        folder.mkdir(parents=True)
        (folder / 'scaling_governor').write_text(f'{governor}\n')

    finding = check_governor(tmp_path)

    assert (finding.level, said in finding.text) == (level, True)


def package(prefix: Path, name: str, version: str, about: str) -> None:
    folder = prefix / 'share' / name
    folder.mkdir(parents=True)
    text = f'<package><version>{version}</version><description>{about}</description></package>'
    (folder / 'package.xml').write_text(text)


def test_stand_ins_for_messages_are_told_from_the_drivers_own(tmp_path: Path) -> None:
    for name in MESSAGES:
        package(tmp_path / 'ours', name, '3.4.0', 'What bbllm uses of it')
    for name in (*DRIVER, 'franka_msgs'):
        package(tmp_path / 'driver', name, '3.5.1', 'By its makers')
    ours, driver = tmp_path / 'ours', tmp_path / 'driver'

    alone, mixed = list(check_messages([ours])), list(check_messages([driver, ours]))

    assert [(item.level, 'stand-ins' in item.text) for item in alone] == [(Level.OK, True)]
    assert "the driver's own: franka_msgs 3.5.1" in mixed[0].text
    assert (mixed[1].level, mixed[1].remedy) == (
        Level.WARN,
        'With the driver sourced: make clean, make setup.',
    )
    assert [item.level for item in check_messages([tmp_path])] == [Level.FAIL]


def test_a_driver_that_is_not_in_this_shell_may_run_elsewhere(tmp_path: Path) -> None:
    for name in DRIVER[:-1]:
        package(tmp_path, name, '3.4.0', 'By its makers')
    lacking = check_driver_packages([tmp_path])
    package(tmp_path, DRIVER[-1], '4.30.0', 'By its makers')
    package(tmp_path, 'libfranka', '0.20.5', 'By its makers')
    whole = check_driver_packages([tmp_path])

    assert (lacking.level, lacking.text) == (Level.WARN, f'not in this shell: {DRIVER[-1]}')
    assert whole.level is Level.OK
    assert 'franka_bringup 3.4.0' in whole.text and 'libfranka 0.20.5' in whole.text


def test_a_safety_file_that_cannot_be_used_is_a_failure(tmp_path: Path) -> None:
    path = tmp_path / 'mine.yaml'
    path.write_text('tcp_sped: {max_m_s: 1}')

    assert check_safety().level is Level.OK
    finding = check_safety(str(path))
    assert (finding.level, 'Did you mean `tcp_speed`' in finding.text) == (Level.FAIL, True)
