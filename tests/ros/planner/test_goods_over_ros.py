"""A table of fruit over the ROS graph: what can be done there is told, and done."""

from collections.abc import Iterator

import pytest
from bbllm_interfaces.srv import ResetSim

from bbllm.core.types import SkillCall
from bbllm.scene.scene_file import load_scene
from bbllm.skills.catalog import SKILLS, skills_for
from bbllm.skills.grab_and_putin import GRAB_AND_PUTIN
from bbllm_ros.planner.ros_world import RosWorld
from tests.ros.stacks import Running, started, until

pytestmark = pytest.mark.ros


@pytest.fixture(scope='module')
def stack(ros_domain: int) -> Iterator[Running]:
    nodes = ('state_estimator', 'fr3_executor', 'mujoco_sim')
    with started(nodes, params={'mujoco_sim': {'scene': 'fruit'}}) as running:
        yield running


@pytest.fixture(scope='module')
def world(stack: Running) -> RosWorld:
    """Reach the stack as a planner does."""
    client = stack.client
    return RosWorld(client.node, client.group, client.heartbeats)


def test_grab_and_putin_is_offered_where_there_are_containers(world: RosWorld) -> None:
    assert world.skills == SKILLS  # nothing was seen yet

    scene = world.observe()

    assert scene.skills == (*SKILLS, GRAB_AND_PUTIN.signature)
    assert world.skills == scene.skills


def test_a_banana_is_put_into_the_bowl(world: RosWorld) -> None:
    outcome = world.execute(SkillCall('grab_and_putin', ('banana', 'bowl')))

    assert outcome.succeeded, outcome.message
    assert world.observe().has('banana', 'in', 'bowl')


def test_a_scene_file_alone_decides_which_more_skills_are_offered(
    stack: Running, world: RosWorld
) -> None:
    more = load_scene('push_and_turn').skills
    assert more and stack.ask(ResetSim, 'sim/reset', scene='push_and_turn').success

    until(lambda: world.observe().skills == skills_for((), more), 'skills')
