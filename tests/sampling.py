"""Which files and cases of parametrised tests `make test` plays; see sampled.yaml."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import yaml

LIST = Path(__file__).parent / 'sampled.yaml'


@cache
def entries() -> dict[str, dict[str, Any]]:
    """Return the list by test, or by file where an entry is of a whole file."""
    return {entry['test']: entry for entry in yaml.safe_load(LIST.read_text())}


def left_out_files(sampled: dict[str, dict[str, Any]]) -> set[str]:
    """Return the files of which `make test` plays nothing, so that they need not be imported."""
    return {test for test in sampled if '::' not in test}


def case_of(nodeid: str) -> tuple[str, str]:
    """Return the test of a node, and which case of it; empty where it has none."""
    test, bracket, case = nodeid.partition('[')
    return test, case[: -len(']')] if bracket else ''


def is_left_out(nodeid: str, sampled: dict[str, dict[str, Any]]) -> bool:
    """Return whether a node is a case that `make test` leaves out."""
    test, case = case_of(nodeid)
    if test.partition('::')[0] in sampled:
        return True
    keep = sampled[test]['keep'] if test in sampled else ['*']
    return not any(fnmatchcase(case, pattern) for pattern in keep)
