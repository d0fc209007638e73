"""A language model that estimates the open state: asked with what was done, and told as facts."""

from collections.abc import Iterator
from typing import Any

import pytest

from bbllm.core.types import Code
from bbllm.testing import ModelServer, replies
from tests.ros.estimator.beliefs import NODE, believed, episode_publisher, failed
from tests.ros.stacks import Running, started, until

pytestmark = pytest.mark.ros


@pytest.fixture(scope='module')
def server() -> Iterator[ModelServer]:
    with ModelServer(replies('update_state("red_cube", "sticky")')) as server:
        yield server


@pytest.fixture(scope='module')
def stack(ros_domain: int, server: ModelServer, tmp_path_factory: Any) -> Iterator[Running]:
    config = tmp_path_factory.mktemp('llm') / 'llm.yaml'
    config.write_text('brain:\n  provider: openai\n  model: fake\n  retries: 0\n')
    environ = {'OPENAI_BASE_URL': server.url, 'OPENAI_API_KEY': 'sk-test-never-shown'}
    params = {NODE: {'open_state': 'model', 'llm_config': str(config)}}
    with started((NODE, 'mujoco_sim'), environ=environ, params=params) as running:
        yield running


def test_beliefs_of_a_model_are_about_handled_objects(stack: Running, server: ModelServer) -> None:
    episode_publisher(stack).publish(failed('red_cube', Code.GRASP_FAILED))

    until(lambda: believed(stack) == ['(red_cube is sticky)'], 'belief')
    asked = server.bodies[0]['messages'][0]['content']
    assert 'pick(red_cube) Fail' in asked
    assert 'blue_cube: []' not in asked
