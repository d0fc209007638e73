"""`open(object)`: grip the handle of a drawer or door, and open it."""

from bbllm_libero.skills.fixtures import joint_skill, pull

OPEN_IT = joint_skill(
    'open',
    'open',
    'opened',
    pull,
    'open a drawer, named by its region (X_middle_region is the middle drawer of a cabinet X), or '
    'the door of a fixture; the hand has to be empty',
)
