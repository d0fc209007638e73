"""Which namespaces are valid."""

from __future__ import annotations

import pytest

from bbllm.core.errors import ConfigError
from bbllm.core.namespaces import NAMESPACE, REAL_NAMESPACE, checked_namespace


@pytest.mark.parametrize('name', [NAMESPACE, REAL_NAMESPACE, 'lab/left_arm', 'a', 'r2_', 'A1/b_2'])
def test_valid_names_are_kept(name: str) -> None:
    assert checked_namespace(name) == name
    assert checked_namespace(f'/{name}/') == name


@pytest.mark.parametrize(
    'text',
    [
        '',
        '/',
        'two words',
        '1st',
        'a__b',
        'a//b',
        'a-b',
        'a\n',
        'ü',
        '_hidden',
        'a"><b',
        'x' * 101,
    ],
)
def test_what_ros_refuses_is_refused_with_what_would_do(text: str) -> None:
    with pytest.raises(ConfigError, match='letters, digits and single underscores'):
        checked_namespace(text)
