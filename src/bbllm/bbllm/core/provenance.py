"""States what made a recording or a result: the version of bbllm, its templates of prompts."""

import hashlib
import subprocess
from functools import cache
from pathlib import Path

from bbllm.core.version import VERSION

NO_CHECKOUT = 'no checkout'
_PACKAGE = Path(__file__).resolve().parents[1]


@cache
def find_commit() -> str:
    """Return the commit of the checkout as `git describe` names it, or NO_CHECKOUT."""
    command = ['git', '-C', str(_PACKAGE), 'describe', '--always', '--dirty', '--abbrev=12']
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5.0)
    except (OSError, subprocess.TimeoutExpired):
        return NO_CHECKOUT
    return done.stdout.strip() if done.returncode == 0 else NO_CHECKOUT


def code_version() -> str:
    """Return the commit of a checkout, else the version that is installed."""
    commit = find_commit()
    return VERSION if commit == NO_CHECKOUT else commit


def hash_templates() -> dict[str, str]:
    """Return the sha256 of every file of prompts, by its path below the folder of planners."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in (_PACKAGE / 'planners', _PACKAGE.parent / 'bbllm_planners')
        for path in sorted(folder.glob('**/prompts/**/*'))
        if path.is_file()
    }


@cache
def templates_hash() -> str:
    """Return one hash of all these files and their paths."""
    lines = (f'{path} {digest}\n' for path, digest in sorted(hash_templates().items()))
    return hashlib.sha256(''.join(lines).encode()).hexdigest()[:16]
