"""What reads pictures, made from the parameters of `perception`."""

from collections.abc import Callable

from bbllm.core.episode import Account
from bbllm.scene.detections import Doubts
from bbllm.scene.transforms import TransformTree
from bbllm_ros.estimator.detection_feed import TfFeed
from bbllm_ros.parameters.detector_params import detector_of
from bbllm_ros.parameters.node_params import PerceptionParams
from bbllm_ros.perception.picture_loop import Found, PictureLoop
from bbllm_ros.perception.robot_states import RobotStates
from bbllm_ros.perception.scene_memory import SceneMemory
from bbllm_ros.rclpy_support.fast_subscription import Poller
from bbllm_ros.rclpy_support.stack_node import StackNode
from bbllm_vision.detectors.identities import Identities
from bbllm_vision.detectors.picture_reader import PictureReader
from bbllm_vision.picture_health import HealthLimits

LOG_S = 10.0
"""Wall time between two warnings of a detector [s]."""


def make_loop(
    node: StackNode,
    poller: Poller,
    params: PerceptionParams,
    on_found: Found,
    on_judged: Callable[[], None],
    account: Account,
) -> PictureLoop:
    """
    Make the loop that reads pictures, with its detector, names and transforms.

    *account* is charged with the requests of a detector that asks a model.

    Raises ConfigError or UnknownNameError as `detector_of`.
    """
    log = node.get_logger()

    def warn(text: str) -> None:
        log.warning(text, throttle_duration_sec=LOG_S)

    detector, catalogue = detector_of(params, warn, account)
    memory = SceneMemory(node, poller, Identities(catalogue))
    tree = TransformTree()
    TfFeed(poller, tree, Doubts(log.warning), (), lambda _: None)
    limits = HealthLimits(
        frozen_after=params.frozen_after, least_depth_share=params.least_depth_share
    )
    robot = RobotStates(poller, params.gripper)
    reader = PictureReader(
        detector, memory.name_objects, tree, robot.at, limits, params.max_delay_s
    )
    return PictureLoop(node, poller, tree, reader, on_found, on_judged)
