"""What a check found: one line of the report of `bbllm doctor`."""

from collections.abc import Container, Iterable
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How a check came out."""

    OK = 'ok'
    WARN = 'warn'
    """Something that only a part of the program needs is missing, or could not be checked."""
    FAIL = 'fail'
    """`bbllm demo` would not work; with --fr3 or --real, the arm would not."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    name: str
    level: Level
    text: str
    remedy: str = ''
    """What to do about it; empty where nothing needs doing."""


def ok(name: str, text: str, remedy: str = '') -> Finding:
    return Finding(name, Level.OK, text, remedy)


def warn(name: str, text: str, remedy: str = '') -> Finding:
    return Finding(name, Level.WARN, text, remedy)


def fail(name: str, text: str, remedy: str = '') -> Finding:
    return Finding(name, Level.FAIL, text, remedy)


def there(name: str, wanted: Iterable[str], found: Container[str], remedy: str) -> Finding:
    """Return a failure that names what of *wanted* is not in *found*, or all of it."""
    if missing := [item for item in wanted if item not in found]:
        return fail(name, f'missing: {", ".join(missing)}', remedy)
    return ok(name, f'there: {", ".join(wanted)}')
