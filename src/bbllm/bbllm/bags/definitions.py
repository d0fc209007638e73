"""
Definitions of the messages that a motion consists of, as MCAP files contain them.

Those of Jazzy and of bbllm_interfaces without their comments; a test compares them.
"""

from collections.abc import Mapping

JOINT_STATE = 'sensor_msgs/msg/JointState'
OBJECT_STATES = 'bbllm_interfaces/msg/ObjectStates'
DEFINITIONS: Mapping[str, str] = {
    'builtin_interfaces/Time': 'int32 sec\nuint32 nanosec',
    'std_msgs/Header': 'builtin_interfaces/Time stamp\nstring frame_id',
    'geometry_msgs/Point': 'float64 x\nfloat64 y\nfloat64 z',
    'geometry_msgs/Quaternion': 'float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1',
    'geometry_msgs/Pose': 'Point position\nQuaternion orientation',
    'geometry_msgs/Vector3': 'float64 x\nfloat64 y\nfloat64 z',
    'sensor_msgs/JointState': (
        'std_msgs/Header header\n'
        'string[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort'
    ),
    'bbllm_interfaces/ObjectState': (
        'string name\nstring kind\nstring color\n'
        'geometry_msgs/Vector3 size\ngeometry_msgs/Pose pose'
    ),
    'bbllm_interfaces/ObjectStates': 'std_msgs/Header header\nObjectState[] objects',
}
"""By package and name."""
PARTS: Mapping[str, tuple[str, ...]] = {
    JOINT_STATE: ('std_msgs/Header', 'builtin_interfaces/Time'),
    OBJECT_STATES: (
        'std_msgs/Header',
        'builtin_interfaces/Time',
        'bbllm_interfaces/ObjectState',
        'geometry_msgs/Vector3',
        'geometry_msgs/Pose',
        'geometry_msgs/Point',
        'geometry_msgs/Quaternion',
    ),
}
"""The messages inside of a message."""


def definition_of(message: str) -> str:
    """Return the whole definition of a message, in the form `ros2msg` of MCAP."""
    whole = [DEFINITIONS[message.replace('/msg/', '/')]]
    whole += [f'MSG: {part}\n{DEFINITIONS[part]}' for part in PARTS[message]]
    return f'\n{"=" * 80}\n'.join(whole)
