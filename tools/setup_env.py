"""
Make `.venv`: bbllm (`make demo`), and ROS 2 Jazzy with the interface packages (`make setup`).

Each stage leaves a stamp of what went in, and is skipped while that stays the same; a stage that
was interrupted has no stamp and runs again.  Standard library only, because nothing is installed
yet, and for Python 3.8 on, because its first work is to find an interpreter that bbllm can use.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Callable, Collection, Iterable, NamedTuple

from causes import DISK, failure_of
from interface_cache import InterfaceCache, cache_folder, clear_cache
from interfaces import BuildProgress, keys_of, machine_facts
from machine import SetupError, choose_python, find_system_ros, need_compiler
from progress import Progress
from shell_env import (
    ADDONS,
    COMPAT,
    CONFORMANCE,
    ENV_FILE,
    INSTALL,
    INTERFACES,
    PACKAGE,
    ROOT,
    VENV,
    link_into_index,
    write_env_file,
    write_env_file_without_ros,
)
from stamps import (
    RULES,
    VENV_PYTHON,
    folder_of,
    hash_of,
    interface_files,
    node_files,
    package_files,
    read_state,
    write_state,
)

LOG = ROOT / 'log' / 'setup.log'
REQUIREMENTS = ROOT / 'requirements'
UV = REQUIREMENTS / 'uv.txt'
EXTRAS = REQUIREMENTS / 'extras.txt'
VIRTUALHOME = REQUIREMENTS / 'virtualhome.txt'
FRANKA_SIM = REQUIREMENTS / 'franka_sim.txt'
STARTED = (
    'bbllm_bench.commands.demo',
    'bbllm.cli.commands.run',
    'bbllm.api.robot',
    'bbllm.llm.openai.client',
)
"""Modules that, with the nodes, import what most commands take."""
DEMO = ('venv', 'packages', 'bbllm')
"""Stages of `make demo`, which needs neither ROS nor a compiler."""
WITH_ROS = ('ros', 'interfaces', 'nodes')
OPTIONAL = ('addons', 'extras', 'virtualhome', 'franka-sim')
"""Stages of `--extras`: each is tried, also where another one cannot be had."""
CMAKE_FLAGS = (
    '-DCMAKE_BUILD_TYPE=Release',
    '-DBUILD_TESTING=OFF',
    # Copying fields gains nothing from -O3, which takes a fifth longer to compile.
    '-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG',
    '-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG',
)
TICK_S = 0.5
"""How often the line of a stage changes."""
CERTIFICATES = ('/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt')


def main() -> int:
    """Bring the environment up to date; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        '--demo', action='store_true', help='leave out what needs ROS, and with it the compiler'
    )
    parser.add_argument(
        '--extras', action='store_true', help='also install what the optional extras need'
    )
    parser.add_argument(
        '--clear-cache', action='store_true', help='only remove the built interfaces that are kept'
    )
    options = parser.parse_args()
    if options.clear_cache:
        print(f'removed: {clear_cache()}')
        return 0
    wanted = DEMO if options.demo else (*DEMO, *WITH_ROS)
    if options.extras:
        wanted = (*wanted, *OPTIONAL)
    try:
        LOG.parent.mkdir(exist_ok=True)
        with (LOG.parent / 'setup.lock').open('w') as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print('another set-up is running here; waiting for it to end', flush=True)
                fcntl.flock(lock, fcntl.LOCK_EX)
            Setup(need_header='interfaces' in wanted).run(wanted)
    except SetupError as error:
        print(f'\nset-up failed: {error}', file=sys.stderr)
        return 1
    except OSError as error:  # a full disk, or a folder that cannot be written to
        print(f'\nset-up failed: {error.filename or ROOT}: {error.strerror}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print('\nset-up interrupted; run it again to go on from there', file=sys.stderr)
        return 130
    return 0


class Stage(NamedTuple):
    """One step of the set-up."""

    title: str
    action: Callable[[], None]
    after: str
    """The stage whose result this one builds on; empty for the first."""
    inputs: Iterable[Path]


class Setup:
    """One run of the set-up."""

    def __init__(self, *, need_header: bool) -> None:
        self.state = read_state()
        self.system_ros = find_system_ros(self.state.get('system_ros'))
        self.python = choose_python(
            VENV, self.state.get('python'), self.system_ros, need_header=need_header
        )
        self.lock_file = REQUIREMENTS / ('system.txt' if self.system_ros else 'lock.txt')
        self.demo_lock_file = self.lock_file.with_name(f'demo-{self.lock_file.name}')

    def stages(self) -> dict[str, Stage]:
        """Return every stage by its name, each after those that it builds on."""
        demo, lock = self.demo_lock_file, self.lock_file
        ros = 'development tools' if self.system_ros else 'ROS 2 and development tools'
        return {
            'venv': Stage('virtual environment', self.make_venv, '', [UV]),
            'packages': Stage('packages of bbllm', self.install_packages, 'venv', [demo]),
            'bbllm': Stage('bbllm', self.install_bbllm, 'packages', package_files()),
            'ros': Stage(ros, self.install_ros, 'venv', [lock]),
            'interfaces': Stage(
                'interface packages',
                self.build_interfaces,
                'ros',
                [RULES, *interface_files(INTERFACES.name, *COMPAT)],
            ),
            'nodes': Stage('nodes', self.install_nodes, 'interfaces', node_files()),
            'addons': Stage(
                'interface packages of add-ons',
                self.build_addons,
                'interfaces',
                interface_files(*ADDONS),
            ),
            # The extras stand on the packages alone, so that edits of bbllm leave them be.
            'extras': Stage('optional extras', partial(self._install, EXTRAS), 'ros', [EXTRAS]),
            # What tests and a bench hold the household world against.
            'virtualhome': Stage(
                'VirtualHome', partial(self._install, VIRTUALHOME), 'ros', [VIRTUALHOME]
            ),
            # What `bbllm up fci` serves the robot's protocol with.
            'franka-sim': Stage(
                'franka-sim', partial(self._install, FRANKA_SIM), 'ros', [FRANKA_SIM]
            ),
        }

    def run(self, wanted: Collection[str]) -> None:
        """Run those of the wanted stages whose inputs changed."""
        stages = self.stages()
        version = '.'.join(str(part) for part in self.python['version'])
        ros = f'ROS 2 Jazzy of {self.system_ros}' if self.system_ros else 'ROS 2 Jazzy from PyPI'
        what = f'Python {version} and {ros}' if 'ros' in wanted else f'Python {version}'
        digests = {'': f'{ROOT} {self.python["path"]} {version} {self.system_ros}'}
        for name, stage in stages.items():
            digests[name] = hash_of(digests[stage.after], stage.inputs)
        stamps = self.state.get('stamps', {})
        if 'addons' in stamps:  # built once, they follow the ROS that they are built on
            wanted = {*wanted, 'addons'} if 'interfaces' in wanted else wanted
        stale = [name for name in stages if name in wanted and stamps.get(name) != digests[name]]
        if not stale:
            print(f'set-up is up to date ({what})')
            return
        print(f'setting up {ROOT} with {what}', flush=True)
        if {'interfaces', 'addons'} & set(stale):
            need_compiler()
        started = time.monotonic()
        missing: list[str] = []
        for number, name in enumerate(stale, 1):
            stage = stages[name]
            self.progress = Progress(f'[{number}/{len(stale)}] {stage.title}')
            if name == 'venv':
                stamps.clear()  # what a former environment held is gone with it
            stamps.pop(name, None)
            write_state(self.state, stamps)
            try:
                stage.action()
            except SetupError as error:
                self.progress.end('failed')
                if name not in OPTIONAL:
                    raise
                missing.append(f'{stage.title}: {error}')
                continue
            stamps[name] = digests[name]
            self.state.update(python=self.python, system_ros=self.system_ros)
            write_state(self.state, stamps)
            self.progress.end()
        if missing:
            raise SetupError('\n'.join(missing))
        print(f'ready in {time.monotonic() - started:.0f} s; now: . ./activate')

    def make_venv(self) -> None:
        """Make an empty environment with the installer in it."""
        shutil.rmtree(VENV, ignore_errors=True)
        for name in (INTERFACES.name, *COMPAT, *ADDONS):
            # CMake wrote down where the tools of the former environment are.
            shutil.rmtree(ROOT / 'build' / name, ignore_errors=True)
            shutil.rmtree(INSTALL / name, ignore_errors=True)
        flags = ['--system-site-packages'] if self.system_ros else []
        self._call([self.python['path'], '-m', 'venv', *flags, str(VENV)])
        (VENV / 'COLCON_IGNORE').touch()  # or colcon takes the wheels' files for sources
        # Ignored: an installer that the system has, but that is not in this environment.
        self._pip(UV, '--ignore-installed')

    def install_packages(self) -> None:
        """Install the locked packages that bbllm needs without ROS."""
        self._install(self.demo_lock_file)

    def install_bbllm(self) -> None:
        """Install bbllm as editable; modules are compiled when they are first imported."""
        self._install_editable(PACKAGE)
        link_into_index()
        if not ENV_FILE.exists():  # that of the nodes serves bbllm as well
            write_env_file_without_ros()

    def install_ros(self) -> None:
        """Install all locked packages, and mend paths of the machine that built the wheels."""
        self._install(self.lock_file)
        include, numpy_include = self._output(
            [
                str(VENV_PYTHON),
                '-c',
                'import numpy, sysconfig\n'
                'print(sysconfig.get_paths()["include"]); print(numpy.get_include())',
            ]
        ).splitlines()
        for file in VENV.glob('share/*/cmake/*Export.cmake'):
            text = file.read_text()
            mended = re.sub(r'/opt/python/[^;"]*numpy/[^;"]*', lambda _: numpy_include, text)
            mended = re.sub(r'/opt/python/[^;"]*', lambda _: include, mended)
            if mended != text:
                file.unlink()  # the file may be a hard link into the installer's cache
                file.write_text(mended)

    def build_interfaces(self) -> None:
        """Build the interface packages that the nodes need."""
        self._build((INTERFACES.name, *COMPAT))

    def build_addons(self) -> None:
        """Build the interface packages that nodes can do without, and put them in the shell."""
        self._build(ADDONS)
        write_env_file(self.system_ros)
        self._import_interfaces(ADDONS)

    def _build(self, names: Iterable[str]) -> None:
        """Build those of the interface packages that neither this machine nor the cache has."""
        environment = self._environment()
        prefixes = [Path(part) for part in environment['AMENT_PREFIX_PATH'].split(os.pathsep)]
        # What an activated shell has from here does not count as the machine's.
        prefixes = [prefix for prefix in prefixes if INSTALL not in prefix.parents]
        wanted = [
            name
            for name in names
            if not any((prefix / 'share' / name / 'package.xml').exists() for prefix in prefixes)
        ]
        keys = keys_of(wanted, machine_facts(environment, prefixes, ' '.join(CMAKE_FLAGS)))
        cache = InterfaceCache(ROOT, INSTALL)
        INSTALL.mkdir(exist_ok=True)
        cached = [name for name in wanted if cache.load(name, keys[name])]
        missing = [name for name in wanted if name not in cached]
        if cached:
            self.progress.item(f'{len(cached)} of {len(wanted)} from {cache_folder()}')
        if not missing:
            return
        colcon = self._colcon()
        for name in missing:
            # No file of an earlier build gets into the cache.
            shutil.rmtree(ROOT / 'build' / name, ignore_errors=True)
            shutil.rmtree(INSTALL / name, ignore_errors=True)
        if shutil.which('ninja', path=environment['PATH']):
            environment.setdefault('CMAKE_GENERATOR', 'Ninja')
        # Without -j in it, as make exports it, colcon asks ninja to stand still while the load is
        # as high as there are cores, and two packages at once make it so.
        jobs = environment.get('CMAKE_BUILD_PARALLEL_LEVEL') or str(os.cpu_count() or 2)
        environment['MAKEFLAGS'] = f'-j{jobs}'
        build = BuildProgress(missing, self.progress)
        unkept: list[str] = []

        def watch(output: bytes) -> None:
            for name in build.read(output):
                try:
                    cache.save(name, keys[name])
                except SetupError as error:
                    unkept.append(str(error))

        self._call(
            [
                *(colcon, '--log-base', str(ROOT / 'log'), 'build'),
                *('--build-base', str(ROOT / 'build'), '--install-base', str(INSTALL)),
                *('--base-paths', *(str(folder_of(name)) for name in missing)),
                *('--cmake-args', *CMAKE_FLAGS, f'-DBBLLM_INTERFACE_RULES={RULES}'),
                f'-DPython3_EXECUTABLE={VENV_PYTHON}',
            ],
            environment,
            watch,
        )
        if unkept:
            self.progress.note(f'The built packages are not kept for other clones: {unkept[0]}.')

    def install_nodes(self) -> None:
        """Install the conformance checks, and test that ROS finds all."""
        self._install_editable(CONFORMANCE)
        write_env_file(self.system_ros)
        nodes = (PACKAGE / 'bbllm_ros' / 'nodes').glob('[!_]*.py')
        modules = (f'bbllm_ros.nodes.{node.stem}' for node in nodes)
        self._import_interfaces((INTERFACES.name, *COMPAT), CONFORMANCE.name, *STARTED, *modules)

    def _import_interfaces(self, names: Iterable[str], *modules: str) -> None:
        """Load libraries of interface packages, and import modules, as in a user's shell."""
        code = (
            'from rosidl_generator_py import import_type_support\n'
            f'for name in {tuple(names)}: import_type_support(name)\n'
            f'import {", ".join(("bbllm", *modules))}'
        )
        environment = {**self._environment(), 'BBLLM_ROOT': str(ROOT)}
        # Where Python is told to keep no bytecode, as in many containers, every node would compile
        # its imports at each start, which takes nearly half of the time until a stack is ready.
        environment.pop('PYTHONDONTWRITEBYTECODE', None)
        self._call(
            ['sh', '-c', '. ./activate && python -c "$1" && bbllm --version', 'sh', code],
            environment,
        )

    def _install_editable(self, folder: Path) -> None:
        uv = [str(VENV / 'bin' / 'uv'), 'pip', 'install', '--python', str(VENV_PYTHON)]
        uv += ['--offline', '--no-deps', '--no-build-isolation']
        self._call([*uv, '-e', str(folder)])

    def _install(self, locked: Path) -> None:
        uv = [str(VENV / 'bin' / 'uv'), 'pip', 'install', '--python', str(VENV_PYTHON)]
        # The machine's certificates, where it has some, know the proxies of its network.
        certs = ['--system-certs'] if any(Path(file).exists() for file in CERTIFICATES) else []
        try:
            self._call([*uv, *certs, '--no-deps', '--require-hashes', '-r', str(locked)])
        except SetupError as error:
            if error.cause == DISK:
                raise
            # pip knows the mirrors, proxies and certificates that people have set up for pip.
            self._pip(locked)

    def _colcon(self) -> str:
        if not self.system_ros:
            return str(VENV / 'bin' / 'colcon')
        if not shutil.which('colcon'):
            raise SetupError('no colcon found. Install it with: sudo apt install ros-dev-tools')
        return 'colcon'

    def _environment(self) -> dict[str, str]:
        """Return the variables for commands, free of what this shell has set."""
        environment = dict(os.environ)
        environment['PATH'] = f'{VENV / "bin"}{os.pathsep}{environment["PATH"]}'
        environment['VIRTUAL_ENV'] = str(VENV)
        if not self.system_ros:
            for name in ('PYTHONPATH', 'LD_LIBRARY_PATH', '_ROS_WHEELS_BOOTSTRAP_COMPLETE'):
                environment.pop(name, None)
            environment['AMENT_PREFIX_PATH'] = environment['CMAKE_PREFIX_PATH'] = str(VENV)
        environment.pop('PYTHONHOME', None)
        return environment

    def _pip(self, requirements: Path, *options: str) -> None:
        pip = [str(VENV_PYTHON), '-m', 'pip', '--disable-pip-version-check', 'install']
        self._call([*pip, *options, '--no-deps', '--require-hashes', '-r', str(requirements)])

    def _output(self, command: list[str]) -> str:
        return subprocess.run(
            command, env=self._environment(), check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    def _call(
        self,
        command: list[str],
        environment: dict[str, str] | None = None,
        watch: Callable[[bytes], None] | None = None,
    ) -> None:
        """Run a command with its output in the log, which *watch* gets in pieces."""
        with LOG.open('ab') as log, LOG.open('rb') as output:
            log.write(f'\n$ {shlex.join(command)}\n'.encode())
            log.flush()
            start = output.seek(log.tell())
            try:
                process = subprocess.Popen(
                    command,
                    env=environment or self._environment(),
                    cwd=ROOT,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            except OSError as error:
                raise SetupError(
                    f'{command[0]} cannot be started ({error.strerror}). If .venv is damaged, '
                    'make clean and make setup make a new one.'
                ) from error
            code = None
            try:
                while code is None:
                    with suppress(subprocess.TimeoutExpired):
                        code = process.wait(timeout=TICK_S)
                    if watch:
                        watch(output.read())
                    else:
                        self.progress.update()
            finally:
                process.wait()  # Ctrl-C reaches it too, and it cleans up behind itself
            output.seek(start)
            if code:
                raise failure_of(Path(command[0]).name, code, output.read(), LOG)


if __name__ == '__main__':
    sys.exit(main())
