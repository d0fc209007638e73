"""Detectors by their names, and what each needs."""

from pathlib import Path

import pytest

from bbllm.core.errors import BbllmError, ConfigError, UnknownNameError
from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.scene.catalogue import Catalogue, load_catalogue
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


def test_blocks_names_the_objects_that_it_leaves_out() -> None:
    warnings: list[str] = []
    pear = SceneObject(
        name='pear', kind=Kind.OTHER, pose=Pose(position_m=(0, 0, 0)), size_m=(0.11, 0.056, 0.056)
    )
    catalogue = Catalogue((*SETUP.catalogue.entries, *Catalogue.of_objects([pear]).entries))
    load_detector('blocks', DetectorSetup(catalogue=catalogue, on_warning=warnings.append))
    assert len(warnings) == 1
    assert 'cubes and cylinders alone, and not pear.' in warnings[0]
    assert 'onnx and vlm' in warnings[0]
