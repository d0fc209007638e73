"""The detector that the parameters of `perception` name. Needs no ROS."""

from collections.abc import Callable

from bbllm.core.episode import Account
from bbllm.scene.catalogue import Catalogue
from bbllm_ros.parameters.node_params import PerceptionParams
from bbllm_ros.parameters.scene_sources import SceneSource, read_sources
from bbllm_vision.detectors.detector import Detector
from bbllm_vision.detectors.registry import DetectorSetup, load_detector


def detector_of(
    params: PerceptionParams,
    on_warning: Callable[[str], None] = lambda text: None,
    account: Account | None = None,
) -> tuple[Detector, Catalogue]:
    """
    Read the files of the parameters; return the detector, and the objects that it can find.

    *on_warning* receives what the detector leaves out, as sentences; *account* is charged with the
    requests of one that asks a model.

    Raises:
        ConfigError: A file, a model or weights cannot be used, or no object is known.
        UnknownNameError: There is no detector, scene or catalogue of that name.
    """
    files = read_sources(SceneSource.CAMERA.value, params.scene, params.catalogue)
    setup = DetectorSetup(
        catalogue=files.catalogue,
        fixtures=files.fixtures,
        llm_config=str(params.llm_config or ''),
        model=params.detector_model,
        account=account,
        on_warning=on_warning,
    )
    return load_detector(params.detector, setup), files.catalogue
