"""Numbers that several rooms share."""

from __future__ import annotations

GRAVITY_M_S2 = 9.81
"""Standard gravity as in MuJoCo [m/s^2]."""
SAME_S = 1e-6
"""Times that differ by less are equal, because floats and messages round them [s]."""
