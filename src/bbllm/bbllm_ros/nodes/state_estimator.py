"""The node `state_estimator`: from objects and joint states to a scene with its relations."""

from dataclasses import replace

from bbllm_interfaces.msg import Scene as SceneMsg
from bbllm_interfaces.srv import GetScene

from bbllm.core.errors import WorldError
from bbllm.core.types import Scene
from bbllm.robots.fr3 import FR3
from bbllm.scene.relations import find_held
from bbllm.skills.catalog import skills_for
from bbllm.worlds.scene.reaching import ReachCache
from bbllm.worlds.tabletop.table import TableView
from bbllm_ros.convert.records import LATCHED, stamp_from_msg, to_msg
from bbllm_ros.driver.force_feed import ForceFeed
from bbllm_ros.driver.joint_feed import JointFeed
from bbllm_ros.estimator.object_feed import make_source
from bbllm_ros.estimator.scene_outputs import SceneOutputs
from bbllm_ros.parameters.node_params import StateEstimatorParams
from bbllm_ros.rclpy_support.fast_subscription import Poller
from bbllm_ros.rclpy_support.stack_node import StackNode, run

FELT_S = 1.0
"""How long to wait for a reading of the force, or for a weight, by the wall clock [s]."""


class StateEstimator(StackNode):
    """Publishes what is where; stale or missing objects are an error, not a scene."""

    def __init__(self) -> None:
        super().__init__('state_estimator', StateEstimatorParams)

    def build(self) -> None:
        params = self.params
        self._wait_s = params.wait_s
        self._poller = Poller(self)
        self._joints = JointFeed(self, self._poller, params.gripper, params.max_age_s)
        self._force = ForceFeed(self, self._poller, self._joints)
        self._source = make_source(self, self._poller, self._joints, params)
        self._reach = ReachCache(FR3)
        self._written: tuple[Scene, SceneMsg] | None = None
        self._scenes = self.create_publisher(SceneMsg, 'scene', LATCHED)
        self._outputs = SceneOutputs(self, collision_objects=params.collision_objects)
        self._period_s = 1.0 / params.rate_hz
        self.diagnostics.measure(self._poller.rates)

    def begin(self) -> None:
        self._poller.start()
        self.create_service(GetScene, 'get_scene', self._get, callback_group=self.group)
        # By the steady clock: who waits for scenes counts their silence by it at any speed.
        self.every(self._period_s, self._publish)

    def _get(self, request: GetScene.Request, reply: GetScene.Response) -> GetScene.Response:
        try:
            view = self._source.observe(
                stamp_from_msg(request.not_before), self._wait_s, or_stopped=request.or_stopped
            )
            reply.scene = self._write(self._scene(view, FELT_S if request.felt else 0.0))
            reply.code = GetScene.Response.NONE
        except WorldError as error:
            kinds = GetScene.Response
            reply.code = kinds.STALE_SCENE if self._source.seen else kinds.EMPTY_SCENE
            reply.message = str(error)
        return reply

    def _publish(self) -> None:
        """Publish the scene while there is one; silence means that there is none."""
        if not self._source.fresh or not self._joints.fresh:
            return
        try:
            scene = self._scene(self._source.observe(0.0, 0.0))
        except WorldError:
            return
        self._scenes.publish(self._write(scene))
        self._outputs.publish(scene)

    def _scene(self, view: TableView, wait_s: float = 0.0) -> Scene:
        held = None
        if wait_s > 0.0 and view.hand is not None:
            held = view.carried or find_held(view.objects, view.hand)
        return view.scene(
            skills_for(view.objects, self._source.skills),
            now_s=view.stamp_s,  # its age was looked at by the wall clock already
            reach=self._reach,
            force_n=self._force.force_n(view.stamp_s, wait_s, weighing=held is not None),
        )

    def _write(self, scene: Scene) -> SceneMsg:
        """Write a scene; one that shows something else of the hand alone shares the rest."""
        written = self._written
        if written is None or _lasting(written[0]) != _lasting(scene):
            msg = to_msg(scene)
        else:
            msg, before = to_msg(replace(scene, objects=(), skills=(), facts=())), written[1]
            msg.objects, msg.skills, msg.facts = before.objects, before.skills, before.facts
        self._written = (scene, msg)
        return msg


def _lasting(scene: Scene) -> tuple[object, ...]:
    """Return what a scene has in common with the next where nothing moves."""
    return scene.objects, scene.skills, scene.facts


def main() -> None:
    run(StateEstimator)


if __name__ == '__main__':
    main()
