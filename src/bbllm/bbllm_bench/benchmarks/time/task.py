"""
Rows of a task in words: its time beside the Brain's first step and the motion, models paced.

A task of ten steps is carried out in the simulator of this process at speed 1. It cannot take less
than the Brain needs for the first line of its plan, and the arm for all calls; everything else is
a wait that could overlap with these.

The model is behind a server that replies at a pace. What a request asks for is read from the last
line of its prompt, as a model reads it; the replies are written here.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bbllm.api.robot import Robot
from bbllm.core.errors import ParseError, WorldError
from bbllm.core.events import Ending, Event
from bbllm.core.types import Outcome
from bbllm.llm.config import ModelConfig
from bbllm.llm.openai.chat import OpenAIChat
from bbllm.llm.openai.settings import openai_settings
from bbllm.testing import Handler, ModelServer, Pace, chunk, status, tokens_of
from bbllm_bench.benchmarks.time.figures import Measured

REPEATS = 3
SCENE = 'tabletop'
MOVES = (
    ('red', 'B'),
    ('blue', 'C'),
    ('yellow', 'A'),
    ('orange', 'D'),
    ('aqua', 'E'),
)
"""Cubes of the scene, and the locations where they go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskScript:
    """A task, its goal, and for each step of the plan the words and the call."""

    task: str
    goal: str
    steps: tuple[tuple[str, str, str], ...]
    """Of each step: its words, the skill and the argument of its call."""

    def reply(self, prompt: str, *, in_json: bool) -> tuple[str, str]:
        """
        Return what is asked for (`goal`, `plan` or `call`), and the reply.

        Raises:
            ParseError: The prompt asks for something else.
        """
        last = prompt.rstrip().rsplit('\n', 1)[-1]
        if last == 'Conditions:':
            return 'goal', self.goal
        if last == 'Step-by-step plan:':
            lines = [words for words, _, _ in self.steps] + ['Done']
            return 'plan', '\n'.join(f'{i}: {words}' for i, words in enumerate(lines))
        if last == 'Call:':
            asked = re.findall(r'^Step: (?:<data>)?(\d+)', prompt, re.MULTILINE)[-1]
            return 'call', self._call(int(asked), in_json)
        raise ParseError(
            f'The paced server has no reply to a prompt that ends with {last[-80:]!r}; it '
            'replies to "Conditions:", "Step-by-step plan:" and "Call:".'
        )

    def _call(self, number: int, in_json: bool) -> str:
        _, skill, arg = self.steps[number]
        if not in_json:
            return f'{number}: {skill}({arg})'
        entry = {'step': number, 'skill': skill, 'args': [arg], 'numbers': [], 'reason': ''}
        return json.dumps({'calls': [entry]})


@dataclass(slots=True, kw_only=True)
class Answered:
    """One request, on the clock of `time.time`."""

    kind: str
    begun_s: float
    first_line_s: float = 0.0
    """When the first line of the reply was complete."""


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
        handler.send_event(chunk('', finish='stop'))
        handler.end_stream()


def script_of(*, by_body: bool) -> TaskScript:
    """Return the task; its steps are calls in words, or with *by_body* such as need the Body."""
    steps = []
    for colour, place in MOVES:
        cube, location = f'{colour}_cube', f'location_{place}'
        up, down = f'pick {cube}', f'place {cube} on {location}'
        if by_body:
            up, down = f'get hold of the {colour} one', f'let it stand on spot {place}'
        steps += [(up, 'pick', cube), (down, 'place', location)]
    wanted = [f'the {colour} cube on location_{place}' for colour, place in MOVES]
    goal = [f'on({colour}_cube, location_{place})' for colour, place in MOVES]
    return TaskScript(task=f'put {", ".join(wanted)}', goal='\n'.join(goal), steps=tuple(steps))


def measure_tasks(repeats: int, seed: int) -> Mapping[str, Measured]:
    """Carry out the task, with steps of either kind; the same each time, whatever the seed."""
    rows = {}
    for key, by_body in (('task', True), ('calls', False)):
        walls, leasts = [], []
        for _ in range(repeats):
            events, answered = play(script_of(by_body=by_body), Pace())
            walls.append(events[-1].stamp_s - events[0].stamp_s)
            leasts.append(first_step_s(answered) + motion_s(events))
        rows[key] = Measured(values=tuple(walls), references=tuple(leasts), paired=True)
    return rows


def play(
    script: TaskScript, pace: Pace, speed: float = 1.0
) -> tuple[Sequence[Event], Sequence[Answered]]:
    """
    Carry out a task with paced models; return its events and the requests that were answered.

    Raises:
        WorldError: The task did not end FINISHED.
    """
    events: list[Event] = []
    task = PacedTask(script, pace)
    with ModelServer(task) as server:
        section = ModelConfig(provider='openai', model='paced', base_url=server.url)
        # Whatever keys are set, none is sent to this server.
        model = OpenAIChat(openai_settings(section, 'brain', {}))
        with Robot('sim', scene=SCENE, brain=model, speed=speed, journal=False) as robot:
            episode = robot.do(script.task, on_event=events.append)
        if episode.ending is not Ending.FINISHED:
            raise WorldError(f'The task ended as {episode.ending}: {episode.message}')
        return events, list(task.answered)


def first_step_s(answered: Sequence[Answered]) -> float:
    """Return how long the first line of the plan took from its request on [s]."""
    plan = next(item for item in answered if item.kind == 'plan')
    return plan.first_line_s - plan.begun_s


def motion_s(events: Sequence[Event]) -> float:
    """Return the robot's time of all calls [s]."""
    return math.fsum(event.data.duration_s for event in events if isinstance(event.data, Outcome))
