"""
What keeps pictures from being used, from the node `perception` to `state_estimator`.

A message of the topic `camera_status` has one DiagnosticStatus for each camera: OK, or ERROR with
a sentence. diagnostic_msgs is used in place of a message of our own because rqt_robot_monitor and
diagnostic_aggregator read it.
"""

from collections.abc import Mapping

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

from bbllm_ros.convert.records import header

TOPIC = 'camera_status'
PERIOD_S = 0.25
"""Wall time between two messages; a change is published at once [s]."""
FINE = 'pictures are used'


def faults_to_msg(faults: Mapping[str, str], stamp_s: float) -> DiagnosticArray:
    """Write the fault of each camera by its name; an empty one is none."""
    return DiagnosticArray(
        header=header(stamp_s, ''),
        status=[
            DiagnosticStatus(
                level=DiagnosticStatus.ERROR if fault else DiagnosticStatus.OK,
                name=camera,
                hardware_id=camera,
                message=fault or FINE,
            )
            for camera, fault in faults.items()
        ],
    )


def faults_from_msg(msg: DiagnosticArray) -> dict[str, str]:
    """Return the fault of each camera by its name; empty where it has none."""
    return {
        status.name: '' if status.level == DiagnosticStatus.OK else status.message
        for status in msg.status
    }
