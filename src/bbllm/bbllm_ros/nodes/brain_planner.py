"""The node `brain_planner`: joins one planner to the arm behind one action."""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from bbllm_interfaces.action import RunTask
from bbllm_interfaces.msg import Conversation as ConversationMsg
from bbllm_interfaces.msg import EpisodeEvent
from bbllm_interfaces.msg import Plan as PlanMsg
from bbllm_interfaces.srv import Say
from rclpy.action import CancelResponse
from rclpy.action.server import ServerGoalHandle
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from bbllm.core.errors import BbllmError, TaskError
from bbllm.core.events import (
    Ending,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    GoalStated,
    ModelCall,
    PlanGrown,
    PlanMade,
    RepairBegun,
    StepBegun,
    StepFailed,
    WarningRaised,
    event_text,
)
from bbllm.core.types import Plan
from bbllm_ros.convert.events import event_to_msg, feedback_event
from bbllm_ros.convert.records import EVENTS, LATCHED, episode_to_result, to_msg
from bbllm_ros.parameters.node_params import BrainPlannerParams
from bbllm_ros.planner.camera_picture import taker
from bbllm_ros.planner.episode_server import EpisodeDesk
from bbllm_ros.rclpy_support.entities import end_goal, now_s, serve_action
from bbllm_ros.rclpy_support.liveness import AGAIN
from bbllm_ros.rclpy_support.stack_node import StackNode, run
from bbllm_ros.rviz.markers import plan_markers

LOGGED = (
    EpisodeStarted,
    GoalStated,
    PlanMade,
    StepBegun,
    RepairBegun,
    StepFailed,
    WarningRaised,
    EpisodeEnded,
)


MAX_WAIT_S = 600.0
"""How long a remark's sender may wait for what becomes of it, wall clock [s]."""


class BrainPlanner(StackNode):
    """Carries out one task at a time and publishes how it goes."""

    def __init__(self) -> None:
        super().__init__('brain_planner', BrainPlannerParams)

    def build(self) -> None:
        take_picture = taker(self, self.group, self.params.picture_topic)
        self._desk = EpisodeDesk(self, lambda: self.params, take_picture)
        self._latency_s = float('nan')
        self.diagnostics.measure(
            {
                'model': lambda: self._desk.brain_name,
                'last model call [s]': lambda: self._latency_s,
                'episode': lambda: self._desk.episode_id or 'none',
            }
        )
        self._plans = self.create_publisher(PlanMsg, 'plan', LATCHED)
        self._markers = self.create_publisher(MarkerArray, 'plan_markers', LATCHED)
        self._turns = self.create_publisher(ConversationMsg, 'conversation', LATCHED)
        self._plan, self._step = Plan(), 0
        self._events = self.create_publisher(EpisodeEvent, 'episode_events', EVENTS)
        self.create_subscription(
            String, 'human_feedback', self._receive_remark, 10, callback_group=self.group
        )
        self.create_service(Say, 'say', self._answer_remark, callback_group=self.group)

    def begin(self) -> None:
        self._server = serve_action(
            self, self.group, RunTask, 'run_task', self._run_task, self._cancel
        )

    def come_to_rest(self) -> None:
        # Whoever ends this node may do so because another one has gone: that is then the reason.
        self.heartbeats.hurry()
        reason = self.end_reason
        if not self.owner_lost and (lost := self._desk.lost_node()):
            self.end_for(lost.partition(f'. {AGAIN}')[0])
            self._desk.wait_for_end(4.0)
            reason = lost
        self._desk.cancel(reason, wait_s=2.0)

    @property
    def busy(self) -> str:
        episode_id = self._desk.episode_id
        return f'the episode {episode_id} is under way' if episode_id else ''

    def _run_task(self, goal: ServerGoalHandle) -> RunTask.Result:
        """Refuse in words: a goal that is rejected reaches people without its reason."""
        sent: list[Future[None]] = []

        def send(event: Event) -> None:
            # Beside the planner: a step does not wait until its event is written and sent.
            sent.append(pool.submit(self._send, goal, event, self._desk.episode_id))

        try:
            with ThreadPoolExecutor(1, 'events') as pool:  # whose end waits for the last event
                episode = self._desk.run(
                    goal.request, owner=bytes(goal.goal_id.uuid), on_event=send
                )
            for each in sent:
                each.result()
            turns = [to_msg(turn) for turn in self._desk.conversation.turns]
            self._turns.publish(ConversationMsg(turns=turns))
        except BbllmError as error:
            self.get_logger().warning(f'A task was refused: {error}')
            goal.abort()
            return RunTask.Result(message=str(error))
        ending = episode.ending
        cancelled = ending is Ending.CANCELLED
        succeeded = ending is not None and ending.is_success
        end_goal(goal, succeeded=succeeded, cancelled=cancelled)
        return episode_to_result(episode)

    def _send(self, goal: ServerGoalHandle, event: Event, episode_id: str) -> None:
        self._note(event)
        msg = event_to_msg(event, episode_id, now_s(self))
        match event.data:
            case PlanMade() as made:
                self._plan = made.plan
                if not isinstance(made, PlanGrown):  # that goes on with the step under way
                    self._step = made.start
                self._plans.publish(msg.plan[0])
                self._markers.publish(plan_markers(self._plan, self._step))
            case StepBegun(index):
                self._step = index
                self._markers.publish(plan_markers(self._plan, index))
            case EpisodeEnded():
                self._markers.publish(plan_markers(self._plan, -1))
        self._events.publish(msg)
        goal.publish_feedback(RunTask.Feedback(event=feedback_event(msg)))

    def _note(self, event: Event) -> None:
        if isinstance(event.data, LOGGED):
            self.get_logger().info(event_text(event.data))
        match event.data:
            case ModelCall(role='brain', duration_s=duration_s):
                self._latency_s = duration_s
            case EpisodeEnded(ending) if not ending.is_success:
                self.diagnostics.error(event_text(event.data))

    def _cancel(self, goal: Any) -> CancelResponse:
        paused_s = self.heartbeats.stood_still_s()
        why = f', after {self.get_name()} had stood still for {paused_s:.1f} s' if paused_s else ''
        self._desk.cancel(
            f'A client of run_task cancelled it{why}.', owner=bytes(goal.goal_id.uuid)
        )
        return CancelResponse.ACCEPT

    def _receive_remark(self, remark: String) -> None:
        try:
            self._desk.add_remark(remark.data)
        except TaskError as error:
            self.get_logger().warning(f'A remark was refused. {error}')

    def _answer_remark(self, request: Say.Request, response: Say.Response) -> Say.Response:
        if not request.text:
            response.message = 'This serves.'
            return response
        try:
            fate = self._desk.add_remark(
                request.text, request.by, request.episode_id, request.question
            )
        except TaskError as error:
            response.message = str(error)
            self.get_logger().warning(f'A remark was refused. {error}')
            return response
        response.success = True
        response.message = fate.wait(min(request.wait, MAX_WAIT_S))
        return response


def main() -> None:
    run(BrainPlanner)


if __name__ == '__main__':
    main()
