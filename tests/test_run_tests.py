"""CI replays failures alone, and what passes then fails the run only where it is much."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / 'tools' / 'run_tests.py'

UNSTEADY = """
from pathlib import Path
import pytest

@pytest.mark.parametrize('n', range({count}))
def test_unsteady(n):
    seen = Path(f'seen-{{n}}')
    first = not seen.exists()
    seen.touch()
    assert not first
"""
STEADY = 'def test_steady():\n    pass\n'
ENDLESS = """
import os, threading, time
from pathlib import Path

def test_endless():
    Path('pid').write_text(str(os.getpid()))
    threading.Thread(target=time.sleep, args=(600,)).start()  # outlives pytest
    time.sleep(600)
"""
BROKEN = 'def test_broken():\n    assert 1 == 2\n'


class Project:
    """A folder with tests of its own, in which the tool is called."""

    def __init__(self, root: Path):
        self.root = root
        (root / 'pytest.ini').write_text('[pytest]\naddopts = -q -p xdist\n')
        (root / 'tests').mkdir()

    def has(self, **files: str) -> None:
        for name, text in files.items():
            (self.root / 'tests' / f'test_{name}.py').write_text(text)

    def tool(self, *words: str) -> subprocess.CompletedProcess[str]:
        env = {name: value for name, value in os.environ.items() if 'PYTEST' not in name}
        env['PYTEST_DISABLE_PLUGIN_AUTOLOAD'] = '1'  # they take most of the time of a start
        return subprocess.run(
            [sys.executable, str(TOOL), *words],
            cwd=self.root,
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def play(self, *options: str) -> subprocess.CompletedProcess[str]:
        return self.tool('play', 'fast', '--again', *options, 'tests')


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout.strip().splitlines()[-1]


def test_an_unsteady_test_is_named_and_does_not_fail_the_run(project: Project) -> None:
    project.has(steady=STEADY, unsteady=UNSTEADY.format(count=1))

    done = project.play('-n', '2', '--dist', 'loadfile')

    assert done.returncode == 0, done.stdout + done.stderr
    assert 'unsteady, new: tests/test_unsteady.py::test_unsteady[0]' in done.stdout
    assert last_line(done).startswith('2 passed, 1 rerun in ')
    assert 'slowest 30 durations' in done.stdout
    assert (project.root / 'build/tests/fast.xml').exists()


def test_a_test_that_fails_again_fails_the_run(project: Project) -> None:
    project.has(steady=STEADY, broken=BROKEN, unsteady=UNSTEADY.format(count=1))

    done = project.play()

    assert done.returncode == 1
    assert 'failed: tests/test_broken.py::test_broken' in done.stdout
    assert last_line(done).startswith('1 failed, 2 passed, 1 rerun in ')


@pytest.mark.parametrize('workers', ['0', '2'])
def test_a_run_that_is_ended_takes_pytest_and_its_workers_along(
    project: Project, workers: str
) -> None:
    project.has(endless=ENDLESS)
    command = [sys.executable, str(TOOL), 'play', 'fast', '-n', workers]
    with subprocess.Popen(command, cwd=project.root) as tool:
        pid = project.root / 'pid'
        deadline_s = time.monotonic() + 60.0
        while not (pid.exists() and pid.read_text()):
            assert time.monotonic() < deadline_s, 'no test began within 60 s'
            time.sleep(0.01)
        tool.terminate()
    assert tool.returncode == 128 + signal.SIGTERM
    state = Path(f'/proc/{pid.read_text()}/stat')

    def has_ended() -> bool:
        return not state.exists() or state.read_text().rpartition(')')[2].split()[0] in 'ZX'

    deadline_s = time.monotonic() + 60.0
    while not has_ended():  # a killed process ends a moment later
        assert time.monotonic() < deadline_s, 'the process that plays the test still runs'
        time.sleep(0.01)
