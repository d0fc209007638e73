"""Whole tasks in which the robot fails half-way: they end well, or clearly."""

from collections.abc import Iterator

import pytest
from sensor_msgs.msg import JointState as JointStateMsg

from bbllm.core.errors import SceneError
from bbllm.core.events import Ending, EventKind
from bbllm.core.types import Code
from bbllm_bench.benchmarks.faults.person import BenchPerson
from bbllm_ros.stack.client import StackClient, TaskResult
from tests.ros.stacks import Background, Running, started, until

pytestmark = pytest.mark.ros
SLOW = pytest.mark.slow

TASK = 'put the red cube on location_B'
MOVING_RAD_S = 0.1


class Bench:
    def __init__(self, running: Running, person: BenchPerson):
        self.running = running
        self.person = person
        self.speed_rad_s = 0.0
        running.client.node.create_subscription(
            JointStateMsg, 'franka/joint_states', self._receive, 1
        )

    def begin(self, fault: str, *, when: str = 'pick') -> Background:
        self.person.fault = fault
        task = self.running.begin(TASK)
        until(lambda: when in self._skills() or task.ended, f'call of {when}')
        assert when in self._skills(), task.result()
        until(lambda: self.speed_rad_s > MOVING_RAD_S, 'motion')
        self.person.sim.inject(fault)
        return task

    def run(self, fault: str, *, when: str = 'pick') -> TaskResult:
        result: TaskResult = self.begin(fault, when=when).result(180.0)
        return result

    @property
    def codes(self) -> list[str]:
        """The codes of the calls that did not succeed."""
        return [
            event.data.code.name
            for event in self.running.events
            if event.kind is EventKind.OUTCOME and event.data.code.name != Code.NONE.name
        ]

    def _skills(self) -> list[str]:
        return [e.data.skill for e in self.running.events if e.kind is EventKind.CALL]

    def _receive(self, msg: JointStateMsg) -> None:
        self.speed_rad_s = max(abs(speed) for speed in msg.velocity)


@pytest.fixture(scope='module')
def shared(ros_domain: int) -> Iterator[Bench]:
    with started(speed=0.5) as running:  # so slow that a fault comes within a call
        person = BenchPerson(running.client)
        yield Bench(running, person)
        person.close()


@pytest.fixture
def bench(shared: Bench) -> Bench:
    shared.person.there = True
    shared.person.sim.inject('', clear=True)
    shared.person.sim.reset()
    until(lambda: at_start(shared.running.client), 'table at its start')
    return shared


def at_start(client: StackClient) -> bool:
    """Tell whether the scene is seen as it is after a reset, robot and all."""
    try:
        return not client.scene().has('red_cube', 'on', 'location_B')
    except SceneError:
        return False


@pytest.mark.parametrize(
    ('fault', 'when', 'codes'),
    [
        ('reflex', 'pick', ['REFLEX']),
        ('reflex', 'place', ['REFLEX']),  # with the cube in the hand
        ('user_stop', 'pick', ['USER_STOP']),
        pytest.param('communication_loss', 'pick', ['COMMUNICATION_LOSS'], marks=SLOW),
        pytest.param('joint_limit', 'pick', ['JOINT_LIMIT'], marks=SLOW),
        pytest.param('gripper_fail', 'pick', ['GRIPPER_FAILED'], marks=SLOW),
        ('gripper_miss', 'pick', ['GRASP_FAILED']),
    ],
)
def test_task_is_finished_after_a_fault_in_its_middle(
    bench: Bench, fault: str, when: str, codes: list[str]
) -> None:
    result = bench.run(fault, when=when)

    assert result.ending is Ending.FINISHED, result.message
    assert bench.codes == codes
    assert bench.running.client.scene().has('red_cube', 'on', 'location_B')


@SLOW
def test_task_is_finished_after_a_goal_that_did_not_end(bench: Bench) -> None:
    task = bench.begin('endless_goal')
    until(lambda: bench.codes, 'a call that failed')
    bench.person.sim.inject('endless_goal', clear=True)

    result = task.result(180.0)

    assert result.ending is Ending.FINISHED, result.message
    assert bench.codes == ['TIMEOUT']


def test_task_ends_where_nobody_lets_the_robot_go_on(bench: Bench) -> None:
    bench.person.there = False
    task = bench.begin('user_stop')
    until(lambda: bench.person.waited_for_s > 0, 'question')

    assert bench.running.client.cancel()

    assert task.result(180.0).ending is Ending.CANCELLED


@SLOW
def test_task_ends_with_the_name_of_a_driver_that_hangs(bench: Bench) -> None:
    result = bench.run('driver_hang')

    assert result.ending is Ending.WORLD_FAILED
    assert 'mujoco_sim hangs: the joint states' in result.message
