"""What the launch files of a real arm are given, before anything is started."""

from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError
from bbllm_ros.parameters.real_arguments import DRIVER_PACKAGES, check_robot_ip, need_franka_ros2


@pytest.mark.parametrize(
    'text', ['172.16.0.2', 'fe80::1', 'robot', 'fr3-left.lab.example', 'fr3.']
)
def test_addresses_and_names_of_hosts_are_taken(text: str) -> None:
    assert check_robot_ip(text) == text


@pytest.mark.parametrize(
    'text',
    ['1.2.3', '172.16.0.256', '', 'a b', '-robot', 'robot_1', 'http://1.2.3.4', 'a..b'],
)
def test_what_is_no_address_is_named_with_one_that_is(text: str) -> None:
    with pytest.raises(ConfigError, match=r'is no address: .*robot_ip:=172.16.0.2'):
        check_robot_ip(text)


def test_a_driver_that_is_not_there_is_named_with_where_to_read_on(tmp_path: Path) -> None:
    for name in DRIVER_PACKAGES:
        with pytest.raises(ConfigError, match=rf'{name}.*docs/real-arm.md.*doctor --real'):
            need_franka_ros2([tmp_path])
        (tmp_path / 'share' / name).mkdir(parents=True)
        (tmp_path / 'share' / name / 'package.xml').write_text('<package/>')

    need_franka_ros2([tmp_path])


def test_packages_are_searched_in_the_prefixes_of_the_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))

    with pytest.raises(ConfigError, match='franka_bringup, controller_manager not found'):
        need_franka_ros2()
