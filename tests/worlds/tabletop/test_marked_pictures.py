"""Pictures of cameras, with what was found in them."""

import io
from pathlib import Path

import numpy as np
from PIL import Image

from bbllm.scene.camera import Intrinsics, RgbdImage
from bbllm.scene.detections import Detection
from bbllm.worlds.tabletop.marked_pictures import BOX, MarkedPictures

LENS = Intrinsics(width_px=320, height_px=240, fx_px=300.0, fy_px=300.0, cx_px=160.0, cy_px=120.0)
FOUND = Detection(name='red_cube', position_m=(0.1, 0.05, 1.0), quat_xyzw=(0.0, 0.0, 0.0, 0.0))
BEHIND = Detection(name='behind', position_m=(0.0, 0.0, -1.0), quat_xyzw=(0.0, 0.0, 0.0, 1.0))


def image(grey: int) -> RgbdImage:
    return RgbdImage(
        rgb=np.full((240, 320, 3), grey, dtype=np.uint8),
        depth_m=np.ones((240, 320), dtype=np.float32),
        intrinsics=LENS,
        stamp_s=1.0,
        frame='camera',
    )


def pixels(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)).convert('RGB')).astype(int)


def test_a_box_stands_around_what_was_found() -> None:
    pictures = MarkedPictures()
    pictures.take('table', image(200), [FOUND, BEHIND])
    picture = pixels(pictures.newest()['table'])

    like_box = np.abs(picture - [int(BOX[i : i + 2], 16) for i in (1, 3, 5)]).sum(axis=2) < 90
    rows, columns = np.nonzero(like_box[120:])  # below its name
    assert 175 <= columns.min() <= 185 <= 195 <= columns.max() <= 205
    assert 135 <= rows.max() + 120 <= 150


def test_first_and_last_picture_are_beside_the_journal(tmp_path: Path) -> None:
    pictures, journal = MarkedPictures(), tmp_path / 'e1.jsonl'
    pictures.take('table', image(10), [])
    with pictures.recorded(journal):
        for grey in (100, 250):
            pictures.take('table', image(grey), [])
            pictures.take('hand', image(grey), [])
    pictures.take('hand', image(0), [])

    greys = {x.name: round(pixels(x.read_bytes()).mean()) for x in tmp_path.iterdir()}
    assert greys == {
        'e1-camera-table-before.jpg': 10,
        'e1-camera-table-after.jpg': 250,
        'e1-camera-hand-before.jpg': 100,
        'e1-camera-hand-after.jpg': 250,
    }
