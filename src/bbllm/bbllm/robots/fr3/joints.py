"""Names of the FR3's joints, as its driver and its models have them."""

ARM_JOINTS: tuple[str, ...] = tuple(f'fr3_joint{i}' for i in range(1, 8))
"""In order; actuators have the same names."""

FINGER_JOINTS: tuple[str, str] = ('fr3_finger_joint1', 'fr3_finger_joint2')
