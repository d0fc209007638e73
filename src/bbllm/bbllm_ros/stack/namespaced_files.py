"""The file of rviz's view, whose names are whole, for another namespace. Needs no ROS."""

import re
from pathlib import Path

from bbllm.core.constants import NAMESPACE, checked_namespace
from bbllm.core.errors import ConfigError
from bbllm.core.paths import config_dir, state_dir

_WRITTEN = re.compile(rf'(?<![\w/])/{NAMESPACE}(?=[/"<\s]|$)', re.MULTILINE)


def view_file(namespace: str) -> Path:
    """
    Return rviz's view of a namespace; for another one than the file's it is written.

    Raises ConfigError for a wrong namespace, or a folder that cannot be written.
    """
    path = config_dir() / 'rviz' / 'bbllm.rviz'
    if namespace == NAMESPACE:
        return path
    text = _WRITTEN.sub(f'/{checked_namespace(namespace)}', path.read_text('utf-8'))
    made = state_dir() / 'rviz' / f'{namespace.replace("/", ".")}.rviz'
    try:
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(text, 'utf-8')
    except OSError as error:
        raise ConfigError(
            f'{made} cannot be written ({error.strerror}); set XDG_STATE_HOME to a folder that '
            'can.'
        ) from error
    return made
