"""What a model may say in place of a plan: that all is done, or that it cannot be done."""

from __future__ import annotations

import re

MAX_REASON = 1000
"""How much of a reason is kept [characters]."""
MAX_DONE = 200
"""A longer line says more than that all is done [characters]."""

_MARKS = ' \t\r>*_#`~-•'
"""What models put around a line: quotation, emphasis, headings, bullets."""
_DONE = re.compile(r'(?:all )?done\b[\s.!]*(?:\(\s*\)|\s\(.*\))?[\s.!]*', re.IGNORECASE)
_CANNOT = re.compile(r'cannot[*_`\s]*:(.+)', re.IGNORECASE)


def says_done(line: str) -> bool:
    """Return whether a line says that all is done: `done`, `# All done!`, `Done. (It is hot.)`."""
    words = line.strip(_MARKS)
    return len(words) <= MAX_DONE and _DONE.fullmatch(words) is not None


def reason_of(line: str) -> str | None:
    """Return why it cannot be done where a line says `cannot: <reason>`, else None."""
    found = _CANNOT.fullmatch(line.strip(_MARKS))
    reason = found[1].strip(_MARKS) if found else ''
    return reason[:MAX_REASON] or None
