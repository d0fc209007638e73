"""The open state in the graph: an event in, an estimated fact out, no sensed one overwritten."""

from collections.abc import Iterator

import pytest
from bbllm_interfaces.msg import EpisodeEvent
from bbllm_interfaces.msg import Outcome as OutcomeMsg
from bbllm_interfaces.srv import SetObjectMass
from rclpy.publisher import Publisher
from std_srvs.srv import Trigger

from bbllm.core.errors import ConfigError
from bbllm.core.events import EventKind
from bbllm.core.types import Code, Fact
from bbllm_ros.estimator.open_state_feed import FORGET
from bbllm_ros.parameters.model_params import model_of_open_state
from bbllm_ros.parameters.node_params import StateEstimatorParams
from tests.ros.estimator.beliefs import NODE, believed, episode_publisher, failed
from tests.ros.stacks import Running, started, until

pytestmark = pytest.mark.ros

TOO_HEAVY_KG = 3.0


@pytest.fixture(scope='module')
def stack(ros_domain: int) -> Iterator[Running]:
    with started(params={NODE: {'open_state': 'rules'}}) as running:
        yield running


@pytest.fixture(scope='module')
def events(stack: Running) -> Publisher:
    """Return what tells of episodes in place of `brain_planner`, once it is heard."""
    return episode_publisher(stack)


@pytest.fixture(autouse=True)
def nothing_believed(stack: Running) -> None:
    assert stack.ask(Trigger, FORGET).success


def test_an_outcome_becomes_an_estimated_fact_of_the_next_scenes(
    stack: Running, events: Publisher
) -> None:
    assert believed(stack) == []

    events.publish(failed('red_cube', Code.GRASP_FAILED))

    until(lambda: believed(stack) == ['(red_cube is failed_grasp_once)'], 'belief')
    scene = stack.client.scene()
    assert Fact('red_cube', 'is', 'failed_grasp_once', estimated=True) in scene.facts
    assert Fact('red_cube', 'is', 'clear') in scene.facts


def test_a_belief_against_what_is_sensed_is_left_out(stack: Running, events: Publisher) -> None:
    assert stack.client.scene().has('red_cube', 'reachable', 'yes')

    events.publish(failed('red_cube', Code.OUT_OF_WORKSPACE))
    events.publish(failed('azure_cube', Code.OUT_OF_WORKSPACE))

    until(lambda: believed(stack) == ['(azure_cube is out_of_workspace)'], 'belief')


def test_an_event_that_nobody_can_read_changes_nothing(stack: Running, events: Publisher) -> None:
    events.publish(EpisodeEvent(kind=EpisodeEvent.OUTCOME, episode_id='e'))
    events.publish(EpisodeEvent(kind=EpisodeEvent.OUTCOME, outcome=[OutcomeMsg(status=250)]))
    events.publish(EpisodeEvent(kind='of another version', episode_id='e'))

    events.publish(failed('red_cube', Code.GRASP_FAILED))

    until(lambda: believed(stack) == ['(red_cube is failed_grasp_once)'], 'belief')


def test_beliefs_of_a_task_are_in_scenes_after_its_end(stack: Running) -> None:
    heavy = stack.ask(SetObjectMass, 'sim/set_object_mass', name='red_cube', mass=TOO_HEAVY_KG)
    assert heavy.success

    stack.run('put the red cube on location_B')

    assert stack.wait_for(EventKind.OUTCOME).data.code.name == Code.WOULD_NOT_RISE.name
    wanted = ['(red_cube is fixed_or_heavy)']
    until(lambda: believed(stack) == wanted, 'belief')
    # It is kept until somebody asks for another table.
    assert stack.ask(Trigger, FORGET).success
    assert believed(stack) == []


def test_forgetting_names_the_objects_of_the_beliefs(stack: Running, events: Publisher) -> None:
    events.publish(failed('red_cube', Code.GRASP_FAILED))
    until(lambda: believed(stack), 'belief')

    assert stack.client.forget() == 'Forgotten is what was believed of red_cube.'

    assert believed(stack) == []
    # As the request that is made again is told, where the first answer was lost.
    assert stack.client.forget() == (
        'Nothing was believed any more. Forgotten is what was believed of red_cube.'
    )


def test_a_stand_in_is_refused_as_the_model_with_what_would_work() -> None:
    with pytest.raises(ConfigError, match='take open_state:=rules'):
        model_of_open_state(StateEstimatorParams(model='offline'))
