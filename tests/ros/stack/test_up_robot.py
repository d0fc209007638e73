"""`bbllm up fr3`: what it refuses, and what it starts with."""

from dataclasses import replace
from typing import Any

import pytest

from bbllm.core.approval import ApprovalMode
from bbllm.core.errors import ConfigError
from bbllm_ros.commands.up import UpConfig, UpRequest, _checked, _nodes, _params
from bbllm_ros.stack.stack import DIRECT_NODES, REAL_NODES, StackConfig
from bbllm_ros.stack.stack_checks import check_params
from bbllm_viewer.commands.browser import BrowserOptions, PageOptions

pytest.importorskip('franky')
ROBOT = {'ip': '172.16.0.2', 'scene': 'tabletop'}


def request(kind: Any = 'fr3', **given: Any) -> UpRequest:
    return UpRequest(kind=kind, config=UpConfig(**given), page=BrowserOptions(page=PageOptions()))


def test_a_person_approves_plans_in_the_slow_envelope() -> None:
    asked = _checked(request(**ROBOT))

    nodes, params = _nodes(asked), _params(asked)

    assert nodes == DIRECT_NODES == (*REAL_NODES, 'franka_direct')
    assert params['fr3_executor']['approval'] == 'plan'
    assert 'safety' not in params['fr3_executor']  # as the file has it: safety_slow
    assert params['franka_direct'] == {'ip': '172.16.0.2'}
    assert params['state_estimator'] == {'sources': 'static', 'scene': 'tabletop'}
    assert not StackConfig(nodes=nodes).simulated
    check_params(nodes, params, simulated=False)


def test_another_approval_has_to_be_chosen() -> None:
    asked = _checked(request(**ROBOT, approval=ApprovalMode.NONE))

    assert _params(asked)['fr3_executor']['approval'] == 'none'


@pytest.mark.parametrize(
    ('given', 'words'),
    [
        ({}, 'bbllm up fr3 needs the address'),
        ({'ip': '172.16.0.2'}, 'Where are the objects?'),
        ({**ROBOT, 'speed': 2.0}, '--speed: only with a simulation'),
        ({**ROBOT, 'kind': 'sim'}, '--ip: only with `bbllm up fr3`'),
    ],
)
def test_refuses_what_does_not_go_together(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        _checked(request(**given))


def test_refuses_the_clock_of_a_simulation() -> None:
    with pytest.raises(ConfigError, match='--clock: only with a simulation'):
        _checked(replace(request(**ROBOT), clock=True))
