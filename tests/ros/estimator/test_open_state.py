"""The open state in the graph: an event in, an estimated fact out, no sensed one overwritten."""

from collections.abc import Iterator
from typing import Any

import pytest
from bbllm_interfaces.msg import EpisodeEvent
from bbllm_interfaces.msg import Outcome as OutcomeMsg
from bbllm_interfaces.srv import SetObjectMass
from rclpy.publisher import Publisher
from std_srvs.srv import Trigger

from bbllm.core.errors import ConfigError
from bbllm.core.events import Event, EventKind
from bbllm.core.types import Code, Fact, Outcome, SkillCall, Status
from bbllm.planners.domains.scene_graph import is_open
from bbllm.testing import ModelServer, replies
from bbllm_ros.convert.events import event_to_msg
from bbllm_ros.convert.records import EVENTS
from bbllm_ros.estimator.open_state_feed import FORGET
from bbllm_ros.parameters.model_params import model_of_open_state
from bbllm_ros.parameters.node_params import StateEstimatorParams
from tests.ros.stacks import Running, started, until

pytestmark = pytest.mark.ros

NODE = 'state_estimator'


def episode_publisher(stack: Running) -> Publisher:
    """Return what tells of episodes in place of `brain_planner`, once it is heard."""
    publisher = stack.client.node.create_publisher(EpisodeEvent, 'episode_events', EVENTS)
    # The estimator and the client itself at least; the executor, where there is one, too.
    until(
        lambda: is_subscribed(stack) and publisher.get_subscription_count() >= 2,
        'who hears episodes',
    )
    return publisher


def is_subscribed(stack: Running) -> bool:
    infos = stack.client.node.get_subscriptions_info_by_topic(
        f'/{stack.client.namespace}/episode_events'
    )
    return NODE in [info.node_name for info in infos]


def failed(name: str, code: Code) -> EpisodeEvent:
    outcome = Outcome(call=SkillCall('pick', (name,)), status=Status.FAILED, code=code)
    return event_to_msg(Event(0.0, outcome), 'e')


def believed(stack: Running) -> list[str]:
    """Return what the scene of now tells that was not sensed."""
    return [str(fact) for fact in stack.client.scene().facts if is_open(fact)]


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


@pytest.fixture(scope='module')
def server() -> Iterator[ModelServer]:
    with ModelServer(replies('update_state("red_cube", "sticky")')) as server:
        yield server


@pytest.fixture(scope='module')
def asking(ros_domain: int, server: ModelServer, tmp_path_factory: Any) -> Iterator[Running]:
    config = tmp_path_factory.mktemp('llm') / 'llm.yaml'
    config.write_text('brain:\n  provider: openai\n  model: fake\n  retries: 0\n')
    environ = {'OPENAI_BASE_URL': server.url, 'OPENAI_API_KEY': 'sk-test-never-shown'}
    params = {NODE: {'open_state': 'model', 'llm_config': str(config)}}
    nodes = (NODE, 'mujoco_sim')
    with started(nodes, environ=environ, params=params, namespace='bbllm_model') as running:
        yield running


def test_beliefs_of_a_model_are_about_handled_objects(
    asking: Running, server: ModelServer
) -> None:
    episode_publisher(asking).publish(failed('red_cube', Code.GRASP_FAILED))

    until(lambda: believed(asking) == ['(red_cube is sticky)'], 'belief')
    asked = server.bodies[0]['messages'][0]['content']
    assert 'pick(red_cube) Fail' in asked
    assert 'blue_cube: []' not in asked
