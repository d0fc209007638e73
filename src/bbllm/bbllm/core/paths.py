"""Where bbllm's own files lie: the configuration it ships and the state it keeps."""

import os
from contextlib import suppress
from pathlib import Path

from bbllm.core.errors import ConfigError

_PACKAGE = Path(__file__).resolve().parent.parent


def config_dir() -> Path:
    """
    Return the folder with params, scenes, suites and `llm.yaml`; raises ConfigError without one.

    In a checkout, editable or not, that is `config/` at its root, so that edits take effect at
    once; installed, it is `share/bbllm/config` of the prefix that contains this package.
    """
    source = _PACKAGE.parent
    if (source / 'resource' / 'bbllm').exists() and (source / 'config').is_dir():
        return (source / 'config').resolve()
    for prefix in _PACKAGE.parents:
        installed = prefix / 'share' / 'bbllm' / 'config'
        if installed.is_dir():
            return installed
    raise ConfigError(
        f'The configuration of bbllm is neither beside its source ({source / "config"}) nor in '
        f'share/bbllm/config of a folder above {_PACKAGE}; install bbllm again with make setup '
        'or colcon build.'
    )


def config_files(pattern: str) -> dict[str, Path]:
    """Return the files of `config_dir` that match, by name without extension."""
    return {path.stem: path for path in config_dir().glob(pattern)}


def state_dir() -> Path:
    """Return `$XDG_STATE_HOME/bbllm`, by default `~/.local/state/bbllm`; it may not exist yet."""
    base = os.environ.get('XDG_STATE_HOME', '')
    # The XDG specification: a relative path is invalid and counts as not set.
    root = Path(base) if Path(base).is_absolute() else Path.home() / '.local' / 'state'
    return root / 'bbllm'


def episodes_dir() -> Path:
    """Return where journals and pictures go; it may not exist yet."""
    return state_dir() / 'episodes'


def predicted_path(journal: Path) -> Path:
    """Return the place, beside a journal, of the picture of the table that a plan leads to."""
    return journal.with_name(f'{journal.stem}-predicted.png')


def camera_pictures(journal: Path, camera: str = '*', moment: str = '*') -> Path:
    """Return the place, beside a journal, of a picture of a camera; `*` makes a pattern."""
    return journal.with_name(f'{journal.stem}-camera-{camera}-{moment}.jpg')


def write_whole(path: Path, data: bytes) -> None:
    """Write a file, or raise OSError and leave none, for example where the disk is full."""
    try:
        path.write_bytes(data)
    except OSError:
        with suppress(OSError):
            path.unlink()
        raise


def is_yaml_path(name: str) -> bool:
    """Whether the name of a scene or a suite is the path of a file, and not a plain name."""
    return name.endswith(('.yaml', '.yml')) or os.sep in name
