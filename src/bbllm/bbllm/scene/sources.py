"""Where the scenes of a simulated table come from, as options name it."""

from typing import Literal

Sources = Literal['truth', 'camera']
"""`truth`: the state of the simulator. `camera`: pictures of simulated cameras alone."""
TroubleName = Literal['none', 'light', 'clutter', 'moved']
"""What makes pictures harder to use: poor light, unknown objects, cameras that are not where their
calibration says."""
TRUTH: Sources = 'truth'
NO_TROUBLE: TroubleName = 'none'
