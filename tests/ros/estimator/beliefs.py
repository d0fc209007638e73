"""What `state_estimator` hears of episodes, and what its scenes then tell as believed."""

from bbllm_interfaces.msg import EpisodeEvent
from rclpy.publisher import Publisher

from bbllm.core.events import Event
from bbllm.core.types import Code, Outcome, SkillCall, Status
from bbllm.planners.domains.scene_graph import is_open
from bbllm_ros.convert.events import event_to_msg
from bbllm_ros.convert.records import EVENTS
from tests.ros.stacks import Running, until

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
    infos = stack.client.node.get_subscriptions_info_by_topic('/bbllm/episode_events')
    return NODE in [info.node_name for info in infos]


def failed(name: str, code: Code) -> EpisodeEvent:
    outcome = Outcome(call=SkillCall('pick', (name,)), status=Status.FAILED, code=code)
    return event_to_msg(Event(0.0, outcome), 'e')


def believed(stack: Running) -> list[str]:
    """Return what the scene of now tells that was not sensed."""
    return [str(fact) for fact in stack.client.scene().facts if is_open(fact)]
