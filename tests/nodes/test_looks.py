"""What rviz shows: the arm and its frames."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from stacks import Running, started, until
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from bbllm.nodes.qos import LATCHED

pytestmark = pytest.mark.ros

CONFIG = Path(__file__).resolve().parents[2] / 'config' / 'rviz' / 'bbllm.rviz'


@pytest.fixture(scope='module')
def sim(ros_domain: int) -> Iterator[Running]:
    """Start `mujoco_sim` alone."""
    with started(('mujoco_sim',), speed=1.0) as running:
        yield running


def test_every_link_of_the_description_has_a_transform(sim: Running) -> None:
    node = sim.client.node
    descriptions: list[str] = []
    frames: set[str] = set()
    node.create_subscription(
        String, 'robot_description', lambda message: descriptions.append(message.data), LATCHED
    )
    node.create_subscription(
        TFMessage,
        '/tf',
        lambda message: frames.update(item.child_frame_id for item in message.transforms),
        10,
    )

    until(lambda: descriptions and frames, 'a description and transforms')

    links = {link.get('name') for link in ElementTree.fromstring(descriptions[0]).iter('link')}
    assert links - frames == {'fr3_link0'}


def test_rviz_shows_topics_that_are_published() -> None:
    displays = yaml.safe_load(CONFIG.read_text())['Visualization Manager']['Displays']
    topics = [(x.get('Topic') or x.get('Description Topic') or {}).get('Value') for x in displays]
    nodes = CONFIG.parents[2] / 'src' / 'bbllm' / 'bbllm' / 'nodes'
    sources = ''.join(path.read_text() for path in nodes.glob('*.py'))

    shown = [topic.removeprefix('/bbllm/') for topic in topics if topic]
    assert shown == ['robot_description', 'markers', 'plan_markers']
    assert [topic for topic in shown if f"'{topic}'" not in sources] == []
