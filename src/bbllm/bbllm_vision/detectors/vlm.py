"""
The detector `vlm`: a language model that takes images names objects and draws boxes around them.

Any OpenAI-compatible server will do. Boxes are numbers from 0 to 1000 across and down the picture,
not pixels, since servers scale pictures before the model sees them.
"""

from collections.abc import Callable, Iterable
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bbllm.core.errors import ParseError
from bbllm.core.protocols import ChatModel, JsonSchema
from bbllm.core.types import Pose
from bbllm.planners.common.prompting import ask
from bbllm.scene.camera import Mask, RgbdImage
from bbllm.scene.catalogue import Catalogue, CatalogueEntry
from bbllm.scene.detections import Detection
from bbllm.scene.picture_files import jpeg_of
from bbllm_vision.detectors.boxes import PictureBox, located

FULL = 1000
"""The right and the lower edge of the picture in the numbers of a box."""
MOST_OBJECTS = 100

Place = Annotated[float, Field(ge=0, le=FULL)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra='forbid', frozen=True, allow_inf_nan=False)


class SeenObject(_Strict):
    """One object in the reply of the model."""

    object_class: Annotated[str, Field(alias='class', max_length=100)]
    left: Place
    top: Place
    right: Place
    bottom: Place
    confidence: Annotated[float, Field(ge=0, le=1)]

    @model_validator(mode='after')
    def _has_an_area(self) -> 'SeenObject':
        if self.left >= self.right or self.top >= self.bottom:
            raise ValueError('left must be less than right, and top less than bottom')
        return self


class SeenObjects(_Strict):
    """The reply of the model."""

    objects: Annotated[tuple[SeenObject, ...], Field(max_length=MOST_OBJECTS)]


class VlmDetector:
    """
    Asks a model for boxes of the objects of a catalogue; see `bbllm_vision.detectors.detector`.

    Args:
        model: A model that takes images: the role `eyes` of config/llm.yaml.
        catalogue: The objects to find.
        on_warning: Receives a sentence for each second request, and for each box that has no
            depth.
    """

    name = 'vlm'

    def __init__(
        self,
        model: ChatModel,
        catalogue: Catalogue,
        *,
        on_warning: Callable[[str], None] = lambda text: None,
    ):
        self._model = model
        self._entries = {item.class_id or item.name: item for item in catalogue.entries}
        self._on_warning = on_warning

    def detect(
        self, image: RgbdImage, T_world_camera: Pose, *, ignored: Mask | None = None
    ) -> tuple[Detection, ...]:
        """
        Return what the model finds, located by the depth of the picture; see `Detector`.

        The model is sent the whole picture. Pixels that are ignored have no part in where an
        object is, and a box without other pixels is left out.

        Raises:
            ModelError: The model could not be asked, or takes no images.
            ParseError: Neither of two replies obeys the schema; the text says what is wrong.
        """
        boxes = self.boxes(image)
        return located(boxes, image, T_world_camera, ignored, self._on_warning)

    def boxes(self, image: RgbdImage) -> tuple[PictureBox, ...]:
        """Return the boxes that the model draws; raises as `detect` does."""
        height_px, width_px = image.depth_m.shape
        seen = ask(
            self._model,
            prompt_for(self._entries.values()),
            self._read,
            schema=_schema(tuple(self._entries)),
            on_retry=self._on_warning,
            images=(jpeg_of(image.rgb),),
        )
        return tuple(
            PictureBox(
                entry=self._entries[item.object_class],
                left_px=item.left / FULL * width_px,
                top_px=item.top / FULL * height_px,
                right_px=item.right / FULL * width_px,
                bottom_px=item.bottom / FULL * height_px,
                confidence=item.confidence,
            )
            for item in seen.objects
        )

    def _read(self, text: str) -> SeenObjects:
        """Parse a reply; raises ParseError with what is wrong and what would be right."""
        begin, end = text.find('{'), text.rfind('}') + 1  # models put fences around JSON
        try:
            seen = SeenObjects.model_validate_json(text[begin:end] if begin >= 0 else text)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_context=False)[0]
            place = '.'.join(map(str, fault['loc'])) or 'the reply'
            raise ParseError(f'{place}: {fault["msg"]}. {_FORM}') from None
        for item in seen.objects:
            if item.object_class not in self._entries:
                known = ', '.join(self._entries)
                raise ParseError(
                    f'There is no class {item.object_class[:60]!r}. The classes are: {known}.'
                )
        return seen


_FORM = (
    'Reply with one JSON object: {"objects": [{"class": ..., "left": ..., "top": ..., "right": '
    '..., "bottom": ..., "confidence": ...}]}, with left, top, right and bottom from 0 to '
    f'{FULL}.'
)


def prompt_for(entries: Iterable[CatalogueEntry]) -> str:
    """Return the text that goes with the picture."""
    listed = '\n'.join(f'- {_described(item)}' for item in entries)
    return (
        'The picture shows a table with objects. Find each object of the classes below, and draw '
        'the smallest upright box around all of it that can be seen.\n'
        f'The numbers of a box go from 0 to {FULL}: left and right from the left edge of the '
        'picture to the right one, top and bottom from the upper edge to the lower one.\n'
        'Leave out classes that the picture does not show, and objects of no class. Several '
        'objects of one class are several entries. The confidence is how sure you are, from 0 to '
        f'1.\n\nClasses:\n{listed}\n\n{_FORM}'
    )


def _described(entry: CatalogueEntry) -> str:
    size_mm = ' x '.join(f'{1000 * length:.0f}' for length in entry.size_m)
    return f'{entry.class_id or entry.name}: {entry.kind}, {entry.color}, {size_mm} mm'


def _schema(classes: tuple[str, ...]) -> JsonSchema:
    """Return the schema of the reply in the strict form: all required, nothing additional."""
    numbers = ('left', 'top', 'right', 'bottom', 'confidence')
    seen = {
        'type': 'object',
        'properties': {
            'class': {'type': 'string', 'enum': list(classes)},
            **{name: {'type': 'number'} for name in numbers},
        },
        'required': ['class', *numbers],
        'additionalProperties': False,
    }
    return {
        'type': 'object',
        'properties': {'objects': {'type': 'array', 'items': seen}},
        'required': ['objects'],
        'additionalProperties': False,
    }
