"""
Every prompt of every planner, as files: `snapshots/<planner>-<world>.txt`.

Each file is one episode: how it is set up, what the models are asked and what they reply. The
replies are read from the file, the prompts are compared with it. To renew all prompts:

    RENEW_SNAPSHOTS=1 python -m pytest tests/planners/test_prompt_snapshots.py

A new episode is a file with a head and replies; renewing adds the prompts.
"""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ModelUnavailableError
from bbllm.core.events import Limits
from bbllm.core.protocols import ModelRequest, OnText, Reply
from bbllm.core.registry import planner_names
from bbllm.core.types import Code, Task
from bbllm.worlds.household.visibility import Visibility
from tests.planners.chosen import built
from tests.planners.pop_runs import Scales
from tests.planners.small_house import SmallHouse
from tests.planners.symbolic_table import SymbolicTabletop

FOLDER = Path(__file__).parent / 'snapshots'
FILES = sorted(FOLDER.glob('*.txt'))
RENEW = 'RENEW_SNAPSHOTS' in os.environ
OBJECTS = {
    'red_cube': (0.40, 0.12),
    'blue_cube': (0.48, 0.20),
    'grey_cylinder': (0.60, 0.15),
    'location_A': (0.54, -0.18),
    'location_B': (0.48, -0.12),
}
WEIGHTS_N = {'red_cube': 0.6, 'blue_cube': 1.1, None: 0.0}
MARK = '########'
_HEADING = re.compile(rf'^{MARK} (.*)$', re.MULTILINE)


class Transcript:
    """The replies of a file, given in turn; writes down what is asked."""

    supports_schema = False

    def __init__(self, role: str, replies: list[tuple[str, str]], lines: list[str]):
        self.name = 'scripted'
        self.on_reply: Callable[[], None] = lambda: None
        self._role = role
        self._replies = replies
        self._lines = lines

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        """Give the next reply, which has to be of this role."""
        messages = request.messages
        roles = [message.role for message in messages]
        what = 'is asked' if 'assistant' not in roles else 'is asked again'
        system = [f'{MARK} {self._role} is instructed', messages[0].content]
        if roles[0] == 'system' and system[1] not in self._lines:
            self._lines += system
        offered = [
            f'{MARK} {self._role} is offered',
            request.declared_tools.replace('}, {"name"', '},\n {"name"'),
        ]
        if request.tools and offered[1] not in self._lines:
            self._lines += offered
        self._lines += [f'{MARK} {self._role} {what}', messages[-1].content]
        if not self._replies:
            raise ModelUnavailableError('There are no more replies.')
        role, text = self._replies.pop(0)
        assert role == self._role, f'{self._role} is asked, but the next reply is of {role}'
        self._lines += [f'{MARK} {role} replies', text]
        self.on_reply()
        return Reply(text=text, model=self.name)


def read(path: Path) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return the head of a file, and its replies with their roles."""
    head, *parts = _HEADING.split(path.read_text())
    settings = dict(line.split(': ', 1) for line in head.strip().splitlines())
    replies = [
        (heading.split()[0], text.strip('\n'))
        for heading, text in zip(parts[::2], parts[1::2], strict=True)
        if heading.endswith('replies')
    ]
    return settings, replies


def world_of(settings: Mapping[str, str]) -> Any:
    """Make the world that a head describes."""
    if settings['world'] == 'house':
        return SmallHouse()
    if settings['world'] == 'rooms':
        return SmallHouse(Visibility(reach='rooms_seen'))
    faults = [item.split(' ', 1) for item in settings.get('faults', '').split('; ') if item]
    table = SymbolicTabletop(
        OBJECTS,
        unreachable=settings.get('unreachable', '').split(),
        faults=[(call, Code[code], f'{call} ended with {code}.') for call, code in faults],
    )
    return Scales(table, WEIGHTS_N)


def play(path: Path) -> tuple[str, list[tuple[str, str]]]:
    """Play the episode of a file; return it as it went, and replies that were not asked for."""
    settings, replies = read(path)
    name = settings['planner']
    lines = [f'{key}: {value}' for key, value in settings.items()]
    brain, body = (Transcript(role, replies, lines) for role in ('brain', 'body'))
    run = EpisodeRun(
        Task('t', settings['task']), planner=name, brain='b', body='b', limits=Limits()
    )
    remark = [settings['said']] if 'said' in settings else []
    brain.on_reply = lambda: run.add_feedback(remark.pop()) if remark else None
    episode = run.execute(built(run, name, brain, body), world_of(settings))
    lines.append(f'{MARK} {episode.ending.name}')
    return '\n'.join(lines) + '\n', replies


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.stem)
def test_prompts_are_those_of_the_snapshot(path: Path) -> None:
    played, unused = play(path)

    if RENEW:
        path.write_text(played)
    assert unused == []
    assert played == path.read_text()


def test_every_planner_has_a_snapshot() -> None:
    names = {read(path)[0]['planner'].partition(':')[0] for path in FILES}

    assert names == set(planner_names())
