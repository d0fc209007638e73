"""
Runs franka-sim, an independent server of the robot's network protocol, on one address.

`simulated_server.franka_sim` starts it with the interpreter of `make fci`, where bbllm is not
installed: this file imports franka-sim and the standard library alone.

    build/fci/bin/python franka_sim_server.py ADDRESS FR3_XML [--object-width M] [--first]
        [--patience S]

For each line of its standard input it logs the speed of the fastest joint.
"""

import argparse
import ctypes
import logging
import os
import signal
import sys
import tempfile
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

PARENT_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of prctl(2)."""
PRIORITY = 20
"""Under SCHED_RR, below that of the loop which answers it."""


def prioritize() -> None:
    """Run before other programs, where that is permitted: a robot has a computer of its own."""
    with suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))


def arm_model(path: Path) -> str:
    """
    Return the MuJoCo model of bbllm with the armature of Menagerie's fr3v2, 0.195 in all joints.

    franka-sim's servos damp joint 7 with 200 Nms/rad and integrate each millisecond explicitly,
    which is stable above 0.1 kg m^2.
    """
    tree = ElementTree.parse(path)
    for joint in tree.iter('joint'):
        if joint.get('armature') == '0.074':
            joint.set('armature', '0.195')
    return ElementTree.tostring(tree.getroot(), encoding='unicode')


def wait_for_answers(server: Any, patience_s: float) -> None:
    """Let each state wait so long for the answer to the one before it, in place of 1 ms [s]."""
    gate = server._drain_gate
    server._DRAIN_GATE_TIMEOUT = patience_s  # for an answer that has come and is not read yet
    server._drain_gate = lambda answer_deadline=0.0: gate(answer_deadline + patience_s)


def report_arm(server: Any) -> None:
    """Log how fast the arm moves, for each line of the standard input."""
    for _ in sys.stdin:
        speeds = server.physics_sim.get_robot_state()['dq']
        logging.info('fastest joint: %.4f rad/s', max(abs(float(speed)) for speed in speeds))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument('address')
    parser.add_argument('model', type=Path)
    parser.add_argument('--object-width', type=float, help='of what is between the fingers [m]')
    parser.add_argument('--first', action='store_true', help='run before other programs')
    parser.add_argument(
        '--patience', type=float, help='how long each state waits for the answer before it [s]'
    )
    options = parser.parse_args()
    if options.first:
        prioritize()
    ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGTERM)  # no server outlives its user
    logging.basicConfig(
        level=logging.INFO, format='%(asctime)s %(levelname)s %(name)s: %(message)s'
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, 'fr3.xml')
        file.write_text(arm_model(options.model), 'utf-8')
        os.environ['FR3_MJCF'] = str(file)
        # Not an import statement: franka-sim is no dependency of bbllm.
        server = import_module('franka_sim').FrankaSimServer(
            host=options.address,
            enforce_motion_limits=True,
            enforce_comm_constraints=True,
            gripper_object_width=options.object_width,
        )
        if options.patience is not None:
            wait_for_answers(server, options.patience)
        threading.Thread(target=report_arm, args=(server,), daemon=True).start()
        try:
            server.start()
        finally:
            server.stop()


if __name__ == '__main__':
    main()
