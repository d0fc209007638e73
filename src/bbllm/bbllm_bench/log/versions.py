"""What made a result: versions of packages, a hash of the source, the machine."""

import hashlib
import os
import platform
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from bbllm.core.provenance import find_commit
from bbllm.core.version import VERSION

OF_MOTIONS = ('mujoco', 'numpy', 'ruckig', 'mink')
PACKAGES = (*OF_MOTIONS, 'openai', 'pydantic')
KINDS = ('*.py', '*.xml', '*.j2', '*.md')
"""What an episode depends on, among the files of our packages."""
_OURS = (
    *('bbllm', 'bbllm_bench', 'bbllm_libero', 'bbllm_planners', 'bbllm_ros', 'bbllm_viewer'),
    'bbllm_vision',
)


@cache
def _folders() -> dict[str, Path]:
    """Return the folder of each of our packages that is installed, without importing it."""
    found = {name: find_spec(name) for name in _OURS}
    return {
        name: Path(spec.origin).resolve().parent
        for name, spec in found.items()
        if spec and spec.origin
    }


@cache
def find_versions() -> dict[str, str]:
    """
    Return what decides how an episode goes, by name.

    `source` is a hash over modules, models and prompts of our packages: unlike `commit` it also
    covers uncommitted changes, and is the same where only a document changed.
    """
    source = hashlib.sha256()
    for name, folder in _folders().items():
        for path in sorted({path for kind in KINDS for path in folder.rglob(kind)}):
            source.update(f'{name}/{path.relative_to(folder).as_posix()}\0'.encode())
            source.update(hashlib.sha256(path.read_bytes()).digest())
    return {
        'bbllm': VERSION,
        'source': source.hexdigest()[:16],
        'commit': find_commit(),
        'python': platform.python_version(),
        **_installed(PACKAGES),
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
