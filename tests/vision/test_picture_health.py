"""Pictures that are frozen, covered or of another size are faults; good ones are not."""

from dataclasses import replace

import numpy as np
import pytest

from bbllm.scene.camera import Intrinsics, RgbdImage
from bbllm_vision.picture_health import HealthLimits, PictureHealth, depth_share


def picture(seed: int = 0, width: int = 64, height: int = 48) -> RgbdImage:
    """Return a picture of a noisy sensor."""
    rng = np.random.default_rng(seed)
    rgb = np.full((height, width, 3), 120, np.uint8) + rng.integers(0, 3, (height, width, 3))
    camera = Intrinsics(
        width_px=width, height_px=height, fx_px=60.0, fy_px=60.0, cx_px=32.0, cy_px=24.0
    )
    return RgbdImage(
        rgb=rgb.astype(np.uint8),
        depth_m=rng.normal(0.8, 0.001, (height, width)).astype(np.float32),
        intrinsics=camera,
        stamp_s=1.0 + seed,
        frame='camera',
    )


def reason_of(health: PictureHealth, image: RgbdImage) -> str:
    fault = health.judge(image)
    return fault.reason if fault else ''


def test_content_that_stays_is_frozen_though_its_stamps_go_on_and_ends_with_a_new_one() -> None:
    health = PictureHealth(HealthLimits(frozen_after=3))
    same = [replace(picture(0), stamp_s=float(i)) for i in range(5)]

    reasons = [reason_of(health, image) for image in (*same, picture(1))]

    assert reasons == ['', '', '', 'frozen', 'frozen', '']


def test_one_stream_that_changes_is_not_frozen() -> None:
    health = PictureHealth(HealthLimits(frozen_after=1))
    images = [replace(picture(0), depth_m=picture(i).depth_m) for i in range(4)]

    assert [reason_of(health, image) for image in images] == [''] * 4


def test_frozen_pictures_can_be_allowed() -> None:
    health = PictureHealth(HealthLimits(frozen_after=0))

    assert [reason_of(health, picture(0)) for _ in range(20)] == [''] * 20


def test_black_picture_is_covered() -> None:
    dark = np.minimum(picture().rgb, 10)

    fault = PictureHealth().judge(replace(picture(), rgb=dark))

    assert fault and fault.reason == 'covered'
    assert 'black' in fault.text


@pytest.mark.parametrize(('share', 'reason'), [(0.25, 'covered'), (0.35, '')])
def test_picture_with_little_depth_is_covered(share: float, reason: str) -> None:
    image = picture()
    image.depth_m[:, int(64 * share) :] = 0.0

    assert depth_share(image) == pytest.approx(share, abs=0.01)
    assert reason_of(PictureHealth(), image) == reason


def test_size_that_changes_is_a_fault_until_it_is_back() -> None:
    health = PictureHealth()

    sizes = [(64, 48), (32, 24), (32, 24), (64, 48)]
    faults = [health.judge(picture(i, *size)) for i, size in enumerate(sizes)]

    assert [fault.reason if fault else '' for fault in faults] == ['', 'size', 'size', '']
    assert faults[1] and 'from 64 x 48 to 32 x 24' in faults[1].text


def test_sizes_of_colour_depth_and_info_must_agree() -> None:
    image = picture()

    depth = PictureHealth().judge(replace(image, depth_m=image.depth_m[::2, ::2]))
    info = PictureHealth().judge(
        replace(image, intrinsics=replace(image.intrinsics, width_px=128))
    )

    assert depth and 'depth of 32 x 24' in depth.text and 'align_depth.enable:=true' in depth.text
    assert info and 'camera_info of 128 x 48' in info.text
