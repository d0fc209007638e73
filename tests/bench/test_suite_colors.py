"""Colours in suite files are those that everybody who meets them knows."""

from __future__ import annotations

import pytest

from bbllm.bench.oracle.table_goals import COLORS, COLORS_OF_THE_ARC
from bbllm.bench.suites.goals import ColorLine
from bbllm.bench.suites.suite import list_suites, load_suite
from bbllm.sim.build import rgba_of
from bbllm.viz.colors import HEX


@pytest.mark.parametrize(
    'name', [name for name in list_suites() if not name.startswith('household_original')]
)
def test_every_colour_of_a_shipped_suite_is_known_to_pictures_and_offline(name: str) -> None:
    for spec in load_suite(name).tasks:
        for group in spec.generate.objects if spec.generate else ():
            for color in group.palette:
                assert color in HEX
                assert color in COLORS
                # the simulator invents a colour for words that it does not know
                assert rgba_of(color) != rgba_of(f'{color} of no kind')


def test_the_colours_of_a_line_are_in_the_order_of_the_spectrum() -> None:
    line = load_suite('tabletop').task('color_line').goal

    assert isinstance(line, ColorLine)
    assert list(line.colors) == sorted(line.colors, key=lambda color: COLORS_OF_THE_ARC[color])
