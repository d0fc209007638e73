"""The node `perception` in the process of a test, with a detector of the test."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
import rclpy
from rclpy.context import Context

from bbllm.core.types import Pose
from bbllm.scene.camera import Mask, RgbdImage
from bbllm.scene.catalogue import Catalogue
from bbllm.scene.detections import Detection
from bbllm_ros.nodes import perception
from bbllm_ros.nodes.perception import Perception
from bbllm_ros.rclpy_support.entities import leave_graph
from bbllm_ros.rclpy_support.executor import PoolExecutor
from bbllm_ros.rclpy_support.params import Value
from bbllm_ros.rclpy_support.stack_node import CONTEXT
from bbllm_ros.stack.stack import node_arguments
from tests.ros.stacks import PATIENCE_S

CUBE = Detection(
    name='red_cube',
    kind='cube',
    color='red',
    size_m=(0.04, 0.04, 0.04),
    position_m=(0.1, 0.05, 0.98),
    quat_xyzw=(1.0, 0.0, 0.0, 0.0),
    confidence=0.9,
)


@dataclass
class Double:
    """A detector that finds the same cube in each picture, as slowly as a test lets it."""

    name: str = 'double'
    stamps_s: list[float] = field(default_factory=list)
    ignored: list[Mask | None] = field(default_factory=list)
    allowed: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.allowed.set()

    def detect(
        self, image: RgbdImage, T_world_camera: Pose, *, ignored: Mask | None = None
    ) -> tuple[Detection, ...]:
        self.ignored.append(ignored)
        self.stamps_s.append(image.stamp_s)
        assert self.allowed.wait(PATIENCE_S)
        return (CUBE,)


@contextmanager
def perceiving(
    detector: Double, namespace: str = 'bbllm', **params: Value
) -> Iterator[Perception]:
    """Run the node in this process, as its own process would, with a detector in place of its."""
    context = Context()
    arguments = node_arguments('perception', params, namespace, simulated=True)
    rclpy.init(args=arguments, context=context)
    before = CONTEXT.set(context)
    node = Perception()
    CONTEXT.reset(before)
    faults: list[BaseException] = []
    executor = PoolExecutor(4, faults.append, context=context)
    executor.add_node(node)
    executor.start()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                perception, 'detector_of', lambda params, warn, account: (detector, Catalogue())
            )
            node.autostart()
        yield node
        assert not faults
        assert not node.failed
    finally:
        node.come_to_rest()
        executor.end(PATIENCE_S)
        leave_graph(node)
        context.try_shutdown()
