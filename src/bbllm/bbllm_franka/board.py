"""
What the robot reports, in memory that the control process writes and the driver reads.

One writer, any number of readers: a counter is odd while a reading is written, and a reader whose
counter changed meanwhile reads again.
"""

import mmap
import os
import struct
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bbllm.arm.driver import N_JOINTS, Array, RobotMode
from bbllm.arm.robot_state import RobotState
from bbllm.arm.stop_causes import CAUSES

ERRORS = tuple(CAUSES)
"""Fields of `franka::Errors`, each one bit of a reading."""

_HEAD, _CONTACTS = 9, 13
_ROWS, _WRENCHES = 8, 2
_COUNT_OF_VALUES = _HEAD + _ROWS * N_JOINTS + _WRENCHES * 6 + 2 * _CONTACTS
_LAYOUT = struct.Struct(f'={_COUNT_OF_VALUES}d')
_COUNT_BYTES = 8
SIZE = mmap.PAGESIZE


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotReading(RobotState):
    """What the robot reported at one moment, as read here."""

    host_s: float
    """When it was read, by this computer's monotonic clock [s]."""
    mean_force_z_n: float
    """Mean of the last 20 ms of the force of the world on the hand along z of the base [N]."""
    mean_since_s: float
    """When the oldest reading of that mean was taken, as `host_s` [s]."""
    load_kg: float
    """Mass of the load that is set in the robot."""
    wrench: Array
    """`O_F_ext_hat_K`: what the robot does to the world, shape (6,) [N, Nm]."""
    wrench_in_stiffness: Array
    """`K_F_ext_hat_K`, the same in the axes of the stiffness frame."""


def error_bits(errors: object) -> int:
    """Return the fields of a `franka::Errors` that are set, as bits in the order of `ERRORS`."""
    return sum(1 << i for i, name in enumerate(ERRORS) if getattr(errors, name, False))


def _names(bits: float) -> tuple[str, ...]:
    return tuple(name for i, name in enumerate(ERRORS) if int(bits) >> i & 1)


class StateBoard:
    """The newest reading, in shared memory."""

    def __init__(self, file: int) -> None:
        """Map a memory file of `SIZE` bytes, by its descriptor."""
        self._memory = mmap.mmap(file, SIZE)
        # Stored at once; struct.pack_into writes zeros first, which a reader would take for none.
        self._counter = memoryview(self._memory)[:_COUNT_BYTES].cast('Q')
        self._count = 0

    @staticmethod
    def new_file() -> int:
        """Return the descriptor of a new memory file."""
        file = os.memfd_create('bbllm_franka')
        os.ftruncate(file, SIZE)
        return file

    def write(self, head: Iterable[float], *rows: Sequence[float]) -> None:
        """
        Write a reading: nine numbers, then rows in the order of the fields of `RobotReading`.

        Contacts and collisions are two rows each: joints, then the wrench.
        """
        self._count += 1
        self._counter[0] = self._count
        values = [*head]
        for row in rows:
            values.extend(row)
        _LAYOUT.pack_into(self._memory, _COUNT_BYTES, *values)
        self._count += 1
        self._counter[0] = self._count

    def read(self) -> RobotReading | None:
        """Return the newest reading; None before the first."""
        while True:
            before = self._counter[0]
            values = _LAYOUT.unpack_from(self._memory, _COUNT_BYTES)
            after = self._counter[0]
            if before == after and before % 2 == 0:
                break
            time.sleep(1e-5)
        if not before:
            return None
        host_s, robot_s, mode, rate, current, last, mean_n, since_s, load_kg = values[:_HEAD]
        rest = np.array(values[_HEAD:])
        joints, rest = np.split(rest, [_ROWS * N_JOINTS])
        joints = joints.reshape(_ROWS, N_JOINTS)
        wrenches, flags = np.split(rest, [_WRENCHES * 6])
        contacts, collisions = flags.reshape(2, _CONTACTS) > 0
        return RobotReading(
            host_s=host_s,
            robot_s=robot_s,
            mode=RobotMode(int(mode)),
            success_rate=rate,
            current_errors=_names(current),
            last_errors=_names(last),
            mean_force_z_n=mean_n,
            mean_since_s=since_s,
            load_kg=load_kg,
            position_rad=joints[0],
            velocity_rad_s=joints[1],
            set_point_rad=joints[2],
            set_point_rad_s=joints[3],
            set_point_rad_s2=joints[4],
            torque_nm=joints[5],
            desired_nm=joints[6],
            external_nm=joints[7],
            wrench=wrenches[:6],
            wrench_in_stiffness=wrenches[6:],
            contacts=contacts,
            collisions=collisions,
        )

    def close(self) -> None:
        self._counter.release()
        self._memory.close()
