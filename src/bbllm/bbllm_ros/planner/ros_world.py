"""The world and the Body of an episode, reached through the ROS graph."""

import math
import time
from collections.abc import Callable, Iterable, Sequence

from action_msgs.srv import CancelGoal
from bbllm_interfaces.action import ExecuteSkill
from bbllm_interfaces.msg import Approval, BodyModel
from bbllm_interfaces.msg import Plan as PlanMsg
from bbllm_interfaces.srv import MapStep
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node

from bbllm.arm.driver import GoalStatus
from bbllm.core.approval import withdrawn_call
from bbllm.core.cancel import CancelToken
from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import (
    BbllmError,
    ConfigError,
    EndlessReplyError,
    LostNodeError,
    ModelDeclinedError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    ParseError,
    SpokenError,
    WorldError,
)
from bbllm.core.events import (
    EpisodeStarted,
    Event,
    GoalStated,
    ModelCall,
    PlanGrown,
    PlanMade,
    PlanRehearsed,
    StepBegun,
)
from bbllm.core.protocols import Pass, ScenePicture, WorldFeatures
from bbllm.core.types import (
    Code,
    Outcome,
    PlanStep,
    Scene,
    SceneObject,
    Skill,
    SkillCall,
    Status,
)
from bbllm.skills.catalog import SKILLS
from bbllm_ros.convert.records import LATCHED, from_msg, plan_to_msg, stamp_from_msg, to_msg
from bbllm_ros.rclpy_support.calls import POLL_S, ActionCall, ServiceCall, not_begun
from bbllm_ros.rclpy_support.entities import now_s
from bbllm_ros.rclpy_support.liveness import Liveness
from bbllm_ros.stack.service_clients import ExecutorSettingsClient, SceneClient
from bbllm_ros.stack.stack import NODES

NEEDED = (
    'state_estimator',
    'perception',
    'fr3_executor',
    'body_mapper',
    'mujoco_sim',
    'franka_direct',
)
"""The nodes that every episode needs where they run; franka_ros2 has no heartbeat."""
READY_S = 10.0
"""How long a node that is started again may take until it beats, wall clock [s]."""
REST_S = 3.0
"""How long objects may take to come to rest after a plan, wall clock [s]."""
BETWEEN_S = 0.2
"""Time between two scenes that show whether anything moves, wall clock [s]."""
STILL_M = 0.001
"""Objects that move less than this in between are at rest: cameras see no less [m]."""
MAP_ERRORS: dict[int, type[BbllmError]] = {
    MapStep.Response.PARSE_FAILED: ParseError,
    MapStep.Response.MODEL_UNAVAILABLE: ModelUnavailableError,
    MapStep.Response.MODEL_FAILED: ModelError,
    MapStep.Response.MODEL_DECLINED: ModelDeclinedError,
    MapStep.Response.ENDLESS_REPLY: EndlessReplyError,
    MapStep.Response.MODEL_REFUSED: ModelRefusedError,
    MapStep.Response.BAD_REQUEST: WorldError,
}


WITHDRAWN_S = 0.05
"""A call that was cancelled so soon has not moved the arm: it has only waited for a person [s]."""

TakePicture = Callable[[float, Callable[[], None]], ScenePicture]


class RosWorld:
    """
    World over `get_scene` and `execute_skill`; its node must be spun by other threads.

    A call is given up after *skill_timeout_s*, without the time that a person is waited for [s].
    *weighs* is whether what is in the hand is weighed when the scene is observed, *take_picture*
    returns a picture that is newer than a time [s], calling a check while it waits.
    """

    def __init__(
        self,
        node: Node,
        group: CallbackGroup,
        heartbeats: Liveness,
        *,
        controller: str = 'fr3_arm_controller',
        skill_timeout_s: float = 600.0,
        weighs: bool = False,
        take_picture: TakePicture | None = None,
    ):
        self._node = node
        self._heartbeats = heartbeats
        self._timeout_s, self._weighs = skill_timeout_s, weighs
        self._take_picture = take_picture
        self._scenes = SceneClient(node, group, reuses=True)
        self._skill = ActionCall(node, ExecuteSkill, 'execute_skill', 'fr3_executor', group)
        self.executor_settings = ExecutorSettingsClient(node, group)
        self._controller = node.create_client(
            CancelGoal,
            f'{controller}/follow_joint_trajectory/_action/cancel_goal',
            callback_group=group,
        )
        self._seen_s = 0.0
        self._skills_seen = SKILLS
        self._begun_s = float('inf')
        self._expected: Sequence[SkillCall] = ()
        self._episode_id = ''
        self._plan, self._step, self._goal = PlanMsg(), -1, GoalStated()
        self._asked = False
        self._asked_for = ''
        """The episode for which a person is asked."""
        self._withdrawing = False
        self.interrupt: Callable[[], None] = lambda: None
        """Raises SpokenError where a question that waits is outdated."""
        node.create_subscription(
            Approval, 'approval', self._receive_approval, LATCHED, callback_group=group
        )

    @property
    def skills(self) -> tuple[Skill, ...]:
        """Those of the scene as it was seen last; before that, those of every table."""
        return self._skills_seen

    @property
    def features(self) -> WorldFeatures:
        return WorldFeatures(
            picture=self._picture,
            settle=self._settle,
            expect=self._expect,
            approves_plans=self.approves_plans,
        )

    def approves_plans(self) -> bool:
        """Return whether `fr3_executor` asks a person for plans, also where it does not answer."""
        return self.executor_settings.approves_plans(CancelToken(self.check))

    @property
    def constraints(self) -> list[str]:
        """What no call may do, as `ExecutorSettingsClient.constraints` returns it."""
        return self.executor_settings.constraints(CancelToken(self.check))

    def wait_ready(self, cancel: CancelToken) -> None:
        """
        Wait until every node of the graph that an episode needs beats.

        A task that began before the first beat of a node that was started again would end with the
        loss of the process before. Raises LostNodeError after `READY_S`.
        """
        deadline_s = time.monotonic() + READY_S
        while True:
            try:
                self._heartbeats.check_serving(NEEDED)
            except LostNodeError:
                if time.monotonic() > deadline_s:
                    raise
            else:
                if self._all_received() or time.monotonic() > deadline_s:
                    return
            cancel.wait(POLL_S)

    def _all_received(self) -> bool:
        graph = self._node.get_node_names_and_namespaces()
        here = {name for name, namespace in graph if namespace == self._node.get_namespace()}
        return all(self._heartbeats.alive(name) for name in here.intersection(NEEDED))

    def observe(self) -> Scene:
        """Return a scene that shows what the last call did."""
        self.check()
        # A plan may go on where the robot has stopped between two calls: the executor recovers
        # it before the next one, and looks anew.
        scene = self._scenes.get(
            self._seen_s, or_stopped=True, felt=self._weighs, cancel=CancelToken(self.check)
        )
        self._skills_seen = scene.skills
        return scene

    def execute(self, call: SkillCall) -> Outcome:
        """Execute one call to its end; raises LostNodeError where a node was lost."""
        self.check()
        goal = ExecuteSkill.Goal(
            call=to_msg(call),
            plan=self._plan,
            step=self._step,
            expected=[to_msg(each) for each in self._expected],
        )
        self._expected = ()
        self._withdrawing = False
        try:
            status, result = self._skill.run(
                goal, cancel=CancelToken(self.check, self._time_out_of(call), self._withdraw)
            )
        except LostNodeError:
            self._hold()
            raise
        if result is None:
            return Outcome(
                call=call,
                status=Status.REJECTED,
                code=Code.CANCELLED if status is GoalStatus.CANCELED else Code.INTERNAL,
                message=not_begun(status, f'the call {call}', 'fr3_executor'),
            )
        self._seen_s = max(self._seen_s, stamp_from_msg(result.stamp))
        self._scenes.ask_ahead(self._seen_s, or_stopped=True, felt=self._weighs)
        if status is GoalStatus.CANCELED and result.code == ExecuteSkill.Result.CODE_INTERNAL:
            return Outcome(
                call=call,
                status=Status.FAILED,
                code=Code.CANCELLED,
                message=f'{call} was stopped.',
            )
        outcome: Outcome = from_msg(Outcome, result, call=call)
        cancelled = self._withdrawing and outcome.code is Code.CANCELLED
        if cancelled and outcome.duration_s < WITHDRAWN_S:
            return withdrawn_call(call)
        return outcome

    def _picture(self) -> ScenePicture:
        """Return a picture that shows what the last call did."""
        if self._take_picture is None:
            raise ConfigError(
                'The parameter `picture_topic` of brain_planner is empty, so there is no picture '
                'for the planner. Set it to the colour topic of a camera, or use `image=none`.'
            )
        return self._take_picture(self._seen_s, self.check)

    def _expect(self, calls: Sequence[SkillCall]) -> None:
        """Send along with the next call what probably follows it."""
        self._expected = tuple(calls)

    def _settle(self) -> None:
        """Observe until nothing has moved between two scenes, at most `REST_S`."""
        deadline_s = time.monotonic() + REST_S
        last = self.observe().objects
        token = CancelToken(self.check)
        while time.monotonic() < deadline_s:
            token.wait(BETWEEN_S)
            now = self.observe().objects
            if at_rest(last, now):
                return
            last = now

    def on_event(self, event: Event) -> None:
        match event.data:
            case EpisodeStarted(episode_id=episode_id):
                self._scenes.forget()
                self._begun_s, self._episode_id = time.monotonic(), episode_id
                self._plan, self._step, self._goal = PlanMsg(), -1, GoalStated()
            case PlanMade(start=start, revision=revision) as made:
                stamp_s = now_s(self._node)
                plan = plan_to_msg(made.plan, start, self._episode_id, stamp_s, revision)
                plan.goal, plan.rest = list(self._goal.conditions), made.rest
                self._plan = plan
                if not isinstance(made, PlanGrown):  # that goes on with the step under way
                    self._step = -1
            case PlanRehearsed(lines=lines):
                self._plan.rehearsal = list(lines)
            case GoalStated() as goal:
                self._goal = goal
                if self._step < 0:  # nothing of the plan was asked for yet
                    self._plan.goal = list(goal.conditions)
            case StepBegun(index):
                self._step = index

    def stop(self) -> None:
        """Stop the call that runs now, from any thread; the gripper stays closed."""
        self._skill.cancel()

    def _time_out_of(self, call: SkillCall) -> Callable[[], None]:
        """Return a check of the time of a call, without that in which a person is waited for."""
        spent_s, last_s = 0.0, time.monotonic()

        def check() -> None:
            nonlocal spent_s, last_s
            now_s = time.monotonic()
            if not self._asked:
                spent_s += now_s - last_s
            last_s = now_s
            if spent_s > self._timeout_s:
                raise WorldError(
                    f'There was no answer from fr3_executor ({call}) within {self._timeout_s:g} s.'
                )

        return check

    def _receive_approval(self, waits: Approval) -> None:
        self._asked = waits.kind != Approval.NOTHING
        self._asked_for = waits.episode_id

    def _withdraw(self) -> None:
        """
        Take back the call whose question waits for a person, where the question is outdated.

        It is cancelled, which is all that a planner may do about a question: approve and deny are
        for people.
        """
        if self._withdrawing or not self._asked or self._asked_for != self._episode_id:
            return
        try:
            self.interrupt()
        except SpokenError:
            self._withdrawing = True
            self._skill.cancel()

    def _hold(self) -> None:
        """Cancel whatever trajectory runs: no other node may be left to do it."""
        if self._controller.service_is_ready():
            # An id and a stamp of zeros mean all goals (action_msgs/CancelGoal).
            self._controller.call_async(CancelGoal.Request())

    def check(self) -> None:
        """Raise LostNodeError or DuplicateNodeError unless all nodes are there."""
        self._heartbeats.check(NEEDED, self._begun_s)
        self._heartbeats.check_unique(NODES)


def at_rest(before: Iterable[SceneObject], now: Iterable[SceneObject]) -> bool:
    """Return whether no object has moved between two scenes, and none has come or gone."""
    was = {item.name: item.pose.position_m for item in before}
    places = {item.name: item.pose.position_m for item in now}
    return was.keys() == places.keys() and all(
        math.dist(places[name], point) < STILL_M for name, point in was.items()
    )


def body_client(node: Node, group: CallbackGroup) -> ServiceCall:
    """Return a client of `map_step`, which refuses a request without a scene."""
    return ServiceCall(node, MapStep, 'map_step', 'body_mapper', group, first=MapStep.Request())


class RosBody:
    """The Body of one episode, over `map_step`; its model calls go on the episode's account."""

    def __init__(
        self,
        call: ServiceCall,
        timeout_s: float,
        run: EpisodeRun,
        world: RosWorld,
        reported: BodyModel,
    ):
        self.name: str = reported.name
        self.reads_calls = bool(reported.reads_calls)
        self._call, self._timeout_s = call, timeout_s
        self._run, self._world = run, world

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        """Ask for one step; see `Body`."""
        request = MapStep.Request(step=to_msg(step), scene=to_msg(scene))
        token = self._run.token.with_checks(self._world.check, self._run.interruption())
        with self._run.asking():
            reply = self._call.run(request, self._timeout_s, cancel=token, on_late=self._record)
            self._record(reply)
        if reply.error != MapStep.Response.NONE:
            raise MAP_ERRORS.get(reply.error, WorldError)(reply.message)
        return Pass(reply.reason) if reply.passed else from_msg(SkillCall, reply.call)

    def _record(self, reply: MapStep.Response) -> None:
        """Put the model calls of a request on record, also of one that was given up."""
        for msg in reply.model_calls:
            self._run.add_model_call(from_msg(ModelCall, msg), msg.text or None)
