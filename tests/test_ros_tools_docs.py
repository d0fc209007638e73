"""The commands of docs/ros-tools.md name what the nodes really publish and serve."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / 'docs' / 'ros-tools.md').read_text()
BLOCKS = re.findall(r'^```(\w*)\n(.*?)^```', PAGE, flags=re.DOTALL | re.MULTILINE)
COMMANDS = '\n'.join(text for language, text in BLOCKS if not language)
POLICIES = {
    path.name.partition('.')[0]: ElementTree.parse(path).getroot()
    for path in (ROOT / 'config' / 'sros2').glob('*.policy.xml')
}
"""What each process may publish and read; tests/ros/test_security.py holds them to the nodes."""


def topics(policy: ElementTree.Element, act: str) -> set[str]:
    return {str(x.text) for x in policy.iterfind(f'.//topics[@{act}="ALLOW"]/topic')}


def named(command: str) -> set[str]:
    """Return the names below the namespace in a command."""
    return {name.strip('/') for name in re.findall(r'/bbllm/([\w/]+)', command)}


def command(start: str) -> str:
    """Return a command with the lines that go on with it."""
    (found,) = re.findall(rf'^{re.escape(start)}(?:.*\\\n)*.*', COMMANDS, flags=re.MULTILINE)
    return str(found)


def test_what_is_recorded_is_published() -> None:
    published = set().union(*(topics(policy, 'publish') for policy in POLICIES.values()))

    recorded = named(command('ros2 bag record'))
    assert len(recorded) > 10
    assert recorded <= {name.removeprefix('/') for name in published}


def test_what_is_played_is_what_the_estimator_reads_of_robot_and_objects() -> None:
    both = topics(POLICIES['state_estimator'], 'subscribe') & topics(
        POLICIES['mujoco_sim'], 'publish'
    )
    other = {'heartbeat', 'clock', 'tf', 'tf_static'}  # clock: bag play has an option for it

    played = named(command('ros2 bag play'))
    assert played == {name for name in both if name.rpartition('/')[2] not in other}
    assert played <= named(command('ros2 bag record'))


def test_names_of_nodes_and_topics_are_those_of_the_stack() -> None:
    nodes = {policy for policy in POLICIES if policy not in ('client', 'rviz')}
    known = {name.removeprefix('/') for x in POLICIES.values() for name in topics(x, 'publish')}

    assert {name for name in named(COMMANDS) if name.split('/')[0] not in nodes} <= known
