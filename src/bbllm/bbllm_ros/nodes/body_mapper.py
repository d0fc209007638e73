"""The node `body_mapper`: the Body as a service."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from bbllm_interfaces.msg import BodyModel
from bbllm_interfaces.srv import MapStep

from bbllm.core.cancel import CancelToken
from bbllm.core.episode import GuardedEmbedder, GuardedModel
from bbllm.core.errors import (
    BbllmError,
    EndlessReplyError,
    ModelDeclinedError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    ParseError,
    ReplayError,
    SceneError,
)
from bbllm.core.events import ModelCall
from bbllm.core.naming import scene_fault
from bbllm.core.protocols import Body, Pass
from bbllm.core.types import PlanStep, Scene
from bbllm.planners.body.mapping import body_name, body_of
from bbllm.planners.common.matching import Vector
from bbllm_ros.convert.records import LATCHED, from_msg, to_msg
from bbllm_ros.parameters.model_params import models_of_body
from bbllm_ros.parameters.node_params import BodyMapperParams
from bbllm_ros.rclpy_support.stack_node import StackNode, run


class Transcript:
    """The `Account` of one request; `calls` and `texts` belong together."""

    stream = False

    def __init__(self, *, keep_prompts: bool = True) -> None:
        self._keep_prompts = keep_prompts
        """Whether calls are passed on with what was sent to the model."""
        self.token = CancelToken()
        self.calls: list[ModelCall] = []
        self.texts: list[str] = []
        """What was answered to each call; empty where nothing was, or an embedder was asked."""

    def asking(self) -> AbstractContextManager[None]:
        """The client that asks has a budget, and a request has none."""
        return nullcontext()

    def add_model_call(self, call: ModelCall, text: str | None = None) -> None:
        self.calls.append(call if self._keep_prompts else replace(call, prompt=()))
        self.texts.append(text or '')


class BodyMapper(StackNode):
    """Turns one step of a plan into one call; requests do not wait for each other."""

    def __init__(self) -> None:
        super().__init__('body_mapper', BodyMapperParams)

    def build(self) -> None:
        params = self.params
        self._mapping = params.mapping
        self._models = models_of_body(params)
        for notice in self._models.notices:
            self.get_logger().info(notice)
        self._known: dict[str, Vector] = {}
        self._latency_s = float('nan')
        self.diagnostics.measure(
            {
                'model': lambda: body_name(self._mapping, self._models),
                'last model call [s]': lambda: self._latency_s,
            }
        )
        self._published = self.create_publisher(BodyModel, 'body_model', LATCHED)

    def begin(self) -> None:
        body = self._body(Transcript())
        self._published.publish(
            BodyModel(
                name=body_name(self._mapping, self._models),
                reads_calls=body.reads_calls,
            )
        )
        self.create_service(MapStep, 'map_step', self._map, callback_group=self.group)

    def _map(self, request: MapStep.Request, reply: MapStep.Response) -> MapStep.Response:
        transcript = Transcript(keep_prompts=self._models.keep_prompts)
        try:
            if not request.scene.objects:
                raise BbllmError('map_step was given a scene without objects.')
            scene = from_msg(Scene, request.scene)
            if fault := scene_fault(scene):
                raise SceneError(f'map_step was given a scene that cannot be used: {fault}.')
            mapped = self._body(transcript).map(from_msg(PlanStep, request.step), scene)
            reply.error = MapStep.Response.NONE
            reply.passed = isinstance(mapped, Pass)
            if isinstance(mapped, Pass):
                reply.reason = mapped.reason
            else:
                reply.call = to_msg(mapped)
        except BbllmError as error:
            reply.error = error_code(error)
            reply.message = str(error)
            self.diagnostics.error(str(error))
        if transcript.calls:
            self._latency_s = transcript.calls[-1].duration_s
        reply.model_calls = [
            to_msg(call, text=text)
            for call, text in zip(transcript.calls, transcript.texts, strict=True)
        ]
        return reply

    def _body(self, transcript: Transcript) -> Body:
        embedder = self._models.embedder
        return body_of(
            self._mapping,
            GuardedModel(transcript, self._models.body, 'body'),
            None if embedder is None else GuardedEmbedder(transcript, embedder, 'body'),
            known=self._known,
        )


def error_code(error: BbllmError) -> int:
    codes = (
        (ParseError, MapStep.Response.PARSE_FAILED),
        (ModelRefusedError, MapStep.Response.MODEL_REFUSED),
        (ModelUnavailableError, MapStep.Response.MODEL_UNAVAILABLE),
        (ReplayError, MapStep.Response.MODEL_UNAVAILABLE),
        (ModelDeclinedError, MapStep.Response.MODEL_DECLINED),
        (EndlessReplyError, MapStep.Response.ENDLESS_REPLY),
        (ModelError, MapStep.Response.MODEL_FAILED),
        (BbllmError, MapStep.Response.BAD_REQUEST),
    )
    return next(int(code) for kind, code in codes if isinstance(error, kind))


def main() -> None:
    run(BodyMapper)


if __name__ == '__main__':
    main()
