"""The server of skills: goals whose turn has not come, that fail, or that nobody waits for."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import rclpy
from bbllm_interfaces.action import ExecuteSkill
from rclpy.action import CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.executors import MultiThreadedExecutor

from bbllm.arm.execution.executor import SkillExecutor
from bbllm.arm.safety.approval_gate import ApprovalGate
from bbllm.core.approval import Answer, ApprovalMode, ApprovalRequest, RequestKind
from bbllm.core.cancel import CancelToken
from bbllm.core.types import Code, Plan, PlanStep, Scene, SkillCall, Status
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_ros.convert.records import plan_to_msg
from bbllm_ros.executor import skill_server
from bbllm_ros.executor.robot_identity import RobotIdentity
from bbllm_ros.executor.skill_server import SkillServer
from bbllm_ros.rclpy_support.diagnostics import PlainLogger
from bbllm_ros.rclpy_support.entities import leave_graph
from bbllm_ros.rclpy_support.stack_node import StackNode
from bbllm_ros.stack.client import StackClient
from tests.ros.stacks import PATIENCE_S, Background, until

pytestmark = pytest.mark.ros

YES = Answer(granted=True, by='ann')
NO = Answer(granted=False, by='ann')
PICK = SkillCall('pick', ('red_cube',))
WAIT = SkillCall('wait', ('60',))
STEPS = ('pick the red cube', 'return to base')


class HeldServer(SkillServer):
    """A server that takes goals at once; the turn of some skills comes when the test says so."""

    def __init__(self, *args: Any):
        self.reported: list[str] = []
        super().__init__(*args)
        self.held: set[str] = set()
        self.taken: list[ServerGoalHandle] = []
        self.cancels = 0
        self.turn = threading.Event()

    def _execute(self, goal: ServerGoalHandle) -> ExecuteSkill.Result:
        self.taken.append(goal)
        if goal.request.call.skill in self.held:
            assert self.turn.wait(PATIENCE_S)
        return super()._execute(goal)

    def report_activity(self, activity: str) -> None:
        self.reported.append(activity)  # what is told a client at once may not reach it
        super().report_activity(activity)

    def _cancel(self, goal: ServerGoalHandle) -> CancelResponse:
        response = super()._cancel(goal)
        self.cancels += 1
        return response


@dataclass
class Arm:
    mode: str = 'none'
    answers: list[Answer] = field(default_factory=list)
    asked: list[ApprovalRequest] = field(default_factory=list)
    fault: Exception | None = None
    """Raised by the next look at the table of a call that was permitted."""

    def __post_init__(self) -> None:
        self.world = TabletopWorld('tabletop', speed=1.0)
        self.gate = ApprovalGate(self._answer, self.world.observe, mode=ApprovalMode(self.mode))
        self.skills = SkillExecutor(self.world.driver, self._observe, permit=self.gate.permit)
        self.node = StackNode('fr3_executor')
        driver = self.world.driver
        self.gate.begin_episode('e')
        robot = RobotIdentity(
            self.node, self.node.heartbeats, simulated=False, controller='fr3_arm_controller'
        )
        self.server = HeldServer(self.node, self.skills, driver.now_s, self.gate, robot)
        self._q = self.q

    @property
    def q(self) -> Any:
        return np.array(self.world.driver.joint_state().position_rad)

    @property
    def moved(self) -> bool:
        return bool(np.abs(self.q - self._q).max() > 1e-3)

    def _answer(self, request: ApprovalRequest, cancel: CancelToken) -> Answer:
        self.asked.append(request)
        return self.answers.pop(0)

    def _observe(self) -> Scene:
        if self.fault is not None:
            error, self.fault = self.fault, None
            raise error
        return self.world.observe()


Start = Callable[..., Arm]


@pytest.fixture
def start(ros_domain: int) -> Iterator[Start]:
    rclpy.init(args=['--ros-args', '-r', '__ns:=/bbllm'])
    executor = MultiThreadedExecutor(8)
    spinning: list[threading.Thread] = []
    arms: list[Arm] = []

    def begin(**given: Any) -> Arm:
        arm = Arm(**given)
        arms.append(arm)
        executor.add_node(arm.node)
        arm.server.begin()
        spinning.append(threading.Thread(target=executor.spin, daemon=True))
        spinning[-1].start()
        return arm

    yield begin
    for arm in arms:
        arm.server.turn.set()
        arm.skills.stop()
    executor.shutdown(timeout_sec=5.0)
    for thread in spinning:
        thread.join(5.0)
    for arm in arms:
        leave_graph(arm.node)  # or clients of the next test find this server
    rclpy.try_shutdown()


@pytest.fixture
def client(start: Start) -> Iterator[StackClient]:
    with StackClient() as client:
        yield client


@pytest.fixture
def other(start: Start) -> Iterator[StackClient]:
    with StackClient(name='other') as other:
        yield other


def begun(client: StackClient, call: SkillCall, **plan: Any) -> Background:
    return Background(lambda: client.execute(call, **plan))


def of_plan(step: int) -> dict[str, Any]:
    plan = Plan(tuple(PlanStep(i, text) for i, text in enumerate(STEPS)))
    return {'plan': plan_to_msg(plan, 0, 'e', 0.0, revision=0), 'step': step}


def test_call_that_is_cancelled_before_its_turn_came_moves_nothing(
    start: Start, client: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skill_server, 'WATCH_S', 3600.0)  # nobody looks again
    arm = start()
    arm.server.held = {'pick'}
    picks = begun(client, PICK)
    until(lambda: arm.server.taken, 'goal')

    until(client.cancel, 'goal of the client')
    until(lambda: arm.server.cancels, 'cancel')
    arm.server.turn.set()

    assert picks.result().code is Code.CANCELLED
    assert not arm.moved


def test_motions_of_a_call_that_is_expected_are_planned_while_the_one_before_moves(
    start: Start, client: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm = start()
    back = SkillCall('return_to_base')
    at_turn: list[Any] = []
    planner = arm.skills._planner
    plan_to_base = planner.to_base

    def to_base(q_now: Any) -> Any:
        at_turn.append(q_now)
        return plan_to_base(q_now)

    monkeypatch.setattr(planner, 'to_base', to_base)

    assert client.execute(PICK, expected=[back]).succeeded
    assert client.execute(back).succeeded
    assert not at_turn
    assert client.execute(back).succeeded
    assert len(at_turn) == 1  # nobody has expected this one


def test_cancel_of_a_call_whose_turn_has_not_come_stops_no_other_call(
    start: Start, client: StackClient, other: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skill_server, 'WATCH_S', 3600.0)
    arm = start()
    arm.server.held = {'pick'}
    waits = begun(client, SkillCall('wait', ('2',)))
    until(lambda: arm.server.reported, 'activity')
    picks = begun(other, PICK)
    until(lambda: len(arm.server.taken) == 2, 'second goal')

    until(other.cancel, 'goal of the other client')
    until(lambda: arm.server.cancels, 'cancel')
    arm.server.turn.set()

    assert waits.result().succeeded
    assert not picks.result().succeeded
    assert not arm.moved


def test_what_follows_a_call_that_ended_in_a_fault_is_asked_for_by_itself(
    start: Start, client: StackClient
) -> None:
    arm = start(mode='plan', answers=[YES, NO], fault=ValueError('a fault'))

    first = client.execute(PICK, **of_plan(0))
    second = client.execute(SkillCall('return_to_base'), **of_plan(1))

    assert (first.status, first.code) == (Status.FAILED, Code.INTERNAL)
    assert (second.status, second.code) == (Status.REJECTED, Code.NOT_APPROVED)
    assert [request.kind for request in arm.asked] == [RequestKind.PLAN, RequestKind.CALL]
    assert 'step 0 of the plan failed' in arm.asked[1].reason


def test_call_of_an_episode_that_has_ended_is_refused_before_anything_is_done(
    start: Start, client: StackClient
) -> None:
    arm = start()
    arm.gate.end_episode('e')

    refused = client.execute(PICK, **of_plan(0))

    assert (refused.status, refused.code) == (Status.REJECTED, Code.NOT_APPROVED)
    assert refused.message == 'pick(red_cube) was not tried: its episode has ended.'
    assert not arm.moved
    assert client.execute(SkillCall('wait', ('0.1',))).succeeded  # of no episode


def test_call_under_way_is_stopped_when_its_episode_ends(
    start: Start, client: StackClient
) -> None:
    arm = start()
    waits = begun(client, WAIT, **of_plan(0))
    until(lambda: arm.server.reported, 'activity')

    arm.gate.end_episode('another')
    arm.gate.end_episode('e')

    assert waits.result().code is Code.CANCELLED


def test_a_stop_that_is_repeated_is_logged_once(
    start: Start, client: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged: list[str] = []
    stops: list[ServerGoalHandle] = []
    monkeypatch.setattr(PlainLogger, 'error', lambda self, text, **_: logged.append(text))
    arm = start()
    waits = begun(client, WAIT)
    until(lambda: arm.server.reported, 'activity')

    monkeypatch.setattr(arm.server, '_stop', stops.append)
    monkeypatch.setattr(arm.server, '_left', lambda goal: True)
    until(lambda: len(stops) >= 3, 'stop for the third time')
    monkeypatch.undo()
    client.cancel()

    assert waits.result().code is Code.CANCELLED
    assert logged == ['The arm is stopped. The client that gave the goal has gone.']


def test_server_that_ends_stops_its_call_and_begins_none_that_was_given_before(
    start: Start, client: StackClient, other: StackClient
) -> None:
    arm = start()
    arm.server.held = {'pick'}
    waits = begun(client, WAIT)
    until(lambda: arm.server.reported, 'activity')
    picks = begun(other, PICK)
    until(lambda: len(arm.server.taken) == 2, 'second goal')

    arm.server.come_to_rest()
    arm.server.turn.set()

    assert waits.result().code is Code.CANCELLED
    refused = picks.result()
    assert (refused.status, refused.code) == (Status.REJECTED, Code.GOAL_REJECTED)
    assert refused.message == 'pick(red_cube) was not tried: fr3_executor ends.'
    assert not arm.moved
