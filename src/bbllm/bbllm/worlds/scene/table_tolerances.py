"""What counts where a condition on a table has no figures."""

from bbllm.files.yaml_files import FileRecord
from bbllm.scene.relations import REST_GAP_M
from bbllm.skills.effects import LOCATION_RADIUS_M

SLACK_M = 1e-6
"""Limits include what is on them, as far as floats go [m]."""


class TableTolerances(FileRecord):
    """
    What counts where a condition has no figures; widths are those of the objects themselves.

    A suite file may state others. Its goals in `tabletop` have the same for cubes of 4 cm.
    """

    level_m: float = REST_GAP_M
    """How far undersides may be from what they are level with [m]."""
    location_m: float = LOCATION_RADIUS_M
    """How far a middle may be from that of a location it is on [m]."""
    middle_m: float | None = None
    """How far a middle may be from that of an object it is on [m]; None: any overlap will do."""
    rim_m: float = 0.0
    """How far inside the outer edge of a container a middle must be to be in it [m]."""
    still_m: float | None = None
    """How far what has not moved may be from where it was [m]; None: by `offset`."""
    tilt_deg: float | None = None
    """How far what stands on something may lean, a cube off a face of its own, a cylinder off its
    axis [deg]; None: as far as it likes."""
    offset: float = 0.5
    """How far a middle must be beyond a line or from where it was, and may be from a place or a
    straight line [widths]."""
    beside: float = 1.0
    """How far apart two objects beside each other may be [widths of the larger]."""
    gap: float = 2.5
    """Largest distance of neighbours in a line or a plus sign, between middles [widths]."""
    residual: float = 0.3
    """How far an object may be from its place in a plus sign [widths]."""
    turn_deg: float = 15.0
    """How far a plus sign may be turned against x and y [deg]."""
    within_m: float = 0.01
    """How far a length may be from an amount, and what is unchanged from where it was [m]."""
    within_deg: float = 5.0
    """The same for angles [deg]."""
    bound: float = 0.2
    """How far a length or an angle may be beyond a bound [parts of these]."""


DEFAULTS = TableTolerances()
