"""The detectors by the name that users choose."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bbllm.core.errors import UnknownNameError
from bbllm.core.types import SceneObject
from bbllm.vision.detectors.detector import Detector
from bbllm.worlds.scene.catalogue import Catalogue


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorSetup:
    """What a detector may need; each takes its part."""

    catalogue: Catalogue
    """What objects are: name or class, kind, size and colour."""
    fixtures: tuple[SceneObject, ...] = ()
    """Tables that the objects are on."""
    llm_config: str = ''
    """File that describes the models, for `vlm`; empty: config/llm.yaml."""
    model: str = ''
    """Model of `vlm`, or the file of the weights of `onnx`."""


def _blocks(setup: DetectorSetup) -> Detector:
    from bbllm.vision.detectors.blocks import BlocksDetector

    return BlocksDetector(setup.catalogue, setup.fixtures)


DETECTORS: Mapping[str, Callable[[DetectorSetup], Detector]] = {'blocks': _blocks}


def load_detector(name: str, setup: DetectorSetup) -> Detector:
    """
    Return a detector by its name.

    Raises:
        UnknownNameError: There is no such detector; names those that there are.
        ConfigError: What it needs is missing.
    """
    if name not in DETECTORS:
        raise UnknownNameError('detector', name, DETECTORS)
    return DETECTORS[name](setup)
