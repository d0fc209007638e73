"""
Files of config with whole names (policies of SROS 2, rviz's view), for another namespace.

Needs no ROS.
"""

import re
from pathlib import Path

from bbllm.core.constants import NAMESPACE, REAL_NAMESPACE, checked_namespace
from bbllm.core.errors import ConfigError
from bbllm.core.paths import config_dir, state_dir
from bbllm_ros.stack.stack import SIMULATOR

POLICY = '.policy.xml'
_WRITTEN = re.compile(rf'(?<![\w/])/{NAMESPACE}(?=[/"<\s]|$)', re.MULTILINE)


def in_namespace(text: str, namespace: str) -> str:
    return _WRITTEN.sub(f'/{checked_namespace(namespace)}', text)


def write_policies(namespace: str, folder: Path) -> list[Path]:
    """
    Write the policies of SROS 2 for a namespace; return the files.

    Those of a real arm have none for a simulator, which would serve all that the driver serves.
    Raises ConfigError for a wrong namespace, or a folder that cannot be written.
    """
    texts = {
        path.name: in_namespace(path.read_text('utf-8'), namespace)
        for path in sorted((config_dir() / 'sros2').glob(f'*{POLICY}'))
    }
    if namespace == REAL_NAMESPACE:
        del texts[SIMULATOR + POLICY]
    return [_write(folder / name, text) for name, text in texts.items()]


def view_file(namespace: str) -> Path:
    """
    Return rviz's view of a namespace; for another one than the file's it is written.

    Raises ConfigError as `write_policies`.
    """
    path = config_dir() / 'rviz' / 'bbllm.rviz'
    if namespace == NAMESPACE:
        return path
    text = in_namespace(path.read_text('utf-8'), namespace)
    return _write(state_dir() / 'rviz' / f'{namespace.replace("/", ".")}.rviz', text)


def _write(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, 'utf-8')
    except OSError as error:
        raise ConfigError(
            f'{path} cannot be written ({error.strerror}); name another folder, or set '
            'XDG_STATE_HOME to one that can.'
        ) from error
    return path
