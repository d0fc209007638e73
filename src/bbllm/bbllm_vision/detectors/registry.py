"""The detectors by the name that users choose."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bbllm.core.episode import Account, GuardedModel
from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.types import SceneObject
from bbllm.scene.catalogue import Catalogue
from bbllm_vision.detectors.detector import Detector


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
    """Of `vlm`: the model, in place of the file's. Of `onnx`: the file of the network."""
    account: Account | None = None
    """What the requests of `vlm` are charged to."""
    on_warning: Callable[[str], None] = field(default=lambda text: None)
    """Receives what a detector leaves out, as sentences."""


def _blocks(setup: DetectorSetup) -> Detector:
    from bbllm_vision.detectors.blocks import BlocksDetector, others_of

    if others := others_of(setup.catalogue):
        setup.on_warning(
            f'{others} The detectors onnx and vlm do (detector:=vlm, --detector of bbllm up).'
        )
    return BlocksDetector(setup.catalogue, setup.fixtures)


def _vlm(setup: DetectorSetup) -> Detector:
    from bbllm.llm.models.factory import load_config, make_eyes
    from bbllm_vision.detectors.vlm import VlmDetector

    config = load_config(Path(setup.llm_config).expanduser() if setup.llm_config else None)
    model = make_eyes(config, choice=setup.model or None)
    if setup.account is not None:
        model = GuardedModel(setup.account, model, 'eyes')
    return VlmDetector(model, setup.catalogue, on_warning=setup.on_warning)


def _onnx(setup: DetectorSetup) -> Detector:
    from bbllm_vision.detectors.onnx_detector import OnnxDetector

    if not setup.model:
        raise ConfigError(
            'The detector onnx needs the file of its network: give the parameter detector_model, '
            'as in detector_model:=/home/me/detector.onnx (--detector-model of bbllm up).'
        )
    file = Path(setup.model).expanduser()
    return OnnxDetector(file, setup.catalogue, on_warning=setup.on_warning)


DETECTORS: Mapping[str, Callable[[DetectorSetup], Detector]] = {
    'blocks': _blocks,
    'onnx': _onnx,
    'vlm': _vlm,
}


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
