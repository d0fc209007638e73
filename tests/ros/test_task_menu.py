"""Goals from rviz: what is chosen from a menu happens on the table of a real stack."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from bbllm_interfaces.msg import ObjectStates
from bbllm_interfaces.srv import SetObjectPose
from geometry_msgs.msg import Point, Pose
from rviz_client import RvizClient
from stacks import Background, Running, started, until

from bbllm.core.events import EventKind
from bbllm.core.types import SkillCall
from bbllm.ros.rviz.menu_actions import STOPPED
from bbllm.ros.stack.stack import NODES
from bbllm.worlds.tabletop.menu import ROBOT

pytestmark = pytest.mark.ros


class Table:
    """Where things are by the simulator itself, not by the stack's own scene."""

    def __init__(self, running: Running):
        self._places: dict[str, tuple[float, float, float]] = {}
        self._running = running
        running.client.node.create_subscription(ObjectStates, 'objects', self._see, 1)
        until(lambda: self._places, 'objects from mujoco_sim')

    def far(self, one: str, other: str) -> float:
        """Return how far apart two things are along the table [m]."""
        return math.dist(self._places[one][:2], self._places[other][:2])

    def move(self, name: str, x: float, y: float) -> None:
        pose = Pose(position=Point(x=x, y=y, z=0.021))
        reply = self._running.ask(SetObjectPose, 'sim/set_object_pose', name=name, pose=pose)
        assert reply.success, reply.message

    def _see(self, msg: ObjectStates) -> None:
        for item in msg.objects:
            p = item.pose.position
            self._places[item.name] = (p.x, p.y, p.z)


@pytest.fixture(scope='module')
def stack(ros_domain: int) -> Iterator[Running]:
    """Start the stack with its menu, which nobody has to approve anything of."""
    with started((*NODES, 'task_menu')) as running:
        yield running


@pytest.fixture(scope='module')
def rviz(stack: Running) -> RvizClient:
    return RvizClient(stack.client.node)


@pytest.fixture(scope='module')
def table(stack: Running) -> Table:
    return Table(stack)


@pytest.fixture(autouse=True)
def _no_gap(request: pytest.FixtureRequest) -> Iterator[None]:
    """Updates follow each other without a gap, or rviz would begin anew."""
    yield
    if 'rviz' in request.fixturenames:
        assert request.getfixturevalue('rviz').gaps == []


def test_every_thing_and_place_has_a_menu_and_so_has_the_robot(rviz: RvizClient) -> None:
    until(lambda: len(rviz.markers) > 1, 'menus of the scene')

    assert {ROBOT, 'red_cube', 'black_cylinder', 'location_A'} <= set(rviz.markers)
    assert 'table' not in rviz.markers
    assert rviz.titles('azure_cube') == ['out of reach']
    assert rviz.titles(ROBOT)[:2] == ['tasks', 'tasks > right side']
    assert rviz.titles(ROBOT)[-2:] == ['return to base', 'stop']
    for marker in rviz.markers.values():
        assert marker.header.frame_id == 'fr3_link0'
        assert [len(control.markers) for control in marker.controls] == [1]


def test_choice_from_a_menu_moves_the_thing(rviz: RvizClient, table: Table) -> None:
    assert table.far('red_cube', 'location_B') > 0.1

    rviz.choose('red_cube', 'put on > location_B')

    until(lambda: 'is done' in rviz.status, "'is done' in the status")
    assert table.far('red_cube', 'location_B') < 0.02
    # The place is taken now, and its menu says so.
    until(lambda: rviz.titles('location_B') == ['occupied'], 'new menu of location_B')


def test_nothing_is_sent_while_nothing_changes_and_a_pose_alone_when_a_thing_moves(
    rviz: RvizClient, table: Table, stack: Running
) -> None:
    scene = stack.client.scene()
    until(lambda: 'is done' in rviz.status or scene.held is None, 'a robot at rest')
    table.move('aqua_cube', 0.42, 0.27)
    until(lambda: any(x.poses for x in rviz.updates), 'an update with a pose')
    before = len(rviz.updates)

    table.move('aqua_cube', 0.42, 0.26)
    until(lambda: len(rviz.updates) > before, 'an update after a thing was moved')

    (update,) = rviz.updates[before:]
    assert [moved.name for moved in update.poses] == ['aqua_cube']
    assert (list(update.markers), list(update.erases)) == ([], [])


def test_second_task_is_refused_in_words_and_stop_stops_the_first(
    rviz: RvizClient, stack: Running
) -> None:
    # Somebody else's task: the menu stops it all the same.
    task = stack.begin('put the blue cube on location_C. Wait 50 seconds. Return to base.')
    stack.wait_for(EventKind.CALL)

    rviz.choose('yellow_cube', 'pick up')
    until(lambda: 'refused: Another task is under way' in rviz.status, 'a refusal')
    rviz.choose(ROBOT, 'stop')

    assert task.result().ending.name == 'CANCELLED'
    until(lambda: 'ended: cancelled' in rviz.status, "'ended: cancelled' in the status")
    until(lambda: STOPPED in rviz.status, 'the note that all has stopped')


def test_number_that_was_never_offered_does_nothing(rviz: RvizClient) -> None:
    rviz.send(ROBOT, 4711)

    until(lambda: 'there is no entry 4711' in rviz.status, 'a notice')


def test_stop_ends_a_call_that_belongs_to_no_task(rviz: RvizClient, stack: Running) -> None:
    call = Background(lambda: stack.client.execute(SkillCall('wait', ('60',))))
    until(lambda: 'arm: waiting 60 s' in rviz.status, 'what the arm does in the status')

    rviz.choose(ROBOT, 'stop')

    assert call.result().code.name == 'CANCELLED'
    until(lambda: STOPPED in rviz.status, 'the note that all has stopped')
