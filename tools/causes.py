"""
Why a command of the set-up failed, in one sentence where its output shows a known cause.

Python 3.8 on, standard library only.
"""

from __future__ import annotations

import re
from pathlib import Path

from machine import SetupError

DISK = 'disk'
NETWORK = 'network'
CAUSES = (
    (
        DISK,
        r'No space left on device|Disk quota exceeded|os error (?:28|122)\b',
        'the disk is full. Free 3 GB, and run it again to go on',
    ),
    (
        NETWORK,
        r'dns error|name resolution|Name or service not known|nodename nor servname'
        r'|Failed to establish a new connection|error sending request|Network is unreachable'
        r'|Connection refused|Connection reset|[Cc]onnect(?:ion)? timed? ?out|Read timed out'
        r'|tunnel error|ProxyError|No matching distribution found',
        'no package index that has the package can be reached. This stage needs the network: '
        'PyPI, or the mirror that pip is set to. What is done stays done: run it again to go on',
    ),
    (
        'hash',
        r'HASHES FROM THE REQUIREMENTS FILE|Hash mismatch',
        'a package is not the one that the lock file names. A mirror or proxy may have changed '
        'it: set pip and uv to another index',
    ),
    (
        'memory',
        r'[Kk]illed (?:signal )?terminated program|fatal error: Killed|Cannot allocate memory',
        'the memory is too small for so many compilers at once. Run: make setup '
        'CMAKE_BUILD_PARALLEL_LEVEL=1',
    ),
    (
        'header',
        r'Python\.h: No such file|Development\.Module',
        'the header files of Python are missing. Install them with: sudo apt install python3-dev',
    ),
    (
        'permission',
        r'Read-only file system|Permission denied',
        'a folder cannot be written to',
    ),
)
"""Name, pattern and sentence of what can be at the bottom of a failure; the first one counts."""
TAIL = 20
"""How many lines of an unknown failure are shown."""


def failure_of(command: str, code: int, output: bytes, log: Path) -> SetupError:
    """Describe a command that failed: its cause, or the end of what it printed."""
    text = output.decode(errors='replace').strip()
    for name, pattern, sentence in CAUSES:
        found = re.search(f'.*(?:{pattern}).*', text)
        if found:
            line = found[0].strip()[:200]
            return SetupError(f'{sentence}.\n    {line}\nMore is in {log}.', name)
    tail = '\n'.join(f'    {line[:200]}' for line in text.splitlines()[-TAIL:])
    return SetupError(
        f'{command} ended with code {code}; it printed last\n{tail}\n'
        f'All of it is in {log}. What is done stays done: run it again to go on.'
    )
