"""What a package calls a planner is looked at before it is played."""

from __future__ import annotations

from typing import Any

import pytest

from bbllm.core.factory_faults import fault_of
from bbllm.core.registry import EVERYWHERE


class Good:
    """As a planner should be."""

    def __init__(self, brain: Any, body: Any, *, k: int = 3, check: str = 'yes'):
        pass

    def run(self, task: Any, world: Any, context: Any) -> None:
        pass


class WithoutK(Good):
    def __init__(self, brain: Any, body: Any):
        pass


def made_with(**attributes: object) -> type[Good]:
    return type('Made', (Good,), attributes)


def build(brain: Any, body: Any, **options: Any) -> Good:
    """Build a planner by a function, which is as good as a class."""
    return Good(brain, body, **options)


@pytest.mark.parametrize(
    'factory',
    [
        Good,
        build,
        made_with(options={'check': ('yes', 'no')}),
        made_with(options={'check': ['yes', 'no']}, plays_in=['household'], stand_ins=()),
    ],
)
def test_of_what_builds_a_planner_there_is_nothing_to_say(factory: object) -> None:
    assert fault_of(factory, EVERYWHERE) == ''


@pytest.mark.parametrize(
    ('factory', 'told'),
    [
        (3, 'it is int and no class or function'),
        (WithoutK, "planner(brain, body, k=3): got an unexpected keyword argument 'k'"),
        (made_with(options={'chek': ('a', 'b')}), 'planner(brain, body, k=3, chek=...)'),
        (made_with(options=['check']), "are ['check'] and not a mapping such as"),
        (made_with(options={'check': 'yes'}), "option 'check' has the values 'yes'"),
        (made_with(options={'check': {'yes', 'no'}}), "option 'check' has the values"),
        (made_with(options={'check': (1, 2)}), 'has the values (1, 2)'),
        (made_with(options={'check': ()}), 'has the values ()'),
        (made_with(plays_in='household'), "'household' and not a set of names such as"),
        (made_with(plays_in={'kitchen'}), "names 'kitchen'; known are household, tabletop"),
        (made_with(stand_ins='expert'), "'expert' and not a set of names such as {'expert'}"),
        (made_with(run=None), 'no method run(task, world, context)'),
    ],
)
def test_of_what_builds_none_it_is_said_what_is_wrong(factory: object, told: str) -> None:
    assert told in fault_of(factory, EVERYWHERE)
