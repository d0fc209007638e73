"""`turn_on(object)`: turn the knob of a stove on."""

from bbllm_libero.skills.fixtures import joint_skill, pull

TURN_ON = joint_skill(
    'turn_on',
    'turnon',
    'turned on',
    pull,
    'turn the knob of a stove on; the hand has to be empty',
    ('switch_on',),
)
