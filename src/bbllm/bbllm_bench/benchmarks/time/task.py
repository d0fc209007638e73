"""
Rows of a task in words: its time beside the Brain's first step and the motion, models paced.

A task of ten steps is carried out in the simulator of this process at speed 1. It cannot take less
than the Brain needs for the first line of its plan, and the arm for all calls; everything else is
a wait that could overlap with these. Where a task waits is read from its events: while a call
runs, for the arm; else while a model replies, for that; else for planning and all the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from bbllm.api.robot import Robot
from bbllm.core.errors import WorldError
from bbllm.core.events import Ending, Event, ModelCall
from bbllm.core.types import Outcome, SkillCall
from bbllm.llm.config import ModelConfig
from bbllm.llm.openai.chat import OpenAIChat
from bbllm.llm.openai.settings import openai_settings
from bbllm.testing import ModelServer, Pace
from bbllm_bench.benchmarks.time.figures import Measured
from bbllm_bench.benchmarks.time.paced_task import Answered, PacedTask, TaskScript

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
Span = tuple[float, float]


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


def measure_tasks(
    repeats: int, seed: int, advance: Callable[[str], None], pace: Pace | None = None
) -> Mapping[str, Measured]:
    """Carry out the task, with steps of either kind; the same each time, whatever the seed."""
    rows = {}
    for key, by_body in (('task', True), ('calls', False)):
        walls, leasts, parts = [], [], []
        for index in range(repeats):
            events, answered = play(script_of(by_body=by_body), pace or Pace())
            wait = waits_of(events)
            walls.append(sum(wait.values()))
            leasts.append(first_step_s(answered) + motion_s(events))
            parts.append(wait)
            advance(f'task {index + 1} of {repeats}')
        mean = {name: math.fsum(part[name] for part in parts) / repeats for name in parts[0]}
        rows[key] = Measured(
            values=tuple(walls), references=tuple(leasts), paired=True, parts=mean
        )
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


def waits_of(events: Sequence[Event]) -> Mapping[str, float]:
    """Return for what a task waited how long; together its wall time [s]."""
    calls: list[Span] = []
    replies: dict[str, list[Span]] = {'brain': [], 'body': []}
    begun_s = 0.0
    for event in events:
        if isinstance(event.data, SkillCall):
            begun_s = event.stamp_s
        elif isinstance(event.data, Outcome):
            calls.append((begun_s, event.stamp_s))
        elif isinstance(event.data, ModelCall):
            span = (event.stamp_s - event.data.duration_s, event.stamp_s)
            replies[event.data.role].append(span)
    arm, brain = _length(calls), _length(calls + replies['brain'])
    either = _length([*calls, *replies['brain'], *replies['body']])
    whole = events[-1].stamp_s - events[0].stamp_s
    moving = motion_s(events)
    return {
        'Brain': brain - arm,
        'Body': either - brain,
        'arm': moving,
        'planning of motions': arm - moving,
        'all else': whole - either,
    }


def _length(spans: Iterable[Span]) -> float:
    """Return how long at least one of some spans of time lasts [s]."""
    total, until = 0.0, -math.inf
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total
