"""Names of things of one class are taken apart as they were put together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.instance_names import class_of, id_of, instance_name


@given(st.from_regex(r'[a-z][a-z_0-9]{0,12}', fullmatch=True), st.integers(0, 10**6))
def test_a_name_gives_back_its_class_and_number(class_name: str, number: int) -> None:
    name = instance_name(class_name, number)

    assert (class_of(name), id_of(name)) == (class_name, number)


def test_a_name_has_no_spaces() -> None:
    assert instance_name('wall clock', 4) == 'wall_clock_4'


@pytest.mark.parametrize('name', ['red_cube', 'location_A', '_7', '7', 'mug_', 'mug_7_', ''])
def test_a_name_without_a_number_is_its_own_class(name: str) -> None:
    assert (class_of(name), id_of(name)) == (name, None)
