"""What `make test` says of its two halves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PASSES = 'def test_{}(): pass'
ROS = '@pytest.mark.ros\n' + PASSES.format('ros')
KILLED = 'import os, signal\ndef test_b(): os.kill(os.getpid(), signal.SIGKILL)'


@pytest.mark.parametrize(
    ('tests', 'passed'),
    [
        ((ROS, PASSES.format('b')), True),
        ((ROS,), True),
        ((), False),
        ((ROS, KILLED), False),
    ],
    ids=['both pass', 'one half has none', 'there are none', 'one half is killed'],
)
def test_tests_pass_where_some_ran_and_each_half_ended_well(
    tests: tuple[str, ...], passed: bool, repository: Path, tmp_path: Path
) -> None:
    (tmp_path / 'pytest.ini').write_text('[pytest]\nmarkers =\n  ros: of a half\n  slow: left out')
    (tmp_path / 'test_it.py').write_text('\n'.join(('import pytest', *tests)))

    ended = subprocess.run(
        [sys.executable, repository / 'tools/run_tests.py', '-p', 'no:cacheprovider'],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert (ended.returncode == 0) is passed, ended.stdout + ended.stderr
