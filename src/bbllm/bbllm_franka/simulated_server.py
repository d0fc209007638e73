"""Starts franka-sim, the independent server that `make fci` installs, and waits for it."""

import re
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
ANSWER_S = 10.0
"""How long it may take to report its arm [s]."""
END_S = 5.0
POLL_S = 0.02
READY = (b'Gripper server listening', b'Starting MuJoCo simulation loop')
"""What its log contains once it serves. It is not asked by a connection, as it serves one."""
FASTEST = re.compile(rb'fastest joint: ([0-9.]+) rad/s\n')
"""What its log contains for each line of its standard input."""


class FrankaSim:
    """A server of franka-sim that runs."""

    def __init__(self, address: str, process: subprocess.Popen[bytes], log: Path) -> None:
        self.address, self.process = address, process
        self._log = log

    def fastest_rad_s(self) -> float:
        """Return the speed of the fastest joint by its physics [rad/s]; raises WorldError."""
        assert self.process.stdin is not None
        before, end_s = len(self._reported()), time.monotonic() + ANSWER_S
        try:
            self.process.stdin.write(b'\n')
            self.process.stdin.flush()
        except OSError as error:
            raise WorldError(f'franka-sim has ended: {error}.') from error
        while len(found := self._reported()) == before:
            if time.monotonic() > end_s:
                raise WorldError(f'franka-sim did not report its arm within {ANSWER_S:g} s.')
            time.sleep(POLL_S)
        return float(found[-1])

    def has_aborted(self, error: str) -> bool:
        """Return whether it has ended a motion with an error, by its name in the robot's state."""
        return re.search(rf'{error}.* -- aborting the motion', self._log.read_text()) is not None

    def _reported(self) -> list[bytes]:
        return FASTEST.findall(self._log.read_bytes())


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
    address: str,
    *,
    object_width_m: float | None = None,
    first: bool = False,
    patience_s: float | None = None,
) -> Iterator[FrankaSim]:
    """
    Serve an arm and a hand at a loopback address; clients find it under that address alone.

    It checks every command as a robot does. An object of *object_width_m* is always between its
    fingers [m]. With *first* it runs before all programs without real-time priority, where that is
    permitted. With *patience_s* its clock waits so long for the answer to each state [s], so that
    it judges each command, and not whether the computer keeps up. Raises ConfigError where it is
    not installed, WorldError where it does not start.
    """
    model = Path(fr3.__file__).with_name('fr3.xml')
    script = Path(__file__).with_name('franka_sim_server.py')
    more = [] if object_width_m is None else [f'--object-width={object_width_m}']
    more += ['--first'] if first else []
    more += [] if patience_s is None else [f'--patience={patience_s}']
    with tempfile.NamedTemporaryFile() as log:
        process = subprocess.Popen(
            [interpreter(), '-s', script, address, model, *more],
            stdin=subprocess.PIPE,
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
            yield FrankaSim(address, process, Path(log.name))
        finally:
            process.terminate()
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
