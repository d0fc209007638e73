"""Markers of a scene: what is out of reach or lost looks so, and says so."""

import pytest
from visualization_msgs.msg import Marker

from bbllm.core.observation import LostObject, lost_facts
from bbllm.core.types import Fact, Kind, Plan, PlanStep, Pose, Scene, SceneObject
from bbllm.scene.scene_file import load_scene
from bbllm_ros.rviz.markers import plan_markers, scene_markers

pytestmark = pytest.mark.ros


def cube(name: str, x: float) -> SceneObject:
    return SceneObject(
        name=name,
        kind=Kind.CUBE,
        pose=Pose(position_m=(x, 0.1, 0.02)),
        size_m=(0.04, 0.04, 0.04),
        color='red',
    )


NEAR, FAR = cube('red_cube', 0.4), cube('far_cube', 1.0)


def markers_of(*facts: Fact) -> dict[tuple[str, int], Marker]:
    shown = scene_markers(Scene((NEAR, FAR), (), facts, 5.0)).markers
    assert shown[0].action == Marker.DELETEALL
    return {(marker.ns, marker.id): marker for marker in shown[1:]}


def test_what_is_out_of_reach_is_pale_and_labelled() -> None:
    shown = markers_of(Fact('far_cube', 'reachable', 'no'), Fact('red_cube', 'reachable', 'yes'))

    assert shown['objects', 0].color.a == 1.0
    assert shown['names', 0].text == 'red_cube'
    assert shown['objects', 1].color.a == pytest.approx(0.3)
    assert shown['names', 1].text == 'far_cube\n(out of reach)'


def test_lost_object_is_marked_where_it_was_last_seen() -> None:
    lost = LostObject(name='blue_cube', position_m=(0.5, -0.2, 0.02), seen_s=2.0)

    shown = markers_of(*lost_facts([lost], 5.0))

    place = shown['lost', 0].pose.position
    assert (place.x, place.y, place.z) == (0.5, -0.2, 0.02)
    assert shown['lost', 0].type == Marker.SPHERE
    assert shown['lost names', 0].text == 'blue_cube\n(lost 3 s ago)'


def objects_of(*items: SceneObject) -> list[Marker]:
    shown = scene_markers(Scene(items, (), (), 5.0)).markers
    return [marker for marker in shown if marker.ns == 'objects']


def fruit(name: str) -> SceneObject:
    return next(item for item in load_scene('fruit').movables if item.name == name)


def test_fruit_and_containers_are_put_together_from_their_parts() -> None:
    orange = objects_of(fruit('orange'))
    bottle = objects_of(fruit('bottle'))
    box = objects_of(fruit('box'))

    assert orange[0].type == Marker.SPHERE
    assert orange[0].scale.x == pytest.approx(0.06)
    assert {marker.type for marker in bottle} == {Marker.CYLINDER, Marker.SPHERE}
    assert [marker.type for marker in box] == [Marker.CUBE] * 5
    # It is turned by a quarter, and its long walls with it, 1 mm of wall inside its outline.
    (floor, *walls) = box
    assert floor.pose.orientation.z == pytest.approx(0.7071, abs=1e-3)
    assert sorted(round(wall.pose.position.y + 0.33, 3) for wall in walls)[0] == -0.127


def test_text_from_outside_is_one_visible_line_of_the_plan() -> None:
    plan = Plan((PlanStep(0, 'pick\u202e\x1b[2J\n 1: rest'),))

    (_, shown) = plan_markers(plan, 0).markers

    assert shown.text == r'> 0: pick\u202e\x1b[2J 1: rest'
