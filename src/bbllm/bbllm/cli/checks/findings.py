"""What a check found; one line of the doctor's report."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Level(str, Enum):
    """How a check came out."""

    OK = 'ok'
    WARN = 'warn'
    """Something that only a part of the program needs is missing."""
    FAIL = 'fail'
    """`bbllm demo` would not work; with --real, the arm would not."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    name: str
    level: Level
    text: str
    remedy: str = ''
    """What to do about it; empty where nothing needs doing."""
