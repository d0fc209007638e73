"""Where a plan would leave the objects."""

from dataclasses import replace

import pytest

from bbllm.core.types import Fact
from bbllm_viewer.view3d.ghosts import ghosts_of
from tests.doubles.paper_world import PaperWorld


def test_ghosts_stand_where_the_plan_leaves_what_it_moves() -> None:
    scene = PaperWorld('tabletop').observe()
    seen = (*scene.facts, Fact('green_cube', 'on', 'table', estimated=True))  # by a camera
    scene = replace(scene, facts=seen)
    ghosts = ghosts_of(
        [
            *('pick red_cube', 'place red_cube at 0.45 -0.12 0.020', 'pick blue_cube'),
            *('place it on red_cube', 'think about it', 'pick azure_cube', 'pick green_cube'),
        ],
        scene,
    )

    places = {item.name: item.pose.position_m for item in ghosts}
    assert places == {
        'red_cube': pytest.approx((0.45, -0.12, 0.02), abs=1e-3),
        'blue_cube': pytest.approx((0.45, -0.12, 0.06), abs=1e-3),
    }
    assert ghosts_of(['place red_cube on nothing', 'pick red_cube'], scene) == ()
