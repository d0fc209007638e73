"""The noise of the force sensor of a scene; a simulation with a seed applies it."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from bbllm.arm.driver import Array

FORCE_NOISE_N = 0.2
"""Standard deviation of one reading of the wrench's force, and of its bias [N]."""
TORQUE_NOISE_NM = 0.02
"""The same of its torque; it grows with that of the force [Nm]."""
NOISIEST_N = 5.0
"""More than this, and a lift would often be taken for a block that does not rise (10 N) [N]."""

Noise = Annotated[float, Field(ge=0, le=NOISIEST_N, allow_inf_nan=False)]


class ForceNoise(BaseModel):
    """Standard deviations, of each axis by itself [N]."""

    model_config = ConfigDict(extra='forbid', frozen=True)

    sd: Noise = FORCE_NOISE_N
    """Of one reading, around what is true and the bias."""
    bias: Noise = FORCE_NOISE_N
    """Of the bias, which is drawn anew for every episode and stays through it."""


class WrenchNoise:
    """What is added to the readings of a wrench: a bias that stays, and scatter."""

    def __init__(self, noise: ForceNoise, seed: int):
        self._scatter = _scale(noise.sd)
        self._bias_scale = _scale(noise.bias)
        self._dice = np.random.default_rng(seed)
        self._bias: Array = np.zeros(6)

    def draw_bias(self) -> None:
        """Begin an episode: draw the bias of force and torque."""
        self._bias = self._dice.normal(0.0, 1.0, 6) * self._bias_scale

    def draw(self) -> Array:
        """Return what the next reading is off by: force, then torque, shape (6,) [N, Nm]."""
        return np.asarray(self._bias + self._dice.normal(0.0, 1.0, 6) * self._scatter)


def _scale(force_n: float) -> Array:
    return np.repeat([force_n, force_n / FORCE_NOISE_N * TORQUE_NOISE_NM], 3)
