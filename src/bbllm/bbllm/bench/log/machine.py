"""What a measurement was made on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ('mujoco', 'numpy', 'ruckig', 'mink')


def describe_machine() -> dict[str, str]:
    """Return processor, cores, system and versions, in words."""
    found = {
        'processor': _processor(),
        'cores': str(os.cpu_count() or 0),
        'system': f'{platform.system()} {platform.release()}',
        'python': platform.python_version(),
    }
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = 'not installed'
    return found


def _processor() -> str:
    try:
        lines = Path('/proc/cpuinfo').read_text('utf-8').splitlines()
    except OSError:
        lines = []  # no Linux: platform knows a little
    names = [line.split(':', 1)[1].strip() for line in lines if line.startswith('model name')]
    return names[0] if names else platform.processor() or platform.machine()
