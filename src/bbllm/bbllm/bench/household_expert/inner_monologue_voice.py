"""What `expert` says in the monologue of Inner Monologue."""

from __future__ import annotations

import re

from bbllm.bench.household_expert.lessons import GIVES_UP_AFTER, given_up
from bbllm.bench.household_expert.replay import Replay, Tried
from bbllm.bench.household_expert.told import Told
from bbllm.bench.household_expert.told_scene import Believing, Moved
from bbllm.planners.inner_monologue.prompting import THOUGHT_KEPT

AHEAD = 12
"""How many calls it plans at once; it says them as its thought, which the next prompt tells."""

_TRIED = re.compile(r'^Robot action: (.*)\nSuccess: (yes|no)(?:: (.*))?', re.MULTILINE)
_SCENE = re.compile(r'^Scene: (.*?)(?=^Robot thought:)', re.MULTILINE | re.DOTALL)
_LEFT_OUT = re.compile(r'^\(\d+ steps that were taken before', re.MULTILINE)
_THEN = re.compile(
    r'Robot thought: Now I do one thing, then (.*)\.\nRobot action: .*\nSuccess: yes'
)


def inner_monologue_voice(prompt: str, told: Told) -> str | None:
    """Answer a prompt of `inner_monologue`; see `told.Voice`."""
    if not prompt.startswith('A robot keeps up a monologue while it works'):
        return None
    monologue = prompt.partition('==== monologue ====\n')[2]
    steps = re.split(r'^(?=Robot thought:)', monologue, flags=re.MULTILINE)
    last = steps[-2] if len(steps) > 2 else ''  # behind the newest step stands an open thought
    if ahead := _THEN.match(last):
        calls = ahead[1].split(', then ')
        return _say(calls)
    history = [Tried(call, how == 'yes', why) for call, how, why in _TRIED.findall(monologue)]
    replay = _replay(monologue, told, history)
    planned = replay.plan(AHEAD)
    if not planned:
        return 'Everything is as the human wants it.\nRobot action: done'
    if replay.failures_of(planned[0]) >= GIVES_UP_AFTER:
        return f'Nothing else would do.\nRobot action: cannot: {given_up(str(planned[0]))}'
    return _say([str(call) for call in planned])


def _say(calls: list[str]) -> str:
    """Say the first call, and as many of the others as a thought can hold."""
    thought = 'Now I do one thing.'
    for n in range(2, len(calls) + 1):
        longer = f'Now I do one thing, then {", then ".join(calls[1:n])}.'
        thought = longer if len(longer) <= THOUGHT_KEPT else thought
    return f'{thought}\nRobot action: {calls[0]}'


def _replay(monologue: str, told: Told, history: list[Tried]) -> Replay:
    """Go through what the prompt tells, from the start or from where the prompt begins."""
    scene = _SCENE.search(monologue)
    if scene is None or not _LEFT_OUT.search(monologue):
        return Replay(told, history)
    moved = Moved(told, scene[1])
    return Believing(moved, history, moved.names)
