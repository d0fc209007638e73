"""Videos as files: GIF and WebP by Pillow, MP4 by PyAV."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from bbllm.core.errors import ConfigError
from bbllm.core.plugins import how_to_install

VIDEO_SUFFIXES = ('.gif', '.webp', '.mp4')
SHADE_BITS = 2
"""Colours that differ in so many low bits alone are one to a palette."""
COLORS = 255
"""Of a GIF; one more stands for what is as before, which makes files a third as large."""
KEPT = 32
"""Colours of a palette that are those of the pictures to the last bit."""
RGB = np.array((1 << 16, 1 << 8, 1), np.int32)
"""What makes one number of a colour."""
PICTURES = 12
"""Of so many, all pixels count for a palette."""
X264 = {'crf': '23', 'preset': 'veryfast'}
"""The quality of an MP4 is x264's default; its default preset takes twice as long for as much."""


def need_encoder(suffix: str) -> None:
    """Raise ConfigError where the library that writes such files is missing."""
    if suffix != '.mp4':
        return
    try:
        import av  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            f'An .mp4 file needs the package av; {how_to_install("video")}. Files that end in '
            '.gif or .webp need nothing more.'
        ) from error


def video_bytes(pictures: Iterable[Image.Image], suffix: str, fps: float) -> bytes:
    """
    Return a video of pictures that are of one size; one that comes again is best the same object.

    GIF and WebP repeat for ever. Raises ConfigError, see `need_encoder`.
    """
    need_encoder(suffix)
    file = io.BytesIO()
    if suffix == '.mp4':
        _write_mp4(file, pictures, fps)
    else:
        _write_animation(file, pictures, suffix, fps)
    return file.getvalue()


def palette_of(pictures: Sequence[Image.Image]) -> Image.Image:
    """
    Return one palette for all pictures, so that what does not move takes no space in a GIF.

    The most frequent colours are kept as they are: those of areas of one colour. Of the others, a
    colour counts by the root of its number of pixels: those of objects are few, and tell the
    objects apart, while a table has most of all.
    """
    # Of many pictures a part of the pixels, since a colour may be in a single picture.
    stride = max(1, math.isqrt(len(pictures) // PICTURES))
    parts = [np.asarray(picture)[::stride, ::stride] for picture in pictures]
    values = np.concatenate([part.reshape(-1, 3) for part in parts])
    numbers, counts = np.unique(values.astype(np.int32) @ RGB, return_counts=True)
    kept = _colors(numbers[np.argsort(counts)[-KEPT:]])
    shades, which = np.unique(
        (_colors(numbers) >> SHADE_BITS << SHADE_BITS) @ RGB, return_inverse=True
    )
    weights = np.sqrt(np.bincount(which, counts))
    often = np.repeat(_colors(shades), np.ceil(weights).astype(int), axis=0)
    half = 1 << SHADE_BITS >> 1
    pixels = Image.fromarray((often + half)[np.newaxis].astype(np.uint8))
    chosen = pixels.quantize(COLORS - len(kept), kmeans=4).getpalette() or []
    palette = Image.new('P', (1, 1))
    palette.putpalette([*kept.ravel().tolist(), *chosen][: 3 * COLORS])
    return palette


def _colors(numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return colours, shape (n, 3), of their numbers."""
    return np.stack([numbers >> 16, numbers >> 8 & 255, numbers & 255], axis=-1)


def _write_animation(
    file: io.BytesIO, pictures: Iterable[Image.Image], suffix: str, fps: float
) -> None:
    drawn, counts = list[Image.Image](), list[int]()
    for picture in pictures:
        if drawn and picture is drawn[-1]:  # it stands still
            counts[-1] += 1
        else:
            drawn.append(picture)
            counts.append(1)
    more: dict[str, Any] = {'quality': 80, 'method': 3}
    if suffix == '.gif':
        palette = palette_of(drawn)
        drawn = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in drawn]
        more = {'optimize': True, 'disposal': 1}
    first, *rest = drawn
    durations_ms = [round(1000 / fps) * count for count in counts]
    more |= {'append_images': rest, 'duration': durations_ms, 'loop': 0}
    first.save(file, suffix[1:], save_all=True, **more)


def _write_mp4(file: io.BytesIO, pictures: Iterable[Image.Image], fps: float) -> None:
    """Write H.264, which browsers, phones and slides play; its sides have to be even."""
    import av

    picture_of: Any = av.VideoFrame.from_image
    with av.open(file, 'w', format='mp4') as container:
        stream: Any = None
        for picture in pictures:
            if stream is None:
                rate = Fraction(fps).limit_denominator(1000)
                stream = container.add_stream('libx264', rate=rate, options=X264)
                stream.width, stream.height = (side // 2 * 2 for side in picture.size)
                stream.pix_fmt = 'yuv420p'
            whole = picture.crop((0, 0, stream.width, stream.height))
            container.mux(stream.encode(picture_of(whole)))
        if stream is not None:
            container.mux(stream.encode())
