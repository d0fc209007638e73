"""Where a plan would leave the objects."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from bbllm.core.types import Fact
from bbllm.worlds.household.world import HouseholdWorld
from bbllm_viewer.view3d.ghosts import ghosts_of, imagined
from bbllm_viewer.viz.house import HouseItem, rooms_of
from tests.doubles.paper_world import PaperWorld


def test_ghosts_stand_where_the_plan_leaves_what_it_moves() -> None:
    scene = PaperWorld('tabletop').observe()
    seen = (*scene.facts, Fact('green_cube', 'on', 'table', estimated=True))  # by a camera
    scene = replace(scene, facts=seen)
    steps = (
        *('pick red_cube', 'place red_cube at 0.45 -0.12 0.020', 'pick blue_cube'),
        *('place it on red_cube', 'think about it', 'pick azure_cube', 'pick green_cube'),
    )

    ghosts = ghosts_of(imagined(steps, scene), scene)

    places = {item.name: item.pose.position_m for item in ghosts}
    assert places == {
        'red_cube': pytest.approx((0.45, -0.12, 0.02), abs=1e-3),
        'blue_cube': pytest.approx((0.45, -0.12, 0.06), abs=1e-3),
    }
    nowhere = imagined(['place red_cube on nothing', 'pick red_cube'], scene)
    assert ghosts_of(nowhere, scene) == ()


def test_in_a_house_the_drawing_marks_where_the_plan_leaves_what_it_moves() -> None:
    world = HouseholdWorld('family_flat')
    scene = world.observe()
    steps = ('walk to book', 'grab(book_205)', 'think', 'walk to the sofa', 'put book on sofa')
    after = imagined((*steps, 'grab the moon'), scene, world.copy)

    def found(items: tuple[HouseItem, ...], place: str = '') -> Iterator[tuple[str, HouseItem]]:
        for item in items:
            yield place, item
            yield from found((*item.upon, *item.within), item.name)

    changes = [
        (place, item.name, item.style)
        for place, item in found(rooms_of(scene, after, ahead=True))
        if item.changed or item.style == 'ghost'
    ]
    assert ('bookshelf_204', 'book_205', 'thing') in changes
    assert ('sofa_195', 'book_205', 'ghost') in changes
    assert world.observe() == scene
    assert imagined(steps, scene) == scene
