"""
Find what set-up needs of the machine: a Python, ROS 2 if it is there, a compiler.

Errors name the Debian or Ubuntu package that would help.  Python 3.8 on, standard library only.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

VERSIONS = ((3, 11), (3, 12))
NAMES = ('python3', 'python3.12', 'python3.11')

PROBE = """
import importlib.util, json, os, sys, sysconfig
has = lambda name: importlib.util.find_spec(name) is not None
def imports_rclpy():
    # Its C++ part, because the rest can be imported by the wrong version of Python too.
    try:
        from rclpy.impl.implementation_singleton import rclpy_implementation
    except ImportError:
        return False
    return True
print(json.dumps({
    'path': getattr(sys, '_base_executable', sys.executable),
    'version': sys.version_info[:2],
    'venv': has('venv') and has('ensurepip'),
    'header': os.path.exists(os.path.join(sysconfig.get_paths()['include'], 'Python.h')),
    'rclpy': 'ROS_DISTRO' in os.environ and imports_rclpy(),
}))
"""


class SetupError(Exception):
    """Set-up cannot go on; the text says why and what would help, `cause` names what is known."""

    def __init__(self, text: str, cause: str = ''):
        super().__init__(text)
        self.cause = cause


def find_system_ros(before: str | None) -> str | None:
    """
    Find the prefix of a sourced ROS 2 Jazzy.

    Args:
        before: The prefix that the existing environment was made with, which is kept in shells
            where ROS is not sourced, so that two shells do not rebuild each other's work.

    Returns:
        The prefix, such as `/opt/ros/jazzy`, or None where ROS shall come from PyPI.
    """
    distro = os.environ.get('ROS_DISTRO')
    if distro and distro != 'jazzy':
        raise SetupError(
            f'ROS 2 {distro} is sourced in this shell, but bbllm needs Jazzy. Source Jazzy '
            'instead, or use a shell without ROS: then Jazzy is taken from PyPI.'
        )
    if distro:
        for prefix in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep):
            if (Path(prefix) / 'share' / 'rclpy' / 'package.xml').exists():
                return prefix
        raise SetupError(
            'ROS_DISTRO is jazzy, but no folder of AMENT_PREFIX_PATH holds rclpy. Install it with '
            'sudo apt install ros-jazzy-ros-base and source /opt/ros/jazzy/setup.sh.'
        )
    if before and (Path(before) / 'setup.sh').exists():
        _source(Path(before) / 'setup.sh')
        return before
    return None


def _source(script: Path) -> None:
    """Take over the environment that a shell script makes."""
    shell = subprocess.run(
        ['sh', '-c', '. "$1" >&2 && env -0', 'sh', str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if shell.returncode:
        raise SetupError(f'{script} cannot be sourced: {shell.stderr.strip()}')
    for line in shell.stdout.split('\0'):
        name, is_set, value = line.partition('=')
        if is_set:
            os.environ[name] = value


def choose_python(
    venv: Path, before: dict[str, Any] | None, system_ros: str | None, *, need_header: bool
) -> dict[str, Any]:
    """
    Choose the interpreter that the environment is made from.

    `PYTHON` in the environment decides if it is set.  Otherwise the one of the existing
    environment stays, and else the first suitable one of `NAMES` is taken. One with the header
    files that the interfaces are built with is preferred also where they are not needed yet.

    Returns:
        Its `path` and `version`.
    """
    asked = os.environ.get('PYTHON')
    names = [asked] if asked else list(NAMES)
    if system_ros and not asked:
        names.insert(0, '/usr/bin/python3')
    if before and not asked:
        names.insert(0, before['path'])
    # An activated environment must not be made from itself.
    folders = os.environ.get('PATH', os.defpath).split(os.pathsep)
    search = os.pathsep.join(folder for folder in folders if Path(folder) != venv / 'bin')
    seen: list[dict[str, Any]] = []
    for name in names:
        found = _probe(shutil.which(name, path=search))
        if not found:
            continue
        found['missing'] = _missing(found, system_ros)
        stays = bool(before) and not asked and name == names[0] and not need_header
        if not found['missing'] or (stays and _lacks_header_only(found)):
            return {'path': found['path'], 'version': found['version']}
        seen.append(found)
    if not need_header:
        for found in filter(_lacks_header_only, seen):
            return {'path': found['path'], 'version': found['version']}
    raise SetupError(_no_python(asked, seen))


def need_compiler() -> None:
    """Raise a SetupError if there is no C and C++ compiler."""
    for variable, usual in (('CC', 'cc'), ('CXX', 'c++')):
        command = os.environ.get(variable, usual).split()[0]
        if not shutil.which(command):
            raise SetupError(
                f'no {command} found, and the ROS interfaces need a C and a C++ compiler. '
                'Install them with: sudo apt install g++. Without ROS: make demo needs none'
            )


def _probe(path: str | None) -> dict[str, Any] | None:
    if not path:
        return None
    environment = {key: value for key, value in os.environ.items() if key != 'PYTHONHOME'}
    run = subprocess.run(
        [path, '-c', PROBE],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    # A shim of pyenv can stand on PATH for a version that is not there.
    return json.loads(run.stdout) if run.returncode == 0 else None


def _missing(found: dict[str, Any], system_ros: str | None) -> list[str]:
    """Name the Debian packages (or the fact) that keep an interpreter from being used."""
    if tuple(found['version']) not in VERSIONS:
        return ['another version']
    if system_ros and not found['rclpy']:
        return ['rclpy']
    package = 'python{}.{}'.format(*found['version'])
    missing = [] if found['venv'] else [f'{package}-venv']
    return missing if found['header'] else [*missing, f'{package}-dev']


def _lacks_header_only(found: dict[str, Any]) -> bool:
    return all(name.endswith('-dev') for name in found['missing'])


def _no_python(asked: str | None, seen: list[dict[str, Any]]) -> str:
    wanted = '3.11 or 3.12'
    for found in seen:
        if found['missing'] == ['rclpy']:
            return (
                f'{found["path"]} cannot import rclpy, though ROS 2 Jazzy is sourced. Name the '
                'Python that it was built for: make setup PYTHON=/usr/bin/python3'
            )
        if found['missing'] != ['another version']:
            packages = ' '.join(found['missing'])
            return f'{found["path"]} lacks parts. Install them with: sudo apt install {packages}'
    those = ', '.join('{} is {}.{}'.format(found['path'], *found['version']) for found in seen)
    start = f'PYTHON={asked} is no working Python' if asked and not seen else 'no suitable Python'
    return (
        f'{start}: bbllm needs {wanted}{f", but {those}" if those else ""}. '
        'Install one (sudo apt install python3 python3-venv python3-dev), or name one: '
        'make setup PYTHON=/path/to/python3.12'
    )
