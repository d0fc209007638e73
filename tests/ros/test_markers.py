"""Markers of a scene: what is out of reach or lost looks so, and says so."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from stacks import Running, started, until
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker

from bbllm.core.observation import LostObject, lost_facts
from bbllm.core.types import Fact, Kind, Plan, PlanStep, Pose, Scene, SceneObject
from bbllm.ros.convert.qos import LATCHED
from bbllm.ros.rviz.markers import menu_marker, plan_markers, scene_markers, status_markers
from bbllm.ros.stack.stack import NODES
from bbllm.sim.object_models import OBJECT_MODELS
from bbllm.sim.scene_file import load_scene
from bbllm.worlds.tabletop.menu import Numbers, robot_menu
from bbllm.worlds.tabletop.status import Mood

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


def test_what_is_out_of_reach_is_pale_and_says_so() -> None:
    shown = markers_of(Fact('far_cube', 'reachable', 'no'), Fact('red_cube', 'reachable', 'yes'))

    assert shown['objects', 0].color.a == 1.0
    assert shown['names', 0].text == 'red_cube'
    assert shown['objects', 1].color.a == pytest.approx(0.3)
    assert shown['names', 1].text == 'far_cube\n(out of reach)'


def test_what_is_believed_stands_below_the_name_of_the_thing_and_ends_in_how_much_more() -> None:
    words = ('slipped_before', 'would_not_rise', 'fixed_or_heavy', 'sticky')
    believed = [Fact('far_cube', 'is', word, estimated=True) for word in words]

    shown = markers_of(
        Fact('far_cube', 'reachable', 'no'),
        Fact('far_cube', 'is', 'clear'),
        *believed,
        Fact('red_cube', 'heavier_than', 'far_cube', estimated=True),
    )

    assert shown['names', 0].text == 'red_cube\nbelieved: heavier_than far_cube'
    assert shown['names', 1].text.splitlines() == [
        *('far_cube', '(out of reach)', 'believed: slipped_before', 'believed: would_not_rise'),
        *('believed: fixed_or_heavy', '... 1 more'),
    ]
    one, many = (shown['names', i].pose.position.z for i in (0, 1))
    assert one < many


def test_lost_thing_is_marked_where_it_was_last_seen() -> None:
    lost = LostObject(name='blue_cube', position_m=(0.5, -0.2, 0.02), seen_s=2.0)

    shown = markers_of(*lost_facts([lost], 5.0))

    place = shown['lost', 0].pose.position
    assert (place.x, place.y, place.z) == (0.5, -0.2, 0.02)
    assert shown['lost', 0].type == Marker.SPHERE
    assert shown['lost names', 0].text == 'blue_cube\n(lost 3 s ago)'


def test_lost_thing_that_nobody_knows_a_place_of_is_not_drawn() -> None:
    assert ('lost', 0) not in markers_of(Fact('blue_cube', 'is', 'lost'))


def test_colour_of_the_status_tells_how_much_a_person_is_needed() -> None:
    colors = []
    for mood in Mood:
        _, text = status_markers(('task: none',), mood).markers
        assert text.text == 'task: none'
        colors.append((text.color.r, text.color.g, text.color.b))

    assert len(set(colors)) == len(Mood)


def test_handle_of_a_menu_is_larger_than_its_thing_and_moves_with_it() -> None:
    menu = robot_menu({}, None)

    marker = menu_marker(menu, Numbers())

    (handle,) = marker.controls[0].markers
    assert handle.header.frame_id == ''  # relative to the interactive marker
    assert handle.scale.x > menu.size_m[0]
    assert 0.0 < handle.color.a < 0.5
    assert [entry.title for entry in marker.menu_entries] == ['return to base', 'stop']


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


def test_parts_stand_where_their_thing_stands_and_have_numbers_of_their_own() -> None:
    items = load_scene('fruit').movables
    shown = objects_of(*items)

    assert len({marker.id for marker in shown}) == len(shown) > len(items)
    for item in items:
        x, y, _ = item.pose.position_m
        reach = max(item.size_m)
        near = [m for m in objects_of(item) if abs(m.pose.position.x - x) > reach]
        assert near == []
        assert all(abs(m.pose.position.y - y) < reach for m in objects_of(item))


def test_a_container_of_no_known_size_is_round_where_it_is_as_long_as_wide() -> None:
    def container(x_m: float, y_m: float) -> SceneObject:
        size = (x_m, y_m, 0.05)
        return SceneObject(name='tray', kind=Kind.CONTAINER, pose=NEAR.pose, size_m=size)

    assert [marker.type for marker in objects_of(container(0.21, 0.21))] == [Marker.CYLINDER]
    assert [marker.type for marker in objects_of(container(0.31, 0.21))] == [Marker.CUBE]


def test_no_two_kinds_of_things_have_one_size() -> None:
    assert len({(good.kind, good.size_m) for good in OBJECT_MODELS.values()}) == len(OBJECT_MODELS)


def test_a_colour_that_is_not_listed_is_no_grey() -> None:
    (peru, *_) = objects_of(fruit('box'))

    assert (peru.color.r, peru.color.g, peru.color.b) == pytest.approx(
        (0.804, 0.522, 0.247), abs=1e-3
    )


def test_text_from_outside_is_one_visible_line_in_plan_and_status() -> None:
    plan = Plan((PlanStep(0, 'pick\u202e\x1b[2J\n 1: rest'),))

    (_, shown) = plan_markers(plan, 0).markers
    (_, status) = status_markers(['calm\x1b]0;t\x07\nvery'], Mood.CALM).markers

    assert shown.text == r'> 0: pick\u202e\x1b[2J 1: rest'
    assert status.text == r'calm\x1b]0;t\x07 very'


CONFIG = Path(__file__).resolve().parents[2] / 'config' / 'rviz' / 'bbllm.rviz'
SETTINGS = yaml.safe_load(CONFIG.read_text())['Visualization Manager']
DISPLAYS: dict[str, dict[str, Any]] = {
    display['Name']: {**display, 'Class': display['Class'].removeprefix('rviz_default_plugins/')}
    for display in SETTINGS['Displays']
}
TOPICS = {
    'RobotModel': ('Description Topic', 'std_msgs/msg/String'),
    'MarkerArray': ('Topic', 'visualization_msgs/msg/MarkerArray'),
}
"""Of a display: the property that names its topic, and the type that it wants."""


@pytest.fixture(scope='module')
def sim(ros_domain: int) -> Iterator[Running]:
    """Start all that rviz is shown, and nothing that moves."""
    with started((*NODES, 'task_menu'), speed=1.0) as running:
        yield running


def test_every_link_of_the_description_has_a_transform(sim: Running) -> None:
    node = sim.client.node
    descriptions: list[str] = []
    frames: set[str] = set()
    node.create_subscription(
        String, 'robot_description', lambda message: descriptions.append(message.data), LATCHED
    )
    for topic, qos in (('tf', 10), ('tf_static', LATCHED)):
        node.create_subscription(
            TFMessage,
            topic,
            lambda message: frames.update(item.child_frame_id for item in message.transforms),
            qos,
        )

    until(lambda: descriptions, 'a description')
    links = {link.get('name') for link in ElementTree.fromstring(descriptions[0]).iter('link')}
    # Those of the fingers and the links come on one topic, those that never move on the other.
    until(lambda: links - frames <= {'base'}, f'transforms of all of {sorted(links)}')
    assert 'base' not in frames


def test_rviz_shows_robot_objects_plan_status_and_menus() -> None:
    assert {name: display['Class'] for name, display in DISPLAYS.items()} == {
        'Table top': 'Grid',
        'Arm': 'RobotModel',
        'Objects': 'MarkerArray',
        'Plan': 'MarkerArray',
        'Status': 'MarkerArray',
        'Menus': 'InteractiveMarkers',
        'Frames': 'TF',
    }
    # The first tool is in hand at the start, and menus open with this one only.
    assert SETTINGS['Tools'][0]['Class'] == 'rviz_default_plugins/Interact'


@pytest.mark.parametrize(
    'name', [name for name, display in DISPLAYS.items() if display['Class'] in TOPICS]
)
def test_topic_of_a_display_is_published_with_its_type_and_quality(
    sim: Running, name: str
) -> None:
    title, kind = TOPICS[DISPLAYS[name]['Class']]
    wanted = DISPLAYS[name][title]
    node = sim.client.node

    until(lambda: node.count_publishers(wanted['Value']), f'publisher of {wanted["Value"]}')

    for giver in node.get_publishers_info_by_topic(wanted['Value']):
        assert giver.topic_type == kind
        qos = giver.qos_profile
        # What is published once must also reach an rviz that comes later.
        assert qos.durability is DurabilityPolicy.TRANSIENT_LOCAL
        assert wanted['Durability Policy'] == 'Transient Local'
        assert qos.reliability is ReliabilityPolicy.RELIABLE
        assert wanted['Reliability Policy'] == 'Reliable'


def test_menus_of_the_file_are_served(sim: Running) -> None:
    base = DISPLAYS['Menus']['Interactive Markers Namespace']
    node = sim.client.node

    until(lambda: node.count_publishers(f'{base}/update'), f'publisher of {base}/update')
    until(lambda: node.count_subscribers(f'{base}/feedback'), f'listener to {base}/feedback')

    kinds = dict(node.get_service_names_and_types())
    assert kinds[f'{base}/get_interactive_markers'] == [
        'visualization_msgs/srv/GetInteractiveMarkers'
    ]
    (giver,) = node.get_publishers_info_by_topic(f'{base}/update')
    (taker,) = node.get_subscriptions_info_by_topic(f'{base}/feedback')
    assert giver.topic_type == 'visualization_msgs/msg/InteractiveMarkerUpdate'
    assert taker.topic_type == 'visualization_msgs/msg/InteractiveMarkerFeedback'
    # As rviz subscribes and publishes (interactive_markers 2.5: reliable, volatile).
    assert giver.qos_profile.reliability is ReliabilityPolicy.RELIABLE
    assert taker.qos_profile.durability is DurabilityPolicy.VOLATILE
