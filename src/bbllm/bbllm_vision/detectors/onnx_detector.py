"""
The detector `onnx`: a network in an ONNX file that the user names.

The signature is that of YOLOv8's and YOLO-World's exports, with the classes fixed at export:

    input   images   float32 (1, 3, height, width), red, green, blue, from 0 to 1
    output  output0  float32 (1, 4 + classes, anchors): centre x, centre y, width and height of a
                     box [px of the input], then a score from 0 to 1 of each class

Names of input and output are free. A side of the input that the file leaves open is `OPEN_PX`.
Names of classes come from the file's metadata `names` (a dictionary in the notation of Python, as
the exporter of ultralytics writes it) or from a text file with one a line.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from bbllm.core.errors import ConfigError
from bbllm.core.plugins import how_to_install
from bbllm.core.types import Pose
from bbllm.scene.camera import Mask, Pixels, RgbdImage
from bbllm.scene.catalogue import Catalogue, CatalogueEntry
from bbllm.scene.detections import Detection
from bbllm_vision.detectors.boxes import PictureBox, located

if TYPE_CHECKING:
    import onnxruntime

OPEN_PX = 640
"""Side of the input where the file leaves it open [px]."""
LEAST_SCORE = 0.25
MOST_OVERLAP = 0.45
"""Boxes of one class that overlap by more (intersection over union) are one object."""
GREY = 114
"""Colour of the margins that make the picture as wide and as high as the input."""
SIGNATURE = (
    'The detector onnx takes a network with one input, float32 (1, 3, height, width), and one '
    'output, float32 (1, 4 + classes, anchors), as `yolo export format=onnx nms=False` writes it.'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fit:
    """How a picture lies in the input of the network."""

    scale: float
    """Pixels of the input per pixel of the picture."""
    left_px: int
    top_px: int


class OnnxDetector:
    """
    Finds the objects of a catalogue by a network; see `bbllm_vision.detectors.detector`.

    Args:
        file: The network.
        catalogue: The objects to find, each by its `class_id` or name.
        names_file: A text file with the name of a class on each line; None: the metadata.
        least_score: Boxes with a lower score are left out.
        on_warning: Receives a sentence for each box without depth.

    Raises ConfigError where onnxruntime is missing, the file is no network, or its signature,
    its classes or their number do not fit; the text says what would.
    """

    name = 'onnx'

    def __init__(
        self,
        file: Path,
        catalogue: Catalogue,
        *,
        names_file: Path | None = None,
        least_score: float = LEAST_SCORE,
        on_warning: Callable[[str], None] = lambda text: None,
    ):
        self._session = _opened(file)
        self._input, self._size_px = _input_of(self._session, file)
        names = _names(self._session, file, names_file)
        _check_output(self._session, file, len(names))
        self._entries = _entries(names, catalogue, file)
        self._least_score = least_score
        self._on_warning = on_warning

    def detect(
        self, image: RgbdImage, T_world_camera: Pose, *, ignored: Mask | None = None
    ) -> tuple[Detection, ...]:
        """
        Return what the network finds, located by the depth of the picture; see `Detector`.

        The network gets the whole picture. Pixels that are ignored have no part in where an
        object is, and a box without other pixels is left out.
        """
        boxes = self.boxes(image)
        return located(boxes, image, T_world_camera, ignored, self._on_warning)

    def boxes(self, image: RgbdImage) -> tuple[PictureBox, ...]:
        """
        Return the boxes of objects of the catalogue, the surest first.

        Raises:
            ConfigError: The output is not what the signature promises.
        """
        blob, fit = _fitted(image.rgb, self._size_px)
        (output,) = self._session.run(None, {self._input: blob})
        rows = np.asarray(output)
        n_classes = len(self._entries)
        if rows.ndim != 3 or rows.shape[:2] != (1, 4 + n_classes):
            raise ConfigError(
                f'The output of the network has the shape {rows.shape} for {n_classes} classes. '
                f'{SIGNATURE}'
            )
        return tuple(self._kept(rows[0].T, fit))

    def _kept(self, rows: NDArray[np.float32], fit: _Fit) -> list[PictureBox]:
        """Return the best of the boxes that overlap, of rows of shape (anchors, 4 + classes)."""
        scores = rows[:, 4:]
        best = scores.argmax(axis=1)
        score = scores[np.arange(len(rows)), best]
        likely = np.isfinite(rows).all(axis=1) & (score >= self._least_score)
        centre, size = rows[likely, :2], rows[likely, 2:4]
        corners = np.concatenate((centre - size / 2, size), axis=1)
        kept = cv2.dnn.NMSBoxesBatched(
            corners.tolist(),
            score[likely].tolist(),
            best[likely].tolist(),
            self._least_score,
            MOST_OVERLAP,
        )
        found = []
        for i in np.asarray(kept, dtype=int).reshape(-1):
            entry = self._entries[int(best[likely][i])]
            if entry is None:
                continue
            left, top, wide, high = (float(value) for value in corners[i])
            left, top = (left - fit.left_px) / fit.scale, (top - fit.top_px) / fit.scale
            found.append(
                PictureBox(
                    entry=entry,
                    left_px=left,
                    top_px=top,
                    right_px=left + wide / fit.scale,
                    bottom_px=top + high / fit.scale,
                    confidence=min(float(score[likely][i]), 1.0),
                )
            )
        return sorted(found, key=lambda box: -box.confidence)


def _opened(file: Path) -> onnxruntime.InferenceSession:
    try:
        import onnxruntime
    except ImportError:
        raise ConfigError(
            f'The detector onnx needs onnxruntime; {how_to_install("onnx")}. The detector blocks '
            'works without it.'
        ) from None
    if not file.is_file():
        raise ConfigError(f'There is no file {file} for the detector onnx. {SIGNATURE}')
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # one core is the detector's share
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(file), options, providers=['CPUExecutionProvider'])
    except Exception as error:  # onnxruntime raises classes of its own for each kind of fault
        why = ' '.join(str(error).split())[:200]
        raise ConfigError(f'{file} cannot be read as an ONNX network: {why}') from None


def _input_of(session: onnxruntime.InferenceSession, file: Path) -> tuple[str, tuple[int, int]]:
    """Return name, and height and width, of the input."""
    inputs = session.get_inputs()
    shape = inputs[0].shape if len(inputs) == 1 else []
    fixed = [side if isinstance(side, int) else None for side in shape]
    fits = len(fixed) == 4 and fixed[0] in (1, None) and fixed[1] in (3, None)
    if not fits or inputs[0].type != 'tensor(float)':
        raise ConfigError(f'{file} has {_reported(inputs, "input")}. {SIGNATURE}')
    return inputs[0].name, (fixed[2] or OPEN_PX, fixed[3] or OPEN_PX)


def _check_output(session: onnxruntime.InferenceSession, file: Path, n_classes: int) -> None:
    outputs = session.get_outputs()
    shape = outputs[0].shape if len(outputs) == 1 else []
    if len(shape) != 3 or outputs[0].type != 'tensor(float)':
        raise ConfigError(f'{file} has {_reported(outputs, "output")}. {SIGNATURE}')
    if isinstance(shape[1], int) and shape[1] != 4 + n_classes:
        raise ConfigError(
            f'{file} has {_reported(outputs, "output")}, which is for {shape[1] - 4} classes, but '
            f'{n_classes} names of classes. {SIGNATURE}'
        )


def _reported(values: Sequence[onnxruntime.NodeArg], what: str) -> str:
    listed = ', '.join(f'{item.name} {item.type} {tuple(item.shape)}' for item in values)
    return f'the {what}{"s" if len(values) > 1 else ""} {listed}'


def _names(
    session: onnxruntime.InferenceSession, file: Path, names_file: Path | None
) -> tuple[str, ...]:
    """Return the names of the classes in their order."""
    if names_file is not None:
        try:
            lines = names_file.read_text(encoding='utf-8').splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, 'strerror', None) or 'it is not UTF-8 text'
            raise ConfigError(f'Cannot read the classes in {names_file}: {reason}.') from None
        return tuple(line.strip() for line in lines if line.strip())
    text = session.get_modelmeta().custom_metadata_map.get('names', '')
    try:
        data = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        data = None
    if isinstance(data, Mapping) and sorted(data) == list(range(len(data))) and data:
        return tuple(str(data[i]) for i in range(len(data)))
    raise ConfigError(
        f'{file} has no metadata `names` like {{0: "red_cube", 1: "blue_cube"}}. Name a text file '
        'with one class a line.'
    )


def _entries(
    names: Sequence[str], catalogue: Catalogue, file: Path
) -> tuple[CatalogueEntry | None, ...]:
    """Return the object of each class; None for a class that no object has."""
    entries = tuple(catalogue.named(name) for name in names)
    if not any(entries):
        listed = ', '.join(names[:12]) + (' ...' if len(names) > 12 else '')
        raise ConfigError(
            f'No object of the catalogue has a class of {file}. The file has: {listed}. The '
            f'catalogue has: {", ".join(catalogue.names)}; set `class_id` there.'
        )
    return entries


def _fitted(rgb: Pixels, size_px: tuple[int, int]) -> tuple[NDArray[np.float32], _Fit]:
    """Return a picture as the input, shape (1, 3, height, width), with margins at its sides."""
    height, width = size_px
    scale = min(height / rgb.shape[0], width / rgb.shape[1])
    high, wide = round(rgb.shape[0] * scale), round(rgb.shape[1] * scale)
    left, top = (width - wide) // 2, (height - high) // 2
    canvas = np.full((height, width, 3), GREY, np.uint8)
    canvas[top : top + high, left : left + wide] = cv2.resize(rgb, (wide, high))
    blob = canvas.transpose(2, 0, 1)[np.newaxis].astype(np.float32) / 255.0
    return blob, _Fit(scale=scale, left_px=left, top_px=top)
