"""
A task of ten steps, and a model behind a server that replies to it at a pace.

What a request asks for is read from the last line of its prompt, as a model reads it; the replies
are written here.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from typing import Any

from bbllm.core.errors import ParseError
from bbllm.testing import Handler, Pace, chunk, status, tokens_of


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
            f'The paced server has no reply to a prompt that ends with {last[-80:]!r}; it '
            'replies to "Conditions:", "Step-by-step plan:" and "Calls:".'
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


class PacedTask:
    """The behaviour of a server whose model writes the replies of one task at a pace."""

    def __init__(self, script: TaskScript, pace: Pace) -> None:
        self._script, self._pace = script, pace
        self.answered: list[Answered] = []
        """Of the requests so far, in the order in which they came."""

    def __call__(self, handler: Handler, body: dict[str, Any]) -> None:
        answered = Answered(kind='', begun_s=time.time())
        self.answered.append(answered)
        prompt = body['messages'][-1]['content']
        try:
            answered.kind, text = self._script.reply(prompt, in_json='response_format' in body)
        except ParseError as error:
            status(400, str(error))(handler, body)
            return
        handler.begin_stream()
        written = ''
        for token in handler.paced(tokens_of(text), self._pace):
            handler.send_event(chunk(token))
            written += token
            if not answered.first_line_s and ('\n' in written or written == text):
                answered.first_line_s = time.time()
        answered.ended_s = time.time()  # before the client has the end
        handler.send_event(chunk('', finish='stop'))
        handler.end_stream()
