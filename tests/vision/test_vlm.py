"""The detector `vlm`: what a model is asked, and which replies are taken."""

import io
import json
from typing import Any

import pytest
from PIL import Image

from bbllm.core.errors import ConfigError, ParseError
from bbllm.core.types import Pose
from bbllm.llm.config import parse_config
from bbllm.llm.models import factory
from bbllm.llm.models.factory import make_eyes, probe_models, resolve
from bbllm.scene.transforms import compose
from bbllm.testing import ScriptedModel
from bbllm_ros.perception.model_use import ModelUse
from bbllm_vision.detectors.registry import DetectorSetup, load_detector
from bbllm_vision.detectors.vlm import VlmDetector
from tests.vision.drawn_tables import (
    CAMERA,
    CATALOGUE,
    RED,
    T_WORLD_CAMERA,
    box_px,
    draw,
    placed,
)

ITEM = placed(RED, x_m=0.45, y_m=0.2, yaw_rad=0.3)
IMAGE = draw(ITEM)


def seen(**changes: Any) -> dict[str, Any]:
    """Return an object of a reply: the cube, with a box in thousandths."""
    left, top, right, bottom = box_px(ITEM)
    wide, high = 1000 / CAMERA.width_px, 1000 / CAMERA.height_px
    box = {
        'left': round(left * wide),
        'top': round(top * high),
        'right': round(right * wide),
        'bottom': round(bottom * high),
    }
    return {'class': 'cube_red', **box, 'confidence': 0.8} | changes


def reply(*objects: dict[str, Any]) -> str:
    return json.dumps({'objects': objects})


def test_boxes_become_poses_in_the_optical_frame() -> None:
    model = ScriptedModel([reply(seen())], supports_schema=True)

    (found,) = VlmDetector(model, CATALOGUE).detect(IMAGE, T_WORLD_CAMERA)

    assert (found.name, found.confidence) == ('cube_red', 0.8)
    pose = compose(T_WORLD_CAMERA, Pose(position_m=found.position_m))
    assert pose.position_m == pytest.approx((0.45, 0.2, 0.02), abs=0.003)


def test_the_model_is_sent_the_picture_the_classes_and_a_strict_schema() -> None:
    model = ScriptedModel([reply()], supports_schema=True)

    assert VlmDetector(model, CATALOGUE).detect(IMAGE, T_WORLD_CAMERA) == ()

    (request,) = model.requests
    (message,) = request.messages
    (data,) = message.images
    with Image.open(io.BytesIO(data)) as picture:
        assert (picture.format, picture.size) == ('JPEG', (640, 480))
    assert '- cube_red: cube, red, 40 x 40 x 40 mm' in message.content
    assert '- brick: cube, orange, 80 x 30 x 20 mm' in message.content
    assert 'from 0 to 1000' in message.content
    assert request.schema is not None
    item = request.schema['properties']['objects']['items']  # type: ignore[index]
    assert item['properties']['class']['enum'] == ['cube_red', 'brick', 'can']
    assert set(item['required']) == {*item['properties']}
    assert item['additionalProperties'] is False


@pytest.mark.parametrize(
    ('bad', 'reason'),
    [
        ('I see a red cube.', 'Invalid JSON'),
        (reply(seen(**{'class': 'cat'})), "no class 'cat'. The classes are: cube_red, brick, can"),
        (reply(seen(left=900)), 'left must be less than right'),
        (reply(seen(right=1200)), 'objects.0.right: Input should be less than or equal to 1000'),
        (reply(seen(confidence=3)), 'objects.0.confidence'),
        (reply(seen(pose=[1, 2, 3])), 'objects.0.pose: Extra inputs are not permitted'),
        ('{"objects": [{"class": "cube_red"}]}', 'objects.0.left: Field required'),
        ('{"objects": [{"class": "cube_red", "left": NaN}]}', 'JSON'),
    ],
)
def test_a_malformed_reply_is_asked_again_once_with_the_reason(bad: str, reason: str) -> None:
    model, reported = ScriptedModel([bad, reply(seen())]), list[str]()

    found = VlmDetector(model, CATALOGUE, on_warning=reported.append).detect(IMAGE, T_WORLD_CAMERA)

    assert len(found) == 1
    assert reason in model.requests[1].messages[-1].content
    assert reason in reported[0]
    with pytest.raises(ParseError) as caught:
        VlmDetector(ScriptedModel([bad, bad]), CATALOGUE).detect(IMAGE, T_WORLD_CAMERA)
    assert reason in str(caught.value)


def test_fences_around_the_reply_are_taken_off() -> None:
    model = ScriptedModel([f'```json\n{reply(seen())}\n```'])

    assert len(VlmDetector(model, CATALOGUE).detect(IMAGE, T_WORLD_CAMERA)) == 1


def test_a_box_without_depth_is_left_out_with_a_warning() -> None:
    reported: list[str] = []
    elsewhere = seen(left=10, right=60, top=10, bottom=60)
    model = ScriptedModel([reply(seen(), elsewhere)])

    found = VlmDetector(model, CATALOGUE, on_warning=reported.append).detect(IMAGE, T_WORLD_CAMERA)

    assert len(found) == 1
    assert reported == ['The box of red_cube has no depth of an object, so it is left out.']


def test_requests_are_charged_to_the_account_that_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = ScriptedModel(['{}', reply(seen())])
    monkeypatch.setattr(factory, 'make_eyes', lambda config, choice: model)
    use = ModelUse()

    detector = load_detector('vlm', DetectorSetup(catalogue=CATALOGUE, account=use))

    assert len(detector.detect(IMAGE, T_WORLD_CAMERA)) == 1
    assert use.requests == 2
    assert use.tokens > 0


def test_the_role_eyes_is_configured_like_the_others() -> None:
    config = parse_config(
        'brain: {provider: openai, model: seer}\neyes: {provider: openai}', 'llm.yaml'
    )

    assert resolve(config, 'eyes', environ={}).model == 'seer'
    environ = {'OPENAI_BASE_URL': 'http://localhost:1/v1'}
    assert make_eyes(config, environ=environ).name == 'seer'
    assert make_eyes(config, choice='other', environ=environ).name == 'other'
    roles = [each.role for each in probe_models(config, environ={})]
    assert roles == ['brain', 'body', 'eyes']


def test_a_stand_in_is_no_pair_of_eyes() -> None:
    with pytest.raises(ConfigError, match=r'`offline` is none. Set \$OPENAI_API_KEY'):
        make_eyes(parse_config('', 'llm.yaml'), environ={})
    with pytest.raises(ConfigError, match='another detector than `vlm`'):
        make_eyes(parse_config('eyes: {provider: openai, model: m}', 'llm.yaml'), environ={})
