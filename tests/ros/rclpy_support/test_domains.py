"""Domains for stacks that are to meet nobody."""

import os
import tempfile
from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError
from bbllm_ros.rclpy_support import domains
from bbllm_ros.rclpy_support.domains import domain_of, own_domain
from bbllm_ros.rclpy_support.own_nodes import OwnNodes
from bbllm_ros.stack.client import StackClient
from bbllm_ros.stack.stack import Stack, StackConfig

TWO = range(30, 32)


@pytest.fixture(autouse=True)
def own_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be two domains, which no other process of this machine asks for."""
    monkeypatch.setattr(domains, 'DOMAINS', TWO)
    monkeypatch.setattr(domains, 'PREFIX', f'test of bbllm {tmp_path.name} {os.getpid()}')


def test_two_episodes_never_share_a_domain_and_leave_theirs_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with own_domain() as one:
        with own_domain() as other:
            assert {one, other} == set(TWO)
            # As in the workers of a bench.
            monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
            with pytest.raises(ConfigError, match='All 2 ROS domains'), own_domain():
                pass
        with own_domain() as again:
            assert again == other


def test_the_domain_is_that_of_the_environment_and_a_wrong_one_is_named_with_the_range() -> None:
    assert domain_of({}) == 0
    for text, domain in (('', 0), ('0', 0), (' 42 ', 42), ('232', 232)):
        assert domain_of({'ROS_DOMAIN_ID': text}) == domain
    for wrong in ('abc', '-1', '233', '1.0', '٣', '9' * 5000):
        with pytest.raises(ConfigError, match=r'ROS_DOMAIN_ID=.* from 0 to 232'):
            domain_of({'ROS_DOMAIN_ID': wrong})


@pytest.mark.ros
def test_nobody_joins_a_domain_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('ROS_DOMAIN_ID', 'abc')

    for join in (StackClient, OwnNodes, Stack(StackConfig(nodes=())).start):
        with pytest.raises(ConfigError, match='ROS_DOMAIN_ID'):
            join()
