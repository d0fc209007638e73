"""What counts as made when `expert` makes something of several things, one by one or at once."""

from __future__ import annotations

import pytest
from household_cases import case_of

from bbllm.bench.household_expert.moves import Standing
from bbllm.bench.household_expert.stages import made_of
from bbllm.bench.suites.house_goals import HouseCondition
from bbllm.worlds.household.derived import by_device
from bbllm.worlds.household.household import Household


@pytest.mark.parametrize(
    ('device', 'made'), [(None, {7}), ('stove', {7}), ('microwave', set()), ('fridge', set())]
)
def test_what_another_device_has_made_is_not_made_by_the_one_that_is_meant(
    device: str | None, made: set[int]
) -> None:
    seen = {(7, 'heated'), (7, by_device('heated', 'stove'))}
    house = Household(case_of('microwave_salmon').house.build())
    condition = HouseCondition.model_validate(
        {'thing': 'milk', 'is': 'heated', 'count': 2, **({'by': device} if device else {})}
    )

    assert made_of(Standing.beginning(house, seen=seen), condition) == made
