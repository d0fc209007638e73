"""Events of an episode, as a view is told of them."""

from __future__ import annotations

from bbllm.cli.views.progress import Progress, StepState
from bbllm.core.events import Event, EventKind


def outcome(call: str, status: str = 'SUCCEEDED', message: str = '') -> Event:
    skill, _, arg = call.partition(' ')
    code = 'NONE' if status == 'SUCCEEDED' else 'OUT_OF_WORKSPACE'
    data = {
        'call': {'skill': skill, 'args': [arg] if arg else []},
        'status': status,
        'code': code,
        'message': message,
        'duration_s': 2.0 if status == 'SUCCEEDED' else 0.0,
    }
    return event(EventKind.OUTCOME, **data)


def event(kind: EventKind, **data: object) -> Event:
    return Event(kind, 100.0, data)


STARTED = event(EventKind.STARTED, episode_id='e1', task='stack', planner='p', brain='b', body='b')
PLAN = event(EventKind.PLAN, steps=['pick a', 'put it on b', 'pick c'], start=0)
FAR = 'c is out of the workspace of the robot.'


def step(index: int, text: str = '') -> Event:
    return event(EventKind.STEP, index=index, text=text or f'step {index}')


def call(skill: str, *args: str) -> Event:
    return event(EventKind.CALL, skill=skill, args=list(args))


def after(*events: Event) -> Progress:
    progress = Progress()
    for item in (STARTED, PLAN, *events):
        progress.take(item)
    return progress


def states(progress: Progress) -> list[tuple[int, StepState]]:
    return [(row.index, row.state) for row in progress.rows]


REPAIRED = (
    step(0),
    call('pick', 'a'),
    outcome('pick a'),
    step(1),
    call('pick', 'c'),
    outcome('pick c', 'REJECTED', FAR),
    event(EventKind.REPAIR, index=1, text='step 1', cause=FAR, loop=1),
    event(EventKind.PLAN, steps=['pick a', 'pick d', 'rest'], start=1),
)
