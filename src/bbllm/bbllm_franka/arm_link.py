"""The driver's end of the control process: starts it, sends requests, waits for replies."""

import logging
import os
import queue
import subprocess
import sys
import threading
import time
from contextlib import suppress
from multiprocessing import Pipe
from typing import Any

from bbllm.arm.robot_state import Mounted
from bbllm.core.errors import WorldError
from bbllm_franka.board import RobotReading, StateBoard
from bbllm_franka.errors import LostRobotError, SlowMachineError
from bbllm_franka.messages import ENFORCE, LinkQuality, Word
from bbllm_franka.reasons import connection_error, lost_error

START_S = 60.0
"""How long the process may take to start, on a busy machine [s]."""
CONNECT_S = 20.0
"""How long the robot may take to connect and to send half a second of states [s]."""
CALL_S = 10.0
"""How long the robot may take for a call, such as an error recovery [s]."""
LEAST_SHARE = 0.95
"""Share of the robot's milliseconds that this computer must keep up with at the start."""
WIDEST_S = 0.02
"""Longest time without a state at the start: after 20 lost commands a robot stops [s]."""
SILENT_S = CALL_S + 2.0
"""How old the newest state may be, which is none while the robot carries out a call [s]."""
END_S = 3.0
"""How long a process may take to end: a motion that runs brakes in 0.5 s [s]."""


LOG = logging.getLogger('bbllm')


class ArmLink:
    """One connection to a robot's arm, which ends with `close` or when the robot is lost."""

    def __init__(self, address: str, *, realtime: str, robot: str) -> None:
        """Connect and wait for it; raises the errors of `bbllm_franka.errors`."""
        self._address = address
        self._error: WorldError | None = None
        self._replies: queue.Queue[tuple[Any, ...]] = queue.Queue()
        file = StateBoard.new_file()
        self._channel, other = Pipe()
        files = other.fileno(), file
        module = 'bbllm_franka.control_process'
        self._process = subprocess.Popen(
            [sys.executable, '-m', module, address, realtime, robot, *map(str, files)],
            pass_fds=files,
            stdin=subprocess.DEVNULL,
            env={**os.environ, 'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'},
        )
        other.close()
        self._board = StateBoard(file)
        os.close(file)
        self._connected = False
        threading.Thread(target=self._receive, name='franka', daemon=True).start()
        try:
            failure = self._opened()
        except BaseException:
            self.close()
            raise
        if failure is not None:
            self.close()  # first, since the address is asked for the reason
            raise connection_error(*failure, address)

    def _opened(self) -> tuple[str, str] | None:
        """Wait for a connection; returns libfranka's exception and text where there is none."""
        try:
            word, *values = self._replies.get(timeout=START_S)
        except queue.Empty:
            raise SlowMachineError(
                f'This computer did not start the control process within {START_S:g} s.',
                'End other programs.',
            ) from None
        with suppress(queue.Empty):
            if word is Word.CONNECTING:
                word, *values = self._replies.get(timeout=CONNECT_S)
            if word is Word.LOST:
                kind, text = values
                return kind, text
            assert word is Word.READY
            self.quality: LinkQuality = values[0]
            """How well this computer kept up at the start."""
            return None
        return '', f'no answer within {CONNECT_S:g} s'

    @property
    def pid(self) -> int:
        """The process that owns the 1 kHz loop."""
        return self._process.pid

    @property
    def lost(self) -> WorldError | None:
        """Why the connection is gone; None while it is up."""
        return self._error

    def read(self) -> RobotReading:
        """Return the newest reading; raises LostRobotError."""
        self._check()
        reading = self._board.read()
        assert reading is not None  # one comes before READY
        if time.monotonic() - reading.host_s > SILENT_S:
            text = f'the control process has read no state for {SILENT_S:g} s'
            raise lost_error('', text, self._address)
        return reading

    def send(self, word: Word, *values: Any) -> None:
        self._check()
        try:
            self._channel.send((word, *values))
        except OSError as error:
            raise lost_error('', str(error), self._address) from error

    def take(self, timeout_s: float) -> tuple[Any, ...]:
        """Return the next reply; raises queue.Empty, or why the connection is gone."""
        message = self._replies.get(timeout=timeout_s)
        if message[0] is Word.LOST:
            self._check()
        return message

    def call(self, name: str, *values: Any) -> str:
        """Call a method of `franka::Robot`; returns why it was refused, or ''."""
        self.send(Word.CALL, name, *values)
        try:
            word, *texts = self.take(CALL_S)
        except queue.Empty:
            text = f'{name} gave no answer within {CALL_S:g} s'
            raise lost_error('', text, self._address) from None
        return '' if word is Word.DONE else str(texts[0])

    def settings(self) -> Mounted:
        """Return what is set in a robot at rest."""
        self.send(Word.SETTINGS)
        try:
            _, settings = self.take(CALL_S)
        except queue.Empty:
            text = f'no settings within {CALL_S:g} s'
            raise lost_error('', text, self._address) from None
        assert isinstance(settings, Mounted)
        return settings

    def close(self) -> None:
        """End the process; an arm that moves brakes first."""
        with suppress(OSError):
            self._channel.send((Word.END,))
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._error = self._error or LostRobotError('The connection to the robot was closed.')

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def _receive(self) -> None:
        while True:
            try:
                message = self._channel.recv()
            except (EOFError, OSError):
                code = self._process.wait()
                message = (Word.LOST, '', f'the control process ended with code {code}')
            if message[0] is Word.READY:
                self._connected = True
            if message[0] is Word.LOST and self._connected:
                _, kind, text = message
                self._error = self._error or lost_error(kind, text, self._address)
            self._replies.put(message)
            if message[0] is Word.LOST:
                return


def check_machine(quality: LinkQuality, realtime: str) -> None:
    """
    Judge a computer that has just connected.

    Raises SlowMachineError where it does not keep up and *realtime* is enforced; else it is
    logged.
    """
    if quality.share >= LEAST_SHARE and quality.widest_s < WIDEST_S:
        return
    fact = (
        f'This computer kept up with {quality.share:.0%} of the states of the robot, and was '
        f'late by {quality.widest_s * 1e3:.0f} ms once; a motion needs '
        f'{LEAST_SHARE:.0%} and less than {WIDEST_S * 1e3:.0f} ms.'
    )
    remedy = (
        'End other programs, connect the robot by its own network card, set the CPU governor to '
        'performance, and boot a PREEMPT_RT kernel.'
    )
    if realtime == ENFORCE:
        go_on = 'To go on all the same, state --realtime ignore.'
        raise SlowMachineError(fact, f'{remedy} {go_on}')
    LOG.warning(f'{fact} {remedy}')
