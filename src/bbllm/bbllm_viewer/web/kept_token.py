"""A token that stays the same from start to start, for clients that keep their configuration."""

import os
import re
import stat
from contextlib import suppress
from pathlib import Path

from bbllm.core.errors import ConfigError
from bbllm_viewer.web.server import new_token

_TOKEN = re.compile(r'[A-Za-z0-9_-]{43}')


def kept_token(path: Path) -> str:
    """
    Return the token in a file that only this user can read; makes it where there is none.

    Raises ConfigError where the file belongs to somebody else, can be read by others, or has no
    token.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            _write(path, new_token())
        return _read(path)
    except OSError as error:
        raise ConfigError(f'The token cannot be kept in {path} ({error.strerror}).') from error


def _write(path: Path, token: str) -> None:
    made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(made, 'w') as file:
        file.write(f'{token}\n')


def _read(path: Path) -> str:
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(opened) as file:
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o77:
            raise ConfigError(
                f'{path} is not a file that only you can read, so the token in it may be known '
                'to others. Delete it; the next start makes a new one.'
            )
        text = file.read(100).strip()
    if not _TOKEN.fullmatch(text):
        raise ConfigError(f'{path} has no token. Delete it; the next start makes a new one.')
    return text
