"""
The interface packages: which are built, from what, and how far that is.

Python 3.8 on, standard library only.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from pathlib import Path
from typing import Iterable, Mapping

from progress import Progress
from stamps import RULES, VENV_PYTHON, folder_of, hash_of, interface_files

FLAGS = ('CFLAGS', 'CXXFLAGS', 'CPPFLAGS', 'LDFLAGS')
WORK = {'.msg': 1.0, '.srv': 2.0, '.action': 5.0}
"""What an interface takes, beside a message."""
PACKAGE_WORK = 4.0
"""What a package takes beside its interfaces, in the same unit."""
SECONDS = 0.7
"""What a message takes on two idle cores [s]."""
DEPENDENCY = re.compile(r'<(?:build_|exec_)?depend>([\w-]+)</')
PROBE = """
import importlib.metadata, json, platform, sys, sysconfig
named = {x.metadata['Name'].lower(): x.version for x in importlib.metadata.distributions()}
kept = ('empy', 'lark', 'numpy', 'catkin-pkg', 'cmake', 'setuptools')
print(json.dumps([
    sys.version, sys.base_prefix, sysconfig.get_config_var('SOABI'),
    platform.machine(), platform.libc_ver(),
    sorted(x for x in named.items() if x[0].startswith('ros-') or x[0] in kept),
]))
"""


def machine_facts(environment: Mapping[str, str], prefixes: Iterable[Path], flags: str) -> str:
    """
    Describe what built packages depend on beside their sources.

    Args:
        environment: The variables that the build gets.
        prefixes: Where the packages are that the interfaces are built on.
        flags: The options of the build.

    Returns:
        Versions of Python, compiler, libc and ROS, and the rules of the build; no path of ours.
    """
    facts = [flags, RULES.read_text(), *(environment.get(name, '') for name in FLAGS)]
    for variable, usual in (('CC', 'cc'), ('CXX', 'c++')):
        facts.append(_output([*environment.get(variable, usual).split(), '--version']))
    facts.append(_output([str(VENV_PYTHON), '-c', PROBE], environment))
    for prefix in prefixes:
        for file in sorted(prefix.glob('share/*/package.xml')):
            if file.parent.name != 'bbllm':  # nothing is built on this link into the checkout
                facts.append(hashlib.sha256(file.read_bytes()).hexdigest())
    return json.dumps(facts)


def keys_of(names: Iterable[str], facts: str) -> dict[str, str]:
    """Return a key for each package, and for those of ours that it is built on."""
    keys: dict[str, str] = {}

    def add(name: str) -> str:
        if name not in keys:
            manifest = (folder_of(name) / 'package.xml').read_text()
            needed = sorted(set(DEPENDENCY.findall(manifest)))
            ours = [item for item in needed if (folder_of(item) / 'package.xml').exists()]
            before = ''.join([facts, *(add(item) for item in ours)])
            keys[name] = hash_of(before, interface_files(name))
        return keys[name]

    for name in names:
        add(name)
    return keys


def work_of(name: str) -> float:
    """Estimate what a package takes to build [messages]."""
    return PACKAGE_WORK + sum(WORK.get(file.suffix, 0.0) for file in interface_files(name))


class BuildProgress:
    """
    Reads from colcon's output how far a build is.

    Args:
        names: The packages that are built.
        progress: The line of the stage.
    """

    def __init__(self, names: Iterable[str], progress: Progress):
        self._work = {name: work_of(name) for name in names}
        self._progress = progress
        self._running: list[str] = []
        self.done: list[str] = []
        self._rest = b''
        self._began_s = progress.elapsed_s
        progress.item(f'about {self._left_s():.0f} s on two idle cores')

    def read(self, output: bytes) -> list[str]:
        """Take what colcon printed since; show it, and return the packages that are finished."""
        *lines, self._rest = (self._rest + output).split(b'\n')
        finished = []
        for line in lines:
            match = re.match(rb'(Starting >>>|Finished <<<) ([\w-]+)', line)
            name = match[2].decode() if match else ''
            if name not in self._work or not match:
                continue
            if match[1].startswith(b'Starting'):
                self._running.append(name)
                continue
            if name in self._running:
                self._running.remove(name)
            self.done.append(name)
            finished.append(name)
            self._progress.item(f'{self._number()}: {name}{self._left()}')
        running = ' and '.join(self._running) or 'colcon'
        self._progress.update(f'{self._number()} done, {running}{self._left()}')
        return finished

    def _number(self) -> str:
        return f'{len(self.done)} of {len(self._work)}'

    def _left(self) -> str:
        left = len(self._work) - len(self.done)
        return f', about {self._left_s():.0f} s left' if left else ''

    def _left_s(self) -> float:
        """Estimate what is left [s], from the pace so far where there is one."""
        elapsed = self._progress.elapsed_s - self._began_s
        done = sum(self._work[name] for name in self.done)
        done += sum(self._work[name] for name in self._running) / 2 if done else 0.0
        total = sum(self._work.values())
        if done:
            return elapsed * (total - done) / done
        return max(total * SECONDS - elapsed, 1.0)


def _output(command: list[str], environment: Mapping[str, str] | None = None) -> str:
    return subprocess.run(
        command,
        env=None if environment is None else dict(environment),
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    ).stdout
