"""
Finds entry points of installed packages for bbllm: verbs, planners, models.

To read the metadata of all packages takes longer than many a verb, so that what was found is kept
on disk until a folder with packages changes.
"""

import json
import os
import sys
from contextlib import suppress
from functools import cache, reduce
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from bbllm.core.errors import ConfigError
from bbllm.core.paths import write_whole

PREFIX = 'bbllm.'
"""How the names of our groups begin."""


class Plugin(NamedTuple):
    """An entry point, and the package that has it."""

    group: str
    name: str
    value: str
    """`module:attribute`."""
    package: str
    """Name of the distribution; '' where it is not known."""

    @property
    def module(self) -> str:
        return self.value.partition(':')[0]

    def load(self) -> Any:
        """Import what it names; raises whatever its module raises."""
        module, _, names = self.value.partition(':')
        return reduce(getattr, filter(None, names.split('.')), import_module(module))


@cache
def installed(group: str) -> tuple[Plugin, ...]:
    """Return the entry points of a group of ours."""
    return tuple(plugin for plugin in _all() if plugin.group == group)


def load_part(group: str, name: str) -> Any:
    """
    Return what an entry point names; for parts that another package of ours brings.

    Raises:
        ConfigError: No package does.
    """
    for plugin in installed(group):
        if plugin.name == name:
            return plugin.load()
    raise ConfigError(
        f'No installed package brings {name} ({group}), so that a part of bbllm is missing. '
        'Install it again: `make setup` in the folder of the project, or `pip install .`.'
    )


def forget() -> None:
    """Look again at the next question; for a process that has changed `sys.path`."""
    installed.cache_clear()
    _all.cache_clear()


@cache
def _all() -> tuple[Plugin, ...]:
    folders, file = _folders(), _file()
    with suppress(OSError, ValueError, TypeError, KeyError):
        kept = json.loads(file.read_text())
        if kept['folders'] == folders:
            return tuple(Plugin(*fields) for fields in kept['plugins'])
    from importlib.metadata import entry_points  # takes longer than to read the file

    points = entry_points()
    found = sorted(
        Plugin(group, point.name, point.value, point.dist.name if point.dist else '')
        for group in points.groups
        if group.startswith(PREFIX)
        for point in points.select(group=group)
    )
    with suppress(OSError):  # on a full or read-only disk it is read again each time
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, json.dumps({'folders': folders, 'plugins': found}).encode())
    return tuple(found)


def _folders() -> list[list[object]]:
    """Return the folders of `sys.path` with their times of change; an installation changes one."""
    found: list[list[object]] = []
    for path in sys.path:
        with suppress(OSError):
            found.append([path, Path(path).stat().st_mtime_ns])
    return found


def _file() -> Path:
    base = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache')
    return base / 'bbllm' / f'plugins-{sha256(sys.prefix.encode()).hexdigest()[:16]}.json'


def how_to_install(extra: str) -> str:
    """
    Return the commands that install an extra, without a full stop.

    They install from a clone: the name bbllm on a package index is not this project.
    """
    return f"in a clone of the repository: make extras, or pip install '.[{extra}]'"
