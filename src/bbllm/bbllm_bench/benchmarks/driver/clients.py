"""
The programs that faults happen to: ours in this process or in one of its own, and one of franky.

Each connects, begins a motion that lasts some seconds, and reports how it ended and how the next
one did, in the words that its user gets.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Protocol

from bbllm.arm.envelope import load_envelope
from bbllm.core.cancel import CancelToken
from bbllm.core.constants import SLOW
from bbllm.core.errors import BbllmError, WorldError
from bbllm.core.journal import read_episode
from bbllm.core.types import SkillCall
from bbllm.scene.scene_file import SceneFile
from bbllm_bench.benchmarks.driver.trials import BASE, WatchedDriver
from bbllm_franka.table import FrankaTable

WAIT_S = 240.0
"""How long a program may take to connect, and to end a motion or report why not [s]."""
DEAD_S = 10.0
POLL_S = 0.05
BBLLM, FRANKY = 'bbllm', 'franky'
PROGRAM = 'bbllm_bench.benchmarks.driver.franky_program'


class Client(Protocol):
    """What happens to one program."""

    name: str

    @property
    def ended(self) -> str | None:
        """How the motion ended; None while it runs."""
        ...

    @property
    def reflexes(self) -> Sequence[str]:
        """What the robot stopped for, where the program reports that beside its words."""
        ...

    def begin(self) -> None:
        """Begin the motion."""
        ...

    def again(self) -> str:
        """Return how the next motion ends."""
        ...

    def kill(self) -> None:
        """Kill the program, as `kill -9` does."""
        ...


class TaskClient:
    """Calls of our world in this process, and a person who answers its questions."""

    name = BBLLM

    def __init__(self, stack: ExitStack, address: str, scene: SceneFile, call: SkillCall) -> None:
        """Connect; *call* is the one that a fault interrupts."""
        self.driver = WatchedDriver(address)
        stack.callback(self.driver.close)
        self.driver.need_hand()  # as `bbllm run` does
        world = FrankaTable(self.driver, scene, load_envelope(SLOW))
        self.world = stack.enter_context(closing(world))
        assert world.features.ask_person is not None
        world.features.ask_person(self._ask)
        self.on_question: Callable[[], None] = lambda: None
        """What a person does who is asked, before they agree."""
        self.questions: list[str] = []
        self.ended: str | None = None
        self._call = call
        self._words(BASE)  # where it fails on a busy machine, the call begins elsewhere

    @property
    def reflexes(self) -> Sequence[str]:
        return tuple(dict.fromkeys(self.driver.reflexes))

    def begin(self) -> None:
        def run() -> None:
            self.ended = self._words(self._call)

        threading.Thread(target=run, name='client', daemon=True).start()

    def again(self) -> str:
        self.world.observe()  # connects anew where the connection broke
        return self._words(BASE)

    def kill(self) -> None:
        """Kill the process of the 1 kHz loop: this one cannot be."""
        os.kill(self.driver.control_pid, signal.SIGKILL)

    def _ask(self, text: str, cancel: CancelToken) -> bool:
        self.questions.append(text)
        self.on_question()
        return True

    def _words(self, call: SkillCall) -> str:
        asked = len(self.questions)
        try:
            self.driver.reconnect()
            outcome = self.world.execute(call)
        except BbllmError as error:
            words = f'{type(error).__name__}: {error}'
        else:
            words = 'done' if outcome.succeeded else f'{outcome.code.name}: {outcome.message}'
        return ' '.join([*(f'asked: "{text}";' for text in self.questions[asked:]), words])


class ProgramClient:
    """`bbllm run` in a process of its own, which can be killed, and its journal."""

    name = BBLLM
    reflexes: Sequence[str] = ()

    def __init__(self, stack: ExitStack, address: str, scene: SceneFile, task: str) -> None:
        self._stack, self._address, self._scene, self._task = stack, address, scene, task
        self._state = Path(stack.enter_context(tempfile.TemporaryDirectory()))

    def begin(self) -> None:
        words = ['bbllm', 'run', self._task, '--robot', 'fr3', '--ip', self._address, '--scene']
        words += [self._scene.name, '--simulated-robot', '--yes', '--no-rehearse', '--json']
        words += ['--brain', 'offline', '--body', 'offline', '--safety', 'safety']
        self._process = subprocess.Popen(
            [sys.executable, '-m', *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, 'XDG_STATE_HOME': str(self._state)},
        )
        self._stack.callback(_end, self._process)

    @property
    def ended(self) -> str | None:
        if self._process.poll() is None:
            return None
        journals = sorted(self._state.rglob('*.jsonl'))
        kept = sum(len(read_episode(path).events) for path in journals)
        return f'exit code {self._process.returncode}; its journal has {kept} events'

    def kill(self) -> None:
        self._process.kill()

    def again(self) -> str:
        """Return how a program that connects next ends."""
        client = TaskClient(self._stack, self._address, self._scene, BASE)
        return client.again()


class FrankyClient:
    """A program of franky, in a process of its own."""

    name = FRANKY
    reflexes: Sequence[str] = ()

    def __init__(self, stack: ExitStack, address: str, what: str = 'move') -> None:
        """Connect; raises WorldError with what franky reports."""
        self._what, self._stack, self._address = what, stack, address
        self._start()
        if reason := self._answer():
            raise WorldError(reason)

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, '-m', PROGRAM, self._address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
        )
        self._stack.callback(_end, self._process)
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.ended: str | None = None
        threading.Thread(
            target=self._read, args=(self._process, self._lines), name='franky', daemon=True
        ).start()

    def begin(self) -> None:
        self._ask(self._what)

        def wait() -> None:
            self.ended = self._answer()

        threading.Thread(target=wait, name='franky answer', daemon=True).start()

    def kill(self) -> None:
        self._process.kill()

    def again(self) -> str:
        if self._process.poll() is not None:  # its user starts it again
            self._start()
            if reason := self._answer():
                return reason
        self._ask('again')
        return self._answer()

    def _ask(self, what: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f'{what}\n')
        self._process.stdin.flush()

    def _answer(self) -> str:
        try:
            line = self._lines.get(timeout=WAIT_S)
        except queue.Empty:
            return f'no answer within {WAIT_S:g} s'
        if line:
            return str(json.loads(line))
        return f'exit code {self._process.wait(DEAD_S)}'

    @staticmethod
    def _read(process: subprocess.Popen[str], lines: queue.SimpleQueue[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put('')


def _end(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
