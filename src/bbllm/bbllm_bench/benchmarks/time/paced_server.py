"""
A model server on the loopback that writes as fast as it is told, for one task of ten steps.

It speaks OpenAI's protocol of chat completions with streams. What a request asks for is read from
the last line of its prompt, as a model reads it; the replies are written here. A token is four
characters, as everywhere in this project where no server counts.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from bbllm.core.errors import ParseError

TOKEN_CHARACTERS = 4
END_S = 5.0
"""How long replies that are still being written may take to end with the server [s]."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast replies come."""

    first_token_s: float = 0.5
    tokens_per_s: float = 40.0

    def due_s(self, token: int) -> float:
        """Return when a token is written, counted from 0, after the request [s]."""
        return self.first_token_s + token / self.tokens_per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskScript:
    """A task, its goal, and for each step of the plan the words and the call."""

    task: str
    goal: str
    steps: tuple[tuple[str, str, str], ...]
    """Of each step: its words, the skill and the argument of its call."""

    def reply(self, prompt: str, *, in_json: bool) -> tuple[str, str]:
        """
        Return what is asked for (`goal`, `plan` or `calls`), and the reply.

        Raises:
            ParseError: The prompt asks for something else.
        """
        last = prompt.rstrip().rsplit('\n', 1)[-1]
        if last == 'Conditions:':
            return 'goal', self.goal
        if last == 'Step-by-step plan:':
            lines = [words for words, _, _ in self.steps] + ['Done']
            return 'plan', '\n'.join(f'{i}: {words}' for i, words in enumerate(lines))
        if last == 'Calls:':
            asked = re.findall(r'^Steps to turn into calls: (.*)$', prompt, re.MULTILINE)[-1]
            return 'calls', self._calls([int(n) for n in re.findall(r'\d+', asked)], in_json)
        raise ParseError(
            f'The paced server has no reply to a prompt that ends with {last[-80:]!r}; it knows '
            '"Conditions:", "Step-by-step plan:" and "Calls:".'
        )

    def _calls(self, numbers: list[int], in_json: bool) -> str:
        calls = [(number, *self.steps[number][1:]) for number in numbers]
        if not in_json:
            return '\n'.join(f'{number}: {skill}({arg})' for number, skill, arg in calls)
        entries = [
            {'step': number, 'skill': skill, 'args': [arg], 'numbers': [], 'reason': ''}
            for number, skill, arg in calls
        ]
        return '{"calls": [\n' + ',\n'.join(json.dumps(entry) for entry in entries) + '\n]}'


@dataclass(slots=True, kw_only=True)
class Answered:
    """One request, on the clock of `time.time`."""

    kind: str
    begun_s: float
    first_line_s: float = 0.0
    """When the first line of the reply was complete."""
    ended_s: float = 0.0


@dataclass(slots=True)
class PacedServer:
    """A running server."""

    base_url: str
    answered: list[Answered] = field(default_factory=list)
    """Of the requests so far, in the order in which they came."""


@contextmanager
def paced_server(script: TaskScript, pace: Pace) -> Iterator[PacedServer]:
    """Serve on a free port of the loopback; ends with the context, replies in the making too."""
    ending = threading.Event()
    served = PacedServer('')

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self._json(200, {'object': 'list', 'data': [{'id': 'paced', 'object': 'model'}]})

        def do_POST(self) -> None:
            answered = Answered(kind='', begun_s=time.time())
            served.answered.append(answered)
            asked = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
            prompt = asked['messages'][-1]['content']
            try:
                answered.kind, text = script.reply(prompt, in_json='response_format' in asked)
            except ParseError as error:
                self._json(400, {'error': {'message': str(error), 'type': 'invalid_request'}})
                return
            self.send_response(200)
            self.send_header('Content-Type', 'text/event-stream')
            self.end_headers()
            for index, start in enumerate(range(0, len(text), TOKEN_CHARACTERS)):
                if ending.wait(max(0.0, answered.begun_s + pace.due_s(index) - time.time())):
                    return
                end = start + TOKEN_CHARACTERS
                self._chunk({'content': text[start:end]}, None)
                if not answered.first_line_s and ('\n' in text[:end] or end >= len(text)):
                    answered.first_line_s = time.time()
            self._chunk({}, 'stop')
            self.wfile.write(b'data: [DONE]\n\n')
            answered.ended_s = time.time()

        def _chunk(self, delta: dict[str, str], finish: str | None) -> None:
            choice = {'index': 0, 'delta': delta, 'finish_reason': finish}
            chunk = {'id': 'paced', 'object': 'chat.completion.chunk', 'created': 0}
            data = json.dumps({**chunk, 'model': 'paced', 'choices': [choice]})
            self.wfile.write(f'data: {data}\n\n'.encode())
            self.wfile.flush()

        def _json(self, code: int, body: object) -> None:
            data = json.dumps(body).encode()
            self.send_response(code)
            self.send_header('Content-Type', 'application/json')
            self.send_header('Content-Length', str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    class Server(ThreadingHTTPServer):
        daemon_threads = False  # the replies end before the server has ended

        def handle_error(self, *_: object) -> None:
            pass  # a client that went away in mid-reply, as one does that has read enough

    server = Server(('127.0.0.1', 0), Handler)
    served.base_url = f'http://127.0.0.1:{server.server_port}/v1'
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), name='paced server')
    thread.start()
    try:
        yield served
    finally:
        ending.set()
        server.shutdown()
        server.server_close()
        thread.join(END_S)
