"""Names of the objects of one class: `salmon_328` is number 328, a salmon."""

from __future__ import annotations

import re

_NUMBERED = re.compile(r'(.+)_([0-9]+)\Z')


def instance_name(class_name: str, id: int) -> str:
    """Return the name of one object, for example `salmon_328`; it never has a space."""
    return f'{"_".join(class_name.split())}_{id}'


def class_of(name: str) -> str:
    """Return the class of an object, for example `salmon`; a name without a number stays."""
    found = _NUMBERED.match(name)
    return found.group(1) if found else name


def id_of(name: str) -> int | None:
    """Return the number of an object, None where its name has none."""
    found = _NUMBERED.match(name)
    return int(found.group(2)) if found else None
