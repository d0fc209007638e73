import numpy as np

from bbllm.robots.fr3 import FR3
from bbllm_bench.safety.limit_audit import FIGURES


def test_velocity_limits_at_the_ready_posture_are_the_published_ones() -> None:
    lower, upper = FR3.limits.velocity_limits(FR3.home_rad)

    # From the documented formula; joint 6 is held back by the old one, which gives -3.0158.
    documented = [-2.62, -2.079, -2.62, -2.048, -5.26, -3.0158, -5.26]
    # libfranka takes 0.001 off; the figures above do not.
    np.testing.assert_allclose(lower, np.array(documented) + 1e-3, atol=1e-3)
    assert (upper > 0).all()


def test_velocity_limits_agree_with_the_formulas_that_the_audit_reads() -> None:
    random = np.random.default_rng(5)

    for q in random.uniform(
        FR3.limits.lower_rad - 0.05, FR3.limits.upper_rad + 0.05, size=(200, 7)
    ):
        lower, upper = FR3.limits.velocity_limits(q)
        up = [figures.fastest_up(angle) for figures, angle in zip(FIGURES, q, strict=True)]
        down = [figures.fastest_down(angle) for figures, angle in zip(FIGURES, q, strict=True)]
        assert (upper <= np.array(up)).all()
        assert (lower >= np.array(down)).all()
        np.testing.assert_allclose(upper, up, atol=1.1e-3)
        np.testing.assert_allclose(lower, down, atol=1.1e-3)


def test_speed_limits_are_the_velocity_limits_of_each_direction() -> None:
    random = np.random.default_rng(6)
    q = random.uniform(FR3.limits.lower_rad - 0.05, FR3.limits.upper_rad + 0.05, size=(200, 7))
    direction = random.uniform(-1.0, 1.0, size=q.shape)
    lower, upper = FR3.limits.velocity_limits(q)

    expected = np.where(direction > 0, upper, -lower)
    np.testing.assert_array_equal(FR3.limits.speed_limits(q, direction), expected)
