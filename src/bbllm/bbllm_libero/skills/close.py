"""`close(object)`: push a drawer or door shut."""

from bbllm_libero.skills.fixtures import joint_skill, press

CLOSE_IT = joint_skill(
    'close',
    'close',
    'closed',
    press,
    'push a drawer, named by its region, or the door of a fixture shut; the hand has to be empty',
    ('shut',),
)
