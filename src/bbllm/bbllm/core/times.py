"""Times as the project compares them."""

from __future__ import annotations

SAME_S = 1e-6
"""Times that differ by less are the same: as floats and in messages they are rounded [s]."""
