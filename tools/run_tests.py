"""
Runs the tests, in two halves at once; `make test` does it after the linters.

Those marked `slow` are left out unless the first argument is `--all`; the others go to pytest.

The tests that start nodes mostly wait, the others mostly compute, so both together take little
longer than the longer one. What the first half prints is shown as it comes, that of the other
one when it has ended.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from typing import IO

HALVES = ('ros', 'not ros')
NONE = 5
"""How pytest ends where it was given no test: of one half alone that is no failure."""
END_S = 30.0
"""How long a half may take to end its own processes after Ctrl-C [s]."""


def main() -> int:
    """Run both halves; returns 0 where both passed, or one did and the other had no tests."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    with tempfile.TemporaryFile() as said:
        halves = [_start(HALVES[0], None), _start(HALVES[1], said)]
        try:
            codes = [half.wait() for half in halves]
        except KeyboardInterrupt:
            _end(halves)
            return 130
        said.seek(0)
        print(f'\nthe tests that are {HALVES[1]}:\n', flush=True)
        sys.stdout.buffer.write(said.read())
        sys.stdout.flush()
    if codes.count(NONE) == 1:
        codes.remove(NONE)
    return max(map(abs, codes))  # that of one that was killed is negative


def _start(marker: str, said: IO[bytes] | None) -> subprocess.Popen[bytes]:
    arguments = sys.argv[1:]
    if arguments[:1] == ['--all']:
        del arguments[0]
    else:
        marker += ' and not slow'
    command = [sys.executable, '-m', 'pytest', '-m', marker, *arguments]
    return subprocess.Popen(command, stdout=said, stderr=said and subprocess.STDOUT)


def _end(halves: list[subprocess.Popen[bytes]]) -> None:
    for half in halves:
        if half.poll() is None:
            half.send_signal(signal.SIGINT)
    for half in halves:
        try:
            half.wait(END_S)
        except subprocess.TimeoutExpired:
            half.kill()


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == '__main__':
    sys.exit(main())
