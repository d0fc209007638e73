"""`turn_off(object)`: turn the knob of a stove off."""

from bbllm_libero.skills.fixtures import joint_skill, pull

TURN_OFF = joint_skill(
    'turn_off',
    'turnoff',
    'turned off',
    pull,
    'turn the knob of a stove off; the hand has to be empty',
    ('switch_off',),
)
