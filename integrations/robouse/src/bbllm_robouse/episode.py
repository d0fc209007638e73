"""The client of an episode server: one JSON request and one JSON reply for each connection."""

import json
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bbllm.core.errors import ConfigError, WorldError

ANSWER_S = 600.0
"""How long one motion may take on a busy machine, with 25 pictures drawn in software [s]."""
MOST_BYTES = 4_000_000
"""No reply is longer: a scene has tens of objects."""


class ServerGoneError(WorldError):
    """The episode server does not answer any more."""


class EpisodeOverError(WorldError):
    """The episode has ended, for example because its steps are used up."""


@dataclass(frozen=True, slots=True)
class Episode:
    """An episode of Robo Use, by the path of its socket."""

    path: Path

    @classmethod
    def of_environment(cls) -> 'Episode':
        """Return the episode that the runner has named; raises ConfigError where it has not."""
        given = os.environ.get('ROBOUSE_SOCKET', '')
        if not given:
            raise ConfigError(
                'ROBOUSE_SOCKET is not set: this program is started by a trial, for example by '
                '`build/robouse/bin/robouse run --harness bbllm --task arc-gravity --out runs`.'
            )
        return cls(Path(given))

    def info(self) -> Mapping[str, Any]:
        """Return the robot, its actions and its limits."""
        return self._ask({'op': 'info'})

    def observe(self) -> Mapping[str, Any]:
        """Return what an agent may see of robot and objects."""
        state: Mapping[str, Any] = self._ask({'op': 'observe'})['state']
        return state

    def act(self, action: Sequence[float], repeat: int) -> Mapping[str, Any]:
        """Apply one low-level action for so many steps."""
        return self._move({'op': 'act', 'action': [*action], 'repeat': repeat})

    def end(self, text: str, *, done: bool) -> None:
        """End the episode and have it judged, or give up."""
        self._ask({'op': 'done' if done else 'give_up', 'text': text[:4000]})

    def _move(self, request: Mapping[str, object]) -> Mapping[str, Any]:
        result = self._ask(request)
        if 'episode' in result:
            raise EpisodeOverError(f'The episode server ended the episode: {result["episode"]}.')
        return result

    def _ask(self, request: Mapping[str, object]) -> Mapping[str, Any]:
        """
        Return the result of one request.

        Raises:
            ServerGoneError: There is no server, or it closed the connection without a reply.
            EpisodeOverError: The episode has ended.
            WorldError: The server refused the request, or its reply is no JSON object.
        """
        try:
            reply = json.loads(self._exchange((json.dumps(request) + '\n').encode()))
        except (OSError, ValueError) as error:
            raise ServerGoneError(
                f'The episode server at {self.path} does not answer ({error}). Its log is '
                'episode/server.log in the folder of the trial.'
            ) from error
        if not isinstance(reply, dict):
            raise WorldError(f'The episode server replied {reply!r:.80}, which is no JSON object.')
        if reply.get('ok'):
            result: Mapping[str, Any] = reply.get('result') or {}
            return result
        text = str(reply.get('error'))
        if text.startswith('episode finished'):
            raise EpisodeOverError(f'The episode server answers: {text}.')
        raise WorldError(f'The episode server refused {request.get("op")}: {text}')

    def _exchange(self, line: bytes) -> bytes:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(ANSWER_S)
            connection.connect(str(self.path))
            connection.sendall(line)
            received = b''
            while not received.endswith(b'\n') and len(received) < MOST_BYTES:
                part = connection.recv(65536)
                if not part:
                    break
                received += part
        return received
