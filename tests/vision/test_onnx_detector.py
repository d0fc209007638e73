"""The detector `onnx`: networks of the documented signature, and files that are none."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bbllm.core.errors import ConfigError
from bbllm.core.types import Pose
from bbllm.scene.catalogue import Catalogue
from bbllm.scene.transforms import compose
from bbllm_vision.detectors.onnx_detector import OnnxDetector
from tests.doubles.tiny_onnx import INT64, network
from tests.vision.drawn_tables import (
    CAMERA,
    CATALOGUE,
    RED,
    T_WORLD_CAMERA,
    box_px,
    draw,
    placed,
)

pytest.importorskip('onnxruntime', reason='the extra `onnx` is not installed: make extras')

ITEM = placed(RED, x_m=0.45, y_m=0.2, yaw_rad=0.3)
IMAGE = draw(ITEM)
NAMES = {'names': "{0: 'cat', 1: 'cube_red', 2: 'can'}"}
SIDE = 640
MARGIN_PX = (SIDE - CAMERA.height_px) / 2
"""Above and below a picture of 640 x 480 in an input of 640 x 640."""


def row(
    *scores: float, moved_px: float = 0.0, scale: float = 1.0, top_px: float = MARGIN_PX
) -> list[float]:
    """Return a box around the cube in the pixels of the input, with scores."""
    left, top, right, bottom = box_px(ITEM)
    box = ((left + right) / 2 + moved_px, (top + bottom) / 2, right - left, bottom - top)
    x, y, wide, high = (value * scale for value in box)
    return [x, y + top_px, wide, high, *scores]


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., OnnxDetector]:
    def make(*rows: list[float], catalogue: Catalogue = CATALOGUE, **options: Any) -> OnnxDetector:
        file = tmp_path / 'net.onnx'
        named = {'names_file': options.pop('names_file')} if 'names_file' in options else {}
        options.setdefault('metadata', NAMES)
        file.write_bytes(network(np.array(rows).T, **options))
        return OnnxDetector(file, catalogue, **named)

    return make


def test_boxes_of_the_network_become_poses(made: Callable[..., OnnxDetector]) -> None:
    (found,) = made(row(0.0, 0.8, 0.1), row(0.1, 0.2, 0.1)).detect(IMAGE, T_WORLD_CAMERA)

    # The scores are weighed by the lightest pixel, which proves that the picture came in.
    assert found.confidence == pytest.approx(0.8 * IMAGE.rgb.max() / 255, abs=1e-4)
    assert found.name == 'cube_red'
    pose = compose(T_WORLD_CAMERA, Pose(position_m=found.position_m))
    assert pose.position_m == pytest.approx((0.45, 0.2, 0.02), abs=0.003)


def test_boxes_come_back_in_the_pixels_of_the_picture(made: Callable[..., OnnxDetector]) -> None:
    for shape, scale, top_px in (
        ((1, 3, 640, 640), 1.0, MARGIN_PX),
        ((1, 3, 'h', 'w'), 1.0, MARGIN_PX),
        (('batch', 3, 240, 320), 0.5, 0.0),
    ):
        detector = made(row(0.0, 0.9, 0.0, scale=scale, top_px=top_px), input_shape=shape)
        (box,) = detector.boxes(IMAGE)

        edges = (box.left_px, box.top_px, box.right_px, box.bottom_px)
        assert edges == pytest.approx(box_px(ITEM), abs=0.01)


def test_of_boxes_that_overlap_the_surest_of_a_class_is_kept(
    made: Callable[..., OnnxDetector],
) -> None:
    detector = made(
        row(0.0, 0.6, 0.0, moved_px=2),
        row(0.0, 0.9, 0.0),
        row(0.0, 0.7, 0.0, moved_px=60),
        row(0.0, 0.0, 0.8, moved_px=1),
        row(0.9, 0.0, 0.0),
    )

    found = [
        (box.entry.name, round(box.confidence * 255 / int(IMAGE.rgb.max()), 2))
        for box in detector.boxes(IMAGE)
    ]

    # The cat is no object of the catalogue.
    assert found == [('red_cube', 0.9), ('can', 0.8), ('red_cube', 0.7)]


def test_what_is_not_likely_or_no_number_is_left_out(made: Callable[..., OnnxDetector]) -> None:
    bad = row(0.0, float('nan'), 0.0)

    assert made(row(0.0, 0.2, 0.0), bad).boxes(IMAGE) == ()


def test_classes_may_come_from_a_text_file(
    made: Callable[..., OnnxDetector], tmp_path: Path
) -> None:
    names = tmp_path / 'names.txt'
    names.write_text('can\nbrick\ncube_red\n')

    (box,) = made(row(0.0, 0.0, 0.9), names_file=names, metadata={}).boxes(IMAGE)

    assert box.entry.name == 'red_cube'


@pytest.mark.parametrize(
    ('options', 'reported'),
    [
        (
            {'input_shape': (1, 1, 64, 64)},
            r'has the input images tensor\(float\) \(1, 1, 64, 64\)',
        ),
        ({'input_shape': (2, 3, 64, 64)}, 'one input, float32'),
        ({'input_shape': (3, 64, 64)}, 'one input, float32'),
        ({'input_type': INT64}, r'tensor\(int64\)'),
        ({'metadata': {'names': "{0: 'cube_red'}"}}, 'for 3 classes, but 1 names of classes'),
        ({'metadata': {}}, 'no metadata `names`'),
        ({'metadata': {'names': '__import__("os").getcwd()'}}, 'no metadata `names`'),
        ({'metadata': {'names': "{0: 'a', 1: 'b', 2: 'c'}"}}, 'The file has: a, b, c. The cat'),
    ],
)
def test_a_network_that_does_not_fit_is_refused_with_what_would(
    made: Callable[..., OnnxDetector], options: dict[str, Any], reported: str
) -> None:
    with pytest.raises(ConfigError, match=reported):
        made(row(0.0, 0.9, 0.0), **options)


class Other:
    """A session whose output has another shape than its file declares."""

    def run(self, names: object, inputs: object) -> list[np.ndarray]:
        return [np.zeros((1, 6, 5), np.float32)]


def test_an_output_that_its_file_did_not_declare_is_refused(
    made: Callable[..., OnnxDetector], monkeypatch: pytest.MonkeyPatch
) -> None:
    detector = made(row(0.0, 0.9, 0.0))
    monkeypatch.setattr(detector, '_session', Other())

    with pytest.raises(ConfigError, match=r'has the shape \(1, 6, 5\) for 3 classes'):
        detector.boxes(IMAGE)


def test_a_file_that_is_no_network_is_refused(tmp_path: Path) -> None:
    file = tmp_path / 'net.onnx'
    with pytest.raises(ConfigError, match='There is no file'):
        OnnxDetector(file, CATALOGUE)
    file.write_text('no network')
    with pytest.raises(ConfigError, match='cannot be read as an ONNX network'):
        OnnxDetector(file, CATALOGUE)
