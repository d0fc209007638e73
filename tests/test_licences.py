"""The list of licences: of every package that is installed, and current."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def listed() -> dict[str, str]:
    rows = re.findall(r'^\| ([\w.-]+) \| (.+) \|$', (ROOT / 'THIRD_PARTY.md').read_text(), re.M)
    return {name: licence for name, licence in rows if set(name) != {'-'} and name != 'package'}


def test_every_locked_package_of_bbllm_is_listed_with_its_licence() -> None:
    lock = (ROOT / 'requirements' / 'lock.txt').read_text()
    # Without markers: others may be for another system or version of Python.
    pinned = set(re.findall(r'^([a-z0-9._-]+)==\S+ \\$', lock, re.MULTILINE))

    assert len(pinned) > 100
    assert pinned - listed().keys() == set()
