"""What a set-up leaves behind, by which the next one knows which of its stages are up to date."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Iterable

from shell_env import (
    CONFORMANCE,
    ENV_FILE,
    INSTALL,
    INTERFACES,
    PACKAGE,
    ROOT,
    VENV,
    launch_files,
)

VENV_PYTHON = VENV / 'bin' / 'python'
STATE = VENV / 'bbllm-setup.json'
RULES = ROOT / 'tools' / 'interfaces_for_python.cmake'


def folder_of(name: str) -> Path:
    """Return the sources of an interface package."""
    return INTERFACES if name == INTERFACES.name else ROOT / 'compat' / name


def interface_files(*names: str) -> list[Path]:
    """List what interface packages are built from, beside the rules."""
    kinds = ('.action', '.msg', '.srv', '.xml', '.txt')
    return [x for name in names for x in folder_of(name).rglob('*') if x.suffix in kinds]


def package_files() -> list[Path]:
    """List what the editable install of bbllm depends on."""
    ours = ('setup.py', 'setup.cfg', 'bbllm/core/version.py', '../../tools/shell_env.py')
    packages = PACKAGE.glob('*/__init__.py')  # of each, the install has the place
    return [*((PACKAGE / name).resolve() for name in ours), *packages, *launch_files()]


def node_files() -> list[Path]:
    """List what the editable install of the conformance checks and the shell depend on."""
    return [CONFORMANCE / 'pyproject.toml', ROOT / 'tools' / 'shell_env.py']


def hash_of(before: str, files: Iterable[Path]) -> str:
    """Hash files and their places in the checkout, together with what comes before them."""
    digest = hashlib.sha256(before.encode())
    for file in sorted(files):
        digest.update(str(file.relative_to(ROOT)).encode() + b'\0' + file.read_bytes() + b'\0')
    return digest.hexdigest()


def read_state() -> dict[str, Any]:
    """Read what a former run left; empty if there was none or its environment is broken."""
    try:
        state = json.loads(STATE.read_text())
    except (OSError, ValueError):
        return {}
    if not isinstance(state, dict) or not os.access(VENV_PYTHON, os.X_OK):
        return {}
    stamps = state.get('stamps', {})
    if not (INSTALL / INTERFACES.name).is_dir():
        stamps.pop('interfaces', None)
    if not ENV_FILE.exists():
        stamps.pop('bbllm', None)
        stamps.pop('nodes', None)
    return dict(state)


def write_state(state: dict[str, Any], stamps: dict[str, str]) -> None:
    """Keep the stamps, in one step, so that an interrupted write loses nothing."""
    if VENV.is_dir():
        state['stamps'] = stamps
        part = STATE.with_suffix('.part')
        part.write_text(json.dumps(state, indent=1))
        part.replace(STATE)
