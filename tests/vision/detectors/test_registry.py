"""Detectors by their names, and what each needs."""

from pathlib import Path

import pytest

from bbllm.core.errors import BbllmError, ConfigError, UnknownNameError
from bbllm.scene.catalogue import load_catalogue
from bbllm_vision.detectors.registry import DETECTORS, DetectorSetup, load_detector

SETUP = DetectorSetup(catalogue=load_catalogue('tabletop'))


def test_detector_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(
        UnknownNameError, match=r"detector named 'bloks'.*Known: blocks, onnx, vlm"
    ):
        load_detector('bloks', SETUP)
    assert sorted(DETECTORS) == ['blocks', 'onnx', 'vlm']


def test_network_needs_its_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match='parameter detector_model'):
        load_detector('onnx', SETUP)
    missing = DetectorSetup(catalogue=SETUP.catalogue, model=str(tmp_path / 'no.onnx'))
    with pytest.raises(BbllmError, match=r'no\.onnx|needs onnxruntime'):
        load_detector('onnx', missing)


def test_detector_that_asks_a_model_needs_one() -> None:
    with pytest.raises(BbllmError, match='eyes'):
        load_detector('vlm', SETUP)
