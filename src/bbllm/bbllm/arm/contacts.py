"""The record of the forces at which the robot itself stops; `arm.contact_limits` sets them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactLimits:
    """
    From where on the robot feels a contact, and from where on it stops by itself, at 1 kHz.

    It holds what it estimates from outside against them: the torque of each joint, and the wrench
    at the hand, three forces and then three torques.
    """

    contact_joint_nm: tuple[float, ...]
    """Above it a joint feels a contact, which stops nothing, shape (7,) [Nm]."""
    collision_joint_nm: tuple[float, ...]
    """Above it a joint has run into something, and the robot stops, shape (7,) [Nm]."""
    contact_wrench: tuple[float, ...]
    """As the first, for the wrench, shape (6,) [N, Nm]."""
    collision_wrench: tuple[float, ...]
    """As the second, for the wrench, shape (6,) [N, Nm]."""
