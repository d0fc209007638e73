"""Switches off MuJoCo's timers, which take a thirtieth of a step."""

import ctypes
from contextlib import suppress
from functools import cache
from pathlib import Path

import mujoco


@cache
def stop_timers() -> None:
    """
    Let no step of this process read the clock for `MjData.timer`, which nothing here reads.

    That is `mjcb_time = NULL` in C; the Python bindings set it at their import, and have no way to
    take it back. Where it cannot be reached, the timers stay.
    """
    for path in Path(mujoco.__file__).parent.glob('libmujoco.*'):
        with suppress(OSError, ValueError):
            ctypes.c_void_p.in_dll(ctypes.CDLL(str(path)), 'mjcb_time').value = None
