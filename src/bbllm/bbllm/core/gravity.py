"""What things weigh."""

from __future__ import annotations

GRAVITY_M_S2 = 9.81
"""As MuJoCo has it too [m/s^2]: a kilogram weighs so many newtons."""
