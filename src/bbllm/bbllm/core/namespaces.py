"""ROS namespaces: the defaults of a simulation and of a real arm, and which names are valid."""

from __future__ import annotations

import re

from bbllm.core.errors import ConfigError

NAMESPACE = 'bbllm'
"""Where the names of a simulation lie by default."""
REAL_NAMESPACE = 'bbllm_real'
"""Where those of a real arm lie: another place, so that neither answers the other's goals."""
MAX_LENGTH = 100
"""Topics and actions add up to 60 characters, and DDS allows 255."""
_TOKEN = r'[A-Za-z](?:_?[A-Za-z0-9])*_?'
_NAMESPACE = re.compile(rf'{_TOKEN}(?:/{_TOKEN})*')


def checked_namespace(text: str) -> str:
    """
    Return a namespace without slashes around it.

    Raises:
        ConfigError: ROS 2 allows no such namespace; names what it allows.
    """
    name = text.strip('/')
    if len(name) > MAX_LENGTH or not _NAMESPACE.fullmatch(name):
        raise ConfigError(
            f'{text[:80]!r} is no namespace: it takes letters, digits and single underscores, '
            f'begins with a letter, and may have parts with / between them, as in {NAMESPACE} '
            f'or lab/left_arm; {MAX_LENGTH} characters at most.'
        )
    return name
