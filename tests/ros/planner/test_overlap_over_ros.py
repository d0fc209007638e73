"""Steps that `body_mapper` maps while the arm moves: the same calls as in turn."""

from collections.abc import Iterator
from typing import Any

import pytest
import rclpy
from bbllm_interfaces.msg import BodyModel
from bbllm_interfaces.srv import MapStep

from bbllm.core.cancel import CancelToken
from bbllm.core.episode import EpisodeRun
from bbllm.core.protocols import OverlappingBody
from bbllm_ros.nodes.body_mapper import BodyMapper
from bbllm_ros.planner.ros_world import RosBody
from bbllm_ros.rclpy_support.entities import leave_graph
from tests.planners.brain_body.test_overlap import RandomBody, course, play

pytestmark = [pytest.mark.ros, pytest.mark.slow]  # 125 episodes over nodes each

N_EPISODES = 250


@pytest.fixture(scope='module')
def mapper(ros_domain: int) -> Iterator[BodyMapper]:
    rclpy.init(args=['--ros-args', '-p', 'body:=offline', '-p', 'brain:=offline'])
    node = BodyMapper()
    node.build()
    yield node
    leave_graph(node)
    rclpy.try_shutdown()


class Served:
    """A client of `map_step`, whose requests the node answers in the thread that asks."""

    def __init__(self, node: BodyMapper, body: RandomBody):
        self._node, self._body = node, body
        self.ahead = 0
        """How many steps were mapped before their turn."""

    def run(
        self, request: MapStep.Request, _timeout_s: float, *, cancel: CancelToken, on_late: Any
    ) -> MapStep.Response:
        cancel.raise_if_cancelled()
        self._node._body = lambda _: self._body  # type: ignore[method-assign,assignment]
        reply = self._node._map(request, MapStep.Response())
        self.ahead += len(reply.ahead)
        cancel.raise_if_cancelled()
        return reply


class NoNodes:
    """A world of which no node is ever lost."""

    def check(self) -> None:
        pass


@pytest.mark.parametrize('observations', [False, True])
def test_calls_prompts_and_endings_are_those_of_steps_mapped_in_turn(
    mapper: BodyMapper, observations: bool
) -> None:
    n_early = 0
    for seed in range(N_EPISODES):
        courses = []
        for overlaps in (False, True):

            def reached(body: RandomBody, run: EpisodeRun, overlaps: bool = overlaps) -> RosBody:
                reported = BodyModel(name='random', reads_calls=True, overlaps=overlaps)
                served: Any = Served(mapper, body)
                world: Any = NoNodes()
                asked = RosBody(served, 1.0, run, world, reported)
                assert isinstance(asked, OverlappingBody)
                assert asked.overlaps is overlaps
                return asked

            episode, world, brain, _ = play(
                seed, overlap=overlaps, looks=observations, reached=reached
            )
            courses.append(course(episode, world, brain))
            n_early += overlaps and any(world.expected)

        assert courses[1] == courses[0], f'seed {seed}'
    assert n_early
