"""Pictures of the cameras with boxes and names around what was found in them, for people."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from bbllm.core.paths import camera_pictures, write_whole
from bbllm.scene.camera import RgbdImage
from bbllm.scene.detections import Detection

SMALLEST_M = 0.04
"""Of an object whose size the detector does not report."""
MARGIN = 0.75
"""Half of a box, as a share of the object's longest edge: what is turned is in it too."""
BOX = '#ffb81a'

Seen = tuple[RgbdImage, tuple[Detection, ...]]


class MarkedPictures:
    """Keeps the newest picture of each camera, and beside a journal the first and the last."""

    def __init__(self) -> None:
        self._newest: dict[str, Seen] = {}
        self._drawn: dict[str, tuple[RgbdImage, bytes]] = {}
        self._first: dict[str, Seen] | None = None

    def take(self, camera: str, image: RgbdImage, found: Iterable[Detection]) -> None:
        """Keep a picture and what was found in it."""
        seen = image, tuple(found)
        self._newest[camera] = seen
        if self._first is not None:
            self._first.setdefault(camera, seen)

    def newest(self) -> Mapping[str, bytes]:
        """Return the newest picture of each camera as a JPEG file, by the camera's name."""
        for camera, (image, found) in [*self._newest.items()]:
            if camera not in self._drawn or self._drawn[camera][0] is not image:
                self._drawn[camera] = image, marked(image, found)
        return {camera: data for camera, (_, data) in self._drawn.items()}

    @contextmanager
    def recorded(self, journal: Path) -> Iterator[None]:
        """Write the first and the last picture of each camera beside a journal at the end."""
        self._first = {**self._newest}
        try:
            yield
        finally:
            first, self._first = self._first, None
            for moment, pictures in (('before', first), ('after', self._newest)):
                for camera, (image, found) in pictures.items():
                    with suppress(OSError):  # a full disk ends no episode
                        path = camera_pictures(journal, camera, moment)
                        write_whole(path, marked(image, found))


def marked(image: RgbdImage, found: Iterable[Detection]) -> bytes:
    """Return a picture with a box and a name around each detection, as a JPEG file."""
    picture, lens = Image.fromarray(image.rgb), image.intrinsics
    height = max(11, lens.height_px // 40)
    draw, font = ImageDraw.Draw(picture), ImageFont.load_default(height)
    for item in found:
        x, y, z = item.position_m
        if z <= 0:
            continue
        half = MARGIN * (max(item.size_m) or SMALLEST_M) * lens.fx_px / z
        u, v = lens.fx_px * x / z + lens.cx_px, lens.fy_px * y / z + lens.cy_px
        draw.rectangle((u - half, v - half, u + half, v + half), outline=BOX, width=2)
        place = (u - half, max(0.0, v - half - height - 3))
        draw.rectangle(draw.textbbox(place, item.name, font=font), fill='#1b2228')
        draw.text(place, item.name, fill=BOX, font=font)
    file = io.BytesIO()
    picture.save(file, 'JPEG', quality=85)
    return file.getvalue()
