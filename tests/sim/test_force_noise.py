"""How noisy the force on the hand is read, and where a scene says so."""

import numpy as np
import pytest

from bbllm.core.errors import SceneFileError
from bbllm.scene.scene_file import FORCE_NOISE_N, TORQUE_NOISE_NM, make_scene
from bbllm.sim.simulation import Simulation


def readings_of(seed: int | None, **noise: float) -> np.ndarray:
    """Return 400 readings of an empty hand at rest, shape (400, 6) [N, Nm]."""
    simulation = Simulation(make_scene({'force_noise_n': noise} if noise else {}), seed=seed)
    return np.array([simulation.flange_wrench() for _ in range(400)])


def test_a_scene_states_how_much_readings_scatter() -> None:
    scatter = readings_of(4, sd=1.0, bias=0.0).std(axis=0)

    assert scatter[:3] == pytest.approx([1.0] * 3, rel=0.15)
    assert scatter[3:] == pytest.approx([TORQUE_NOISE_NM / FORCE_NOISE_N] * 3, rel=0.15)


def test_a_bias_stays_through_an_episode_and_is_another_in_the_next() -> None:
    simulation = Simulation(make_scene({'force_noise_n': {'sd': 0.0, 'bias': 1.0}}), seed=4)
    first, second = simulation.flange_wrench(), simulation.flange_wrench()
    simulation.reset()

    assert first == pytest.approx(second, abs=1e-9)
    assert simulation.flange_wrench() != pytest.approx(first, abs=1e-3)


@pytest.mark.parametrize(
    ('noise', 'wording'),
    [
        ({'sd': -1}, 'force_noise_n: sd = .-1. will not do'),
        ({'bias': float('nan')}, 'force_noise_n: bias'),
        ({'sd': 6}, 'less than or equal to 5'),
        ({'std': 1}, "force_noise_n: unknown field 'std'; did you mean 'sd'"),
        (0.3, 'force_noise_n = .0.3. will not do'),
    ],
)
def test_noise_that_cannot_be_is_refused_by_its_name(noise: object, wording: str) -> None:
    with pytest.raises(SceneFileError, match=wording):
        make_scene({'force_noise_n': noise})
