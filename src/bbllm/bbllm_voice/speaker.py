"""Speaks sentences by another program, which is ended as soon as it disturbs."""

import shlex
import shutil
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress

from bbllm.core.errors import ConfigError

AUTO = 'auto'
MOST_CHARACTERS = 600
"""The longest text that is spoken; the rest is on the screen."""


class Speaker:
    """
    Speaks one text at a time; a new one ends the one before, and nothing waits for the end.

    Args:
        command: A program and its arguments; it reads the text from its standard input.
    """

    def __init__(self, command: Sequence[str]):
        self._command = tuple(command)
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    @property
    def is_speaking(self) -> bool:
        process = self._process
        return process is not None and process.poll() is None

    def speak(self, text: str) -> None:
        """Begin to speak; a program that fails leaves it at the text on the screen."""
        self.hush()
        with self._lock, suppress(OSError):
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            assert self._process.stdin is not None
            # Shorter than the buffer of a pipe, so that this does not wait for the program.
            self._process.stdin.write(text[:MOST_CHARACTERS].encode())
            self._process.stdin.close()

    def hush(self) -> None:
        """End what is being spoken."""
        with self._lock:
            if self._process is not None:
                self._process.kill()
                self._process.wait()
                self._process = None


def make_speaker(command: str = AUTO, language: str = 'en') -> Speaker:
    """
    Return a speaker: espeak-ng for `auto`, else the command, which is run without a shell.

    Raises:
        ConfigError: The program is not installed.
    """
    parts = ['espeak-ng', '-v', language, '--stdin'] if command == AUTO else shlex.split(command)
    if not parts or shutil.which(parts[0]) is None:
        raise ConfigError(
            f'Nothing can be spoken: {parts[0] if parts else "the command"} is not installed. '
            'Install it (sudo apt install espeak-ng), or name a command that speaks its standard '
            "input, such as --speak 'piper -m VOICE.onnx'."
        )
    return Speaker(parts)
