"""Pictures as files."""

import io

from PIL import Image

from bbllm.scene.camera import Pixels

QUALITY = 90
"""A noisy picture of 848 x 480 pixels has 41 kB with it, and 558 kB as a PNG."""


def jpeg_of(rgb: Pixels) -> bytes:
    """Return a picture, shape (height, width, 3), as a JPEG file."""
    file = io.BytesIO()
    Image.fromarray(rgb).save(file, format='JPEG', quality=QUALITY)
    return file.getvalue()
