"""What made a result: versions of packages, hashes of source and prompts, the machine."""

import hashlib
import os
import platform
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import bbllm

OF_MOTIONS = ('mujoco', 'numpy', 'ruckig', 'mink')
PACKAGES = (*OF_MOTIONS, 'openai', 'pydantic')
NO_CHECKOUT = 'no checkout'
_ROOT = Path(bbllm.__file__).resolve().parent


@cache
def find_versions() -> dict[str, str]:
    """
    Return what decides how an episode goes, by name.

    `source` is a hash over this package's modules, models and prompts: unlike `commit` it also
    covers uncommitted changes, and is the same where only a document changed.
    """
    source = hashlib.sha256()
    for path in sorted(
        {path for kind in ('*.py', '*.xml', '*.j2', '*.md') for path in _ROOT.rglob(kind)}
    ):
        source.update(path.relative_to(_ROOT).as_posix().encode() + b'\0')
        source.update(hashlib.sha256(path.read_bytes()).digest())
    return {
        'bbllm': bbllm.__version__,
        'source': source.hexdigest()[:16],
        'commit': _commit(),
        'python': platform.python_version(),
        **_installed(PACKAGES),
    }


def hash_prompts() -> dict[str, str]:
    """Return the sha256 of every file of prompts, by its path below `planners`."""
    planners = _ROOT / 'planners'
    return {
        path.relative_to(planners).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(planners.glob('**/prompts/**/*'))
        if path.is_file()
    }


def describe_machine() -> dict[str, str]:
    """Return processor, cores, system and versions, in words."""
    try:
        lines = Path('/proc/cpuinfo').read_text('utf-8').splitlines()
    except OSError:
        lines = []  # no Linux
    names = [line.split(':', 1)[1].strip() for line in lines if line.startswith('model name')]
    return {
        'processor': names[0] if names else platform.processor() or platform.machine(),
        'cores': str(os.cpu_count() or 0),
        'system': f'{platform.system()} {platform.release()}',
        'python': platform.python_version(),
        **_installed(OF_MOTIONS),
    }


def _installed(packages: Iterable[str]) -> dict[str, str]:
    found = dict.fromkeys(packages, 'not installed')
    for package in found:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _commit() -> str:
    command = ['git', '-C', str(_ROOT), 'describe', '--always', '--dirty', '--abbrev=12']
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5.0)
    except (OSError, subprocess.TimeoutExpired):
        return NO_CHECKOUT
    return done.stdout.strip() if done.returncode == 0 else NO_CHECKOUT
