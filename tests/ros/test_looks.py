"""What rviz shows: the arm with its frames, and whatever else its file subscribes to."""

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

from bbllm.ros.convert.qos import LATCHED
from bbllm.ros.stack.stack import NODES

pytestmark = pytest.mark.ros

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
