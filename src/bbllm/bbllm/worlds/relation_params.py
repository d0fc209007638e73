"""How near things have to be to each other for a relation to hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationParams:
    """How near is near enough."""

    max_age_s: float = 1.0
    """A scene older than this is an error [s]."""
    rest_gap_m: float = 0.01
    """Largest gap, or overlap, between a thing and what it rests on [m]."""
    location_radius_m: float = 0.02
    """A thing is on a location when its centre is this near to it [m]."""
    neighbour_m: float = 0.15
    """How far apart neighbours may be [m]."""
    pad_half_m: float = 0.009
    """Half extent of a finger pad [m]."""
    pad_overlap_m: float = 0.002
    """How much of a pad must be on a thing for it to be held [m]."""
    off_middle_m: float = 0.01
    """How far a held thing's centre may be from the middle between the fingers [m]."""
    width_below_m: float = 0.004
    width_above_m: float = 0.0025
    """Fingers hold a thing when they are at most this much nearer together, or further apart,
    than it is wide [m]."""
