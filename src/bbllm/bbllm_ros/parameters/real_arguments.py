"""What the launch files of a real arm are given, checked before anything is started."""

import ipaddress
import os
import re
from collections.abc import Sequence
from pathlib import Path

from bbllm.core.errors import ConfigError

DRIVER_PACKAGES = ('franka_bringup', 'controller_manager')
"""What `franka_driver.launch.py` starts."""
_LABEL = re.compile(r'(?!-)[a-z0-9-]{1,63}(?<!-)', re.IGNORECASE)
_NUMBERS = re.compile(r'[0-9.]+')


def check_robot_ip(text: str) -> str:
    """Return the address of a robot's control: an IP address or a host name, or ConfigError."""
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        labels = text.removesuffix('.').split('.')
        named = len(text) <= 253 and all(map(_LABEL.fullmatch, labels))
    if not named or _NUMBERS.fullmatch(text):
        raise ConfigError(
            f'robot_ip:={text[:80]!r} is no address: give the IP address of the robot control, '
            'as in robot_ip:=172.16.0.2, or the name of its host.'
        )
    return text


def need_franka_ros2(prefixes: Sequence[Path] | None = None) -> None:
    """
    Raise ConfigError where the robot's driver cannot be started from this shell.

    *prefixes* are by default those of AMENT_PREFIX_PATH.
    """
    missing = [name for name in DRIVER_PACKAGES if package_of(name, prefixes) is None]
    if missing:
        raise ConfigError(
            f'franka_ros2 is not in this shell: {", ".join(missing)} not found in '
            'AMENT_PREFIX_PATH. Source the workspace it is built in, or install it as in '
            'docs/real-arm.md; `bbllm doctor --real` lists what is missing. Where the driver '
            'runs elsewhere: ros2 launch bbllm franka_nodes.launch.py.'
        )


def package_of(name: str, prefixes: Sequence[Path] | None = None) -> tuple[str, str] | None:
    """Return version and description of a package that is sourced; None where it is not."""
    if prefixes is None:
        folders = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
        prefixes = [Path(folder) for folder in folders if folder]
    for prefix in prefixes:
        try:
            text = (prefix / 'share' / name / 'package.xml').read_text('utf-8', 'replace')
        except OSError:
            continue
        version = re.search(r'<version[^>]*>\s*([^<\s]+)', text)
        about = re.search(r'<description[^>]*>(.*?)</description>', text, re.S)
        return (version[1] if version else 'of unknown version', about[1] if about else '')
    return None
