"""Starts franka-sim, the independent server that `make fci` installs, and waits for it."""

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bbllm.core.errors import ConfigError, WorldError
from bbllm.core.paths import config_dir
from bbllm.robots import fr3

START_S = 60.0
"""How long the server may take to listen, on a busy machine [s]."""
END_S = 5.0
READY = (b'Gripper server listening', b'Starting MuJoCo simulation loop')
"""What its log contains once it serves. It is not asked by a connection, as it serves one."""


def interpreter() -> Path:
    """Return the Python of `make fci`; raises ConfigError without it."""
    path = config_dir().parent / 'build' / 'fci' / 'bin' / 'python'
    if not path.exists():
        raise ConfigError(
            f'franka-sim is not installed in {path.parent.parent}. In a clone of the repository: '
            'make fci.'
        )
    return path


@contextmanager
def franka_sim(
    address: str, *, object_width_m: float | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """
    Serve an arm and a hand at a loopback address; clients find it under that address alone.

    It checks every command as a robot does. An object of *object_width_m* is always between its
    fingers [m]. Raises ConfigError where it is not installed, WorldError where it does not start.
    """
    model = Path(fr3.__file__).with_name('fr3.xml')
    script = Path(__file__).with_name('franka_sim_server.py')
    width = [] if object_width_m is None else [str(object_width_m)]
    with tempfile.NamedTemporaryFile() as log:
        process = subprocess.Popen(
            [interpreter(), '-s', script, address, model, *width],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        try:
            end_s = time.monotonic() + START_S
            while not all(line in (text := Path(log.name).read_bytes()) for line in READY):
                if process.poll() is not None or time.monotonic() > end_s:
                    last = text[-2000:].decode(errors='replace')
                    raise WorldError(f'franka-sim does not serve {address}: {last}')
                time.sleep(0.1)
            yield process
        finally:
            process.terminate()
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
