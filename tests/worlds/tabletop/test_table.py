"""A real table: pictures and the hand together."""

import pytest

from bbllm.core.errors import SceneError
from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.scene.catalogue import Catalogue
from bbllm.scene.detections import Picture
from bbllm.scene.relations import build_scene
from bbllm.skills.catalog import SKILLS
from bbllm.skills.grasps import Hand
from bbllm.skills.shapes import Vector
from bbllm.worlds.tabletop.table import ObservedTable, ObserverParams
from tests.worlds.tracked_tables import AWAY, EDGES, TABLE, cube

DOWN = (1.0, 0.0, 0.0, 0.0)
PLACE = SceneObject(
    name='location_A', kind=Kind.LOCATION, pose=Pose(position_m=(0.4, -0.2, 0.0)), size_m=EDGES
)
RED: Vector = (0.5, 0.1, 0.02)
BLUE: Vector = (0.6, 0.3, 0.02)
CEILING: Vector = (0.6, 0.0, 1.5)


class World:
    """A table, a clock, and what cameras and hand measure."""

    def __init__(self, *entities: SceneObject):
        self.table = ObservedTable(
            (TABLE, PLACE), entities, Catalogue(), ObserverParams(), lambda text: None
        )
        self.now_s = 100.0
        self.where = AWAY
        self.hand(AWAY, times=6)

    def hand(self, where: Hand, times: int = 1) -> None:
        self.where = where
        for _ in range(times):
            self.now_s += 0.03
            self.table.take_hand(where, self.now_s)

    def move(self, x: float, y: float, z: float, width_m: float, times: int = 6) -> None:
        tcp = Pose(position_m=(x, y, z), quat_xyzw=DOWN)
        self.hand(Hand(tcp=tcp, width_m=width_m), times)

    def show(
        self, times: int = 1, camera_m: Vector | None = CEILING, /, **entities: Vector
    ) -> None:
        for _ in range(times):
            self.now_s += 0.2
            seen = tuple(cube(name, *at) for name, at in entities.items())
            picture = Picture(
                source='camera', stamp_s=self.now_s, sightings=seen, camera_m=camera_m
            )
            self.table.take_picture(picture, self.where)
            self.table.take_hand(self.where, self.now_s)

    def at(self, name: str) -> Vector:
        view = self.table.view()
        return next(item.pose.position_m for item in view.objects if item.name == name)

    @property
    def facts(self) -> list[str]:
        view = self.table.view()
        scene = build_scene(
            view.objects,
            view.hand,
            skills=SKILLS,
            stamp_s=view.stamp_s,
            now_s=view.stamp_s,
            carried=view.carried,
            estimated=view.estimated,
            lost=view.lost,
        )
        return [f'{fact}{"?" if fact.estimated else ""}' for fact in scene.facts]

    def pick_red(self) -> None:
        self.move(0.5, 0.1, 0.03, 0.08)
        self.move(0.5, 0.1, 0.03, 0.04)
        self.move(0.5, 0.1, 0.20, 0.04)


def test_objects_of_a_file_are_where_it_has_them_until_the_hand_moves_them() -> None:
    world = World(cube('red_cube', *RED), cube('blue_cube', *BLUE))
    assert '(red_cube on table)' in world.facts

    world.pick_red()
    assert '(red_cube held_by hand)?' in world.facts
    assert world.at('red_cube') == pytest.approx((0.5, 0.1, 0.19))

    world.move(0.4, -0.2, 0.031, 0.04)
    world.move(0.4, -0.2, 0.031, 0.06)
    world.hand(AWAY)

    assert world.at('red_cube') == pytest.approx((0.4, -0.2, 0.02))
    assert '(red_cube on location_A)?' in world.facts
    assert '(location_A occupied_by red_cube)?' in world.facts
    assert '(blue_cube on table)' in world.facts
    assert '(hand is empty)' in world.facts


def test_object_that_slips_out_of_the_hand_is_a_fact_and_no_object() -> None:
    world = World(cube('red_cube', *RED), cube('blue_cube', *BLUE))
    world.pick_red()
    world.move(0.4, 0.0, 0.4, 0.04)

    world.move(0.4, 0.0, 0.4, 0.0)

    view = world.table.view()
    assert 'red_cube' not in [item.name for item in view.objects]
    assert view.carried is None
    assert '(red_cube is lost)' in world.facts
    assert '(red_cube last_seen_at 0.400 0.000 0.390)' in world.facts


def test_hand_covers_what_it_is_above_and_that_is_not_lost() -> None:
    world = World()
    world.show(5, red_cube=RED, blue_cube=BLUE)
    world.move(0.5, 0.1, 0.1, 0.08)

    world.show(50, blue_cube=BLUE)
    assert '(red_cube on table)' in world.facts

    world.hand(AWAY)
    world.show(11, blue_cube=BLUE)
    assert '(red_cube is lost)' in world.facts


def test_arm_between_the_camera_and_an_object_hides_it() -> None:
    world = World()
    behind: Vector = (0.7, 0.5, 0.02)
    low_camera: Vector = (0.1, -0.7, 0.3)
    world.show(5, low_camera, red_cube=behind, blue_cube=BLUE)
    world.move(0.4, -0.1, 0.16, 0.08)  # on the line from the camera to the thing

    world.show(30, low_camera, blue_cube=BLUE)

    assert world.table.view().lost == ()


def test_camera_that_sees_it_left_behind_is_believed() -> None:
    world = World()
    world.show(5, red_cube=RED, blue_cube=BLUE)
    world.pick_red()
    world.move(0.5, 0.1, 0.4, 0.04)

    world.show(3, red_cube=RED, blue_cube=BLUE)

    assert world.table.view().carried is None
    assert '(red_cube on table)' in world.facts


def test_scene_goes_on_without_what_is_lost_but_not_without_everything() -> None:
    world = World()
    world.show(5, red_cube=RED, blue_cube=BLUE)

    world.show(11, red_cube=RED)
    assert [item.name for item in world.table.view().lost] == ['blue_cube']
    world.show(11)

    with pytest.raises(SceneError, match=r'stale: nothing .* red_cube 2 s ago, blue_cube'):
        world.table.view()


def test_wait_for_a_picture_is_for_what_it_could_show() -> None:
    world = World()
    world.show(5, red_cube=RED, blue_cube=BLUE)
    asked_s = world.now_s + 0.01
    assert world.table.behind(asked_s) == ('red_cube', 'blue_cube')

    world.move(0.5, 0.1, 0.1, 0.08)
    assert world.table.behind(asked_s) == ('blue_cube',)

    world.show(1, blue_cube=BLUE)
    assert world.table.behind(asked_s) == ()


def test_silence_is_explained_only_where_the_arm_hides_all_that_was_seen() -> None:
    world = World()
    assert not world.table.all_hidden('camera')

    world.show(5, red_cube=RED)
    assert not world.table.all_hidden('camera')
    world.move(0.5, 0.1, 0.1, 0.08)
    assert world.table.all_hidden('camera')
    world.pick_red()
    assert world.table.all_hidden('camera')

    world.hand(AWAY)
    world.show(11)
    assert not world.table.all_hidden('camera')


@pytest.mark.parametrize(
    ('seen_at', 'camera_m'),
    [
        (BLUE, CEILING),  # the blue cube was taken for it
        ((0.5, 0.1, 0.02), (0.5, 0.1, 1.5)),  # its depth alone is off
    ],
)
def test_what_is_taken_for_the_object_in_the_hand_leaves_it_there(
    seen_at: Vector, camera_m: Vector
) -> None:
    world = World()
    world.show(5, red_cube=RED, blue_cube=BLUE)
    world.pick_red()

    world.show(6, camera_m, red_cube=seen_at)

    assert world.table.view().carried == 'red_cube'
