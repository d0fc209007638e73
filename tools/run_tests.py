"""Run pytest for the Makefile and CI: keep durations, replay failures alone, add up runs.

    run_tests.py play NAME [--again] [pytest's options]   run once; with --again replay failures
    run_tests.py total                                    add up the runs in build/tests
    run_tests.py steady [--times 5] [--busy 6] [...]      run repeatedly beside busy processes

Each run writes build/tests/NAME.xml (JUnit, with durations) and NAME.json (what `total` adds up).
A replay is a second pytest in one process after the first has ended, so that nothing runs beside
it. A test that passes then is unsteady: it is printed with its cause from tests/unsteady.yaml, and
up to MOST_UNSTEADY of them leave the exit code at 0.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Iterator, Sequence

import yaml

RESULTS = Path('build/tests')
LIST = Path('tests/unsteady.yaml')
LAST_FAILED = Path('.pytest_cache/v/cache/lastfailed')
MOST_UNSTEADY = 3
OK, FAILED = 0, 1
"""The exit codes of pytest after which its results count; any other one is a failed run."""

BUSY = """
import os, sys
os.nice(5)
while os.getppid() == int(sys.argv[1]):
    sum(range(1_000_000))
"""


@dataclass
class Run:
    """What one run of pytest came to."""

    code: int
    passed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    failed: list[str] = field(default_factory=list)
    unsteady: list[str] = field(default_factory=list)

    @property
    def line(self) -> str:
        """The run in the words of pytest's last line."""
        counts = {
            'failed': len(self.failed),
            'passed': self.passed,
            'skipped': self.skipped,
            'rerun': len(self.unsteady),
        }
        words = ', '.join(f'{n} {name}' for name, n in counts.items() if n) or 'no tests ran'
        took = datetime.timedelta(seconds=round(self.seconds))
        return f'{words} in {self.seconds:.2f}s ({took})'


def with_bytecode() -> dict[str, str]:
    """
    Return the environment without the order to keep no bytecode, which many containers have.

    Every worker and every process that a test starts would compile its imports anew.
    """
    return {key: value for key, value in os.environ.items() if key != 'PYTHONDONTWRITEBYTECODE'}


@contextmanager
def with_all_of_its_group(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Start pytest; its workers and what they have started end with the block, as it does."""
    with subprocess.Popen(command, env=with_bytecode(), process_group=0) as process:
        try:
            yield process
        except KeyboardInterrupt:  # it is in another group than the terminal interrupts
            process.send_signal(signal.SIGINT)
            process.wait()
            raise
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def call_pytest(name: str, options: Sequence[str]) -> Run:
    """Run pytest once, with a report in `build/tests`."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    report = RESULTS / f'{name}.xml'
    report.unlink(missing_ok=True)
    command = [sys.executable, '-m', 'pytest', *options, f'--junitxml={report}']
    start = time.monotonic()
    command.append('--durations=30')
    with with_all_of_its_group(command) as process:
        code = process.wait()
    run = Run(code, seconds=time.monotonic() - start)
    if report.exists():
        for suite in ElementTree.parse(report).getroot().iter('testsuite'):
            tests, skipped, *bad = (
                int(suite.get(key, 0)) for key in ('tests', 'skipped', 'failures', 'errors')
            )
            run.passed += tests - skipped - sum(bad)
            run.skipped += skipped
    if LAST_FAILED.exists():
        run.failed = sorted(json.loads(LAST_FAILED.read_text()))
    return run


def compile_once() -> None:
    """Compile what tests import, as all workers would compile it at the same time otherwise."""
    folders = [name for name in ('src', 'tests') if Path(name).is_dir()]
    skipped = r'(^|/)(test_\w+|conftest)\.py$'  # pytest compiles these in its own way
    command = [sys.executable, '-m', 'compileall', '-q', '-j', '0', '-x', skipped, *folders]
    subprocess.run(command, check=False, env=with_bytecode())


def play(name: str, options: Sequence[str], again: bool = False) -> Run:
    """Run pytest, then replay what failed in one process; write the sum."""
    compile_once()
    run = call_pytest(name, [*options, '--cache-clear'])
    if again and run.code == FAILED and run.failed:
        print(f'\nReplaying alone what failed ({len(run.failed)}):', flush=True)
        second = call_pytest(f'{name}-again', [*options, '-n', '0', '--lf', '--lfnf=none'])
        run.unsteady = [test for test in run.failed if test not in second.failed]
        run.passed += len(run.unsteady)
        run.failed = second.failed
        run.code = second.code
        run.seconds += second.seconds
    (RESULTS / f'{name}.json').write_text(json.dumps(asdict(run)))
    return run


def known() -> dict[str, str]:
    """Return the list of unsteady tests: what is known of each, by node or file."""
    entries = yaml.safe_load(LIST.read_text()) if LIST.exists() else None
    return {entry['test']: entry.get('cause') or entry['owner'] for entry in entries or ()}


def what_is_known(test: str, causes: dict[str, str]) -> str:
    """Return the line of one test that failed beside others and passed alone."""
    for name in (test, test.partition('[')[0], test.partition('::')[0]):
        if name in causes:
            return f'unsteady, known: {test}: {causes[name]}'
    return f'unsteady, new: {test}: add it to {LIST} with its cause or owner'


def report(run: Run) -> int:
    """Print what failed and what was unsteady; return the exit code."""
    causes = known()
    for test in run.failed:
        print(f'failed: {test}')
    for test in run.unsteady:
        print(what_is_known(test, causes))
    many = len(run.unsteady) > MOST_UNSTEADY
    if many:
        print(f'{len(run.unsteady)} tests were unsteady, and {MOST_UNSTEADY} may be.')
    if run.code not in (OK, FAILED):
        print(f'pytest ended with exit code {run.code}, which is not that of a complete run.')
    print(run.line)
    return run.code or int(many)


def total() -> Run:
    """Add up what the runs have written."""
    files = sorted(RESULTS.glob('*.json'))
    runs = [Run(**json.loads(file.read_text())) for file in files]
    codes = [run.code for run in runs] or [5]
    return Run(
        max(codes),
        sum(run.passed for run in runs),
        sum(run.skipped for run in runs),
        sum(run.seconds for run in runs),
        [test for run in runs for test in run.failed],
        [test for run in runs for test in run.unsteady],
    )


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep processes busy, which also end when this one is killed."""
    command = [sys.executable, '-c', BUSY, str(os.getpid())]
    running = [subprocess.Popen(command) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def steady(times: int, processes: int, options: Sequence[str]) -> int:
    """Run the same tests repeatedly beside busy processes; print which failed how often."""
    failed: Counter[str] = Counter()
    codes = []
    with busy(processes):
        for turn in range(1, times + 1):
            print(f'\nRun {turn} of {times}, beside {processes} busy processes:', flush=True)
            run = call_pytest(f'steady-{turn}', [*options, '--cache-clear'])
            codes.append(run.code)
            failed.update(run.failed)
    causes = known()
    print(f'\n{codes.count(OK)} of {times} runs passed; exit codes: {codes}')
    for test, count in failed.most_common():
        print(f'failed {count} of {times} times: {what_is_known(test, causes)}')
    return max(codes)


def main(words: Sequence[str]) -> int:
    # pytest and the busy processes end with this one.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    commands = parser.add_subparsers(dest='command', required=True)
    once = commands.add_parser('play', help='run once')
    once.add_argument('name', help='the name of the files in build/tests')
    once.add_argument('--again', action='store_true', help='replay failures alone')
    commands.add_parser('total', help='add up the runs')
    often = commands.add_parser('steady', help='run repeatedly beside busy processes')
    often.add_argument('--times', type=int, default=5)
    often.add_argument('--busy', type=int, default=6)
    chosen, options = parser.parse_known_args(words)
    if chosen.command == 'total':
        return report(total())
    if chosen.command == 'steady':
        return steady(chosen.times, chosen.busy, options)
    run = play(chosen.name, options, chosen.again)
    return report(run) if chosen.again else run.code


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
