"""How honest the sensors of a table are that the command line builds."""

from __future__ import annotations

import numpy as np
import pytest

from bbllm.api.options import EpisodeOptions
from bbllm.api.stage import open_stage
from bbllm.worlds.tabletop.tabletop import TabletopWorld


def forces(seed: int | None) -> np.ndarray:
    """Read the force on the hand at one moment again and again, shape (400, 3) [N]."""
    with open_stage(EpisodeOptions(scene='tabletop', seed=seed)) as stage:
        assert isinstance(stage.world, TabletopWorld)
        return np.array([stage.world.robot.flange_wrench()[:3] for _ in range(400)])


def test_without_a_seed_sensors_are_noisy_all_the_same_and_always_alike() -> None:
    told = forces(None)

    assert told.std(axis=0) == pytest.approx(0.2, rel=0.2)
    assert (told == forces(0)).all()
    assert (told != forces(1)).all()
