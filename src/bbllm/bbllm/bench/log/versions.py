"""What made a result: versions of packages, hashes of source and prompts, the machine."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import bbllm

OF_MOTIONS = ('mujoco', 'numpy', 'ruckig', 'mink')
PACKAGES = (*OF_MOTIONS, 'openai', 'pydantic')
NOT_INSTALLED = 'not installed'
NO_CHECKOUT = 'no checkout'
_ROOT = Path(bbllm.__file__).resolve().parent
_PLANNERS = _ROOT / 'planners'
_GIT_S = 5.0


@cache
def find_versions() -> dict[str, str]:
    """
    Return what decides how an episode goes, by name.

    `source` is a hash over this package's modules, models and prompts: unlike `commit` it also
    covers uncommitted changes, and is the same where only a document changed.
    """
    return {
        'bbllm': bbllm.__version__,
        'source': _hash_of(_files('*.py', '*.xml', '*.j2', '*.md')),
        'commit': _commit(),
        'python': platform.python_version(),
        **{package: _version_of(package) for package in PACKAGES},
    }


def hash_prompts() -> dict[str, str]:
    """Return the sha256 of every file of prompts, by its path below `planners`."""
    return {
        path.relative_to(_PLANNERS).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(_PLANNERS.glob('*/prompts/**/*'))
        if path.is_file()
    }


def describe_machine() -> dict[str, str]:
    """Return processor, cores, system and versions, in words."""
    return {
        'processor': _processor(),
        'cores': str(os.cpu_count() or 0),
        'system': f'{platform.system()} {platform.release()}',
        'python': platform.python_version(),
        **{package: _version_of(package) for package in OF_MOTIONS},
    }


def _processor() -> str:
    try:
        lines = Path('/proc/cpuinfo').read_text('utf-8').splitlines()
    except OSError:
        lines = []  # no Linux
    names = [line.split(':', 1)[1].strip() for line in lines if line.startswith('model name')]
    return names[0] if names else platform.processor() or platform.machine()


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return NOT_INSTALLED


def _files(*patterns: str) -> list[Path]:
    return sorted({path for pattern in patterns for path in _ROOT.rglob(pattern)})


def _hash_of(paths: Iterable[Path]) -> str:
    whole = hashlib.sha256()
    for path in paths:
        whole.update(path.relative_to(_ROOT).as_posix().encode() + b'\0')
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:16]


def _commit() -> str:
    """Return the commit of the checkout that this package is run from."""
    command = ['git', '-C', str(_ROOT), 'describe', '--always', '--dirty', '--abbrev=12']
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_GIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return NO_CHECKOUT
    return done.stdout.strip() if done.returncode == 0 else NO_CHECKOUT
