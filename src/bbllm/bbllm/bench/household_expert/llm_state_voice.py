"""
What `expert` says as LLM-State's attention, state estimator and policy.

As policy it reads all that its prompt tells. From the history it takes where things are and what
they are called, and which steps failed against all that was known. What the state says goes
before that: open or on, warm, and, where there is a summary, why steps failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bbllm.bench.household_expert.conclusions import concluded_in, conclusion
from bbllm.bench.household_expert.lessons import GIVES_UP_AFTER, NOTHING, given_up
from bbllm.bench.household_expert.moves import focus_on
from bbllm.bench.household_expert.replay import Replay, Tried
from bbllm.bench.household_expert.told import Told
from bbllm.planners.belief.grammar import ADD, REASON, UPDATE
from bbllm.planners.belief.prompting import PLAN_LIMIT
from bbllm.planners.common.scene_graph import surroundings

_BLOCK = r'^==== {0} ====\n(.*?)\n==== end of {0} ====$'
_STATE = re.compile(_BLOCK.format('current state'), re.MULTILINE | re.DOTALL)
_OBSERVED = re.compile(_BLOCK.format('current observation'), re.MULTILINE | re.DOTALL)
_DONE = re.compile(_BLOCK.format('robot actions'), re.MULTILINE | re.DOTALL)
_HISTORY = re.compile(_BLOCK.format('history actions'), re.MULTILINE | re.DOTALL)
_TRIED = re.compile(r'^(\w+\([^()]*\)) (Success|Fail)\b(?:: (.*))?', re.MULTILINE)
_REASONING = re.compile(r'^Reasoning: (.*)', re.MULTILINE | re.DOTALL)
_LISTED = re.compile(r'(\w+?\d+) (?:IN|ON) \w')


def llm_state_voice(prompt: str, told: Told) -> str | None:
    """Answer a prompt of `llm_state`; see `told.Voice`."""
    if prompt.startswith('You are the attention of a robot.'):
        return '\n'.join(_attended(prompt, told)) or 'none'
    if prompt.startswith('You are the memory of a robot.'):
        return '\n'.join(_estimated(prompt, told)) or 'none'
    if prompt.startswith('You plan for a robot.') and 'Low-level Action Plan:' in prompt:
        return _planned(prompt, told)
    return None


def _attended(prompt: str, told: Told) -> Iterator[str]:
    """Name what is seen of the classes that matter to the goal, and is not in the state yet."""
    household, goal = told.case()
    matters = {name for item in goal.all for name in focus_on(item, household.graph).all}
    known = set(_things(prompt))
    for thing in dict.fromkeys(_LISTED.findall(_block(_OBSERVED, prompt))):
        if thing not in known and re.sub(r'\d+$', '', thing) in matters:
            yield f'{ADD}("{thing}")'


def _estimated(prompt: str, told: Told) -> Iterator[str]:
    replay = Replay(told, _tried(_block(_DONE, prompt)))
    if f'\n{REASON}(' in prompt:
        yield f'{REASON}("{_summary(replay)}")'
    if f'\n{UPDATE}(' in prompt:
        for thing in _things(prompt):
            yield f'{UPDATE}("{thing}", "{" | ".join(_attributes(thing, replay))}")'


def _summary(replay: Replay) -> str:
    n_failed = len(replay.causes)
    n_done = len(replay.history) - n_failed
    text = f'{n_done} actions succeeded and {n_failed} failed.'
    for i, cause in replay.causes.items():
        surprise = replay.surprises.get(i)
        why = conclusion(surprise, replay.short) if surprise else cause.replace('_', ' ')
        text += f' Action {i + 1}, {replay.history[i].text}, failed, most likely by: {why}.'
    return text


def _attributes(thing: str, replay: Replay) -> list[str]:
    """Return where a thing is and how, by what was done since the start."""
    name = replay.names.name(thing)
    around = surroundings(replay.world.observe())
    if name is None:
        return []
    words = [word.replace('_', ' ') for word in around.states.get(name, ())]
    if name in around.held:
        return ['in hand', *words]
    places = [
        f'{relation} {replay.names.short(other)}'
        for subject, relation, other in around.placed
        if subject == name
    ]
    return [*places, *words]


def _planned(prompt: str, told: Told) -> str:
    replay = Replay(told, _tried(_block(_HISTORY, prompt)))
    state = _block(_STATE, prompt)
    reasoning = _REASONING.search(state)
    concluded = concluded_in(reasoning[1], replay.id_of) if reasoning else NOTHING
    for thing, words in _attributes_in(state):
        if words and (node_id := replay.id_of(thing)) is not None:
            replay.believe(node_id, words)
    calls = replay.plan(PLAN_LIMIT - 1, replay.lessons | concluded)
    if not calls:
        return 'Low-level Action Plan:\ndone'
    if replay.failures_of(calls[0]) >= GIVES_UP_AFTER:
        return f'cannot: {given_up(str(calls[0]))}'
    lines = [f'{i}. {call}' for i, call in enumerate(calls, 1)]
    return '\n'.join(['Low-level Action Plan:', *lines])


def _tried(block: str) -> list[Tried]:
    return [Tried(call, how == 'Success', why) for call, how, why in _TRIED.findall(block)]


def _things(prompt: str) -> list[str]:
    """Return the things of the current state."""
    return [thing for thing, _ in _attributes_in(_block(_STATE, prompt))]


def _attributes_in(state: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the things of a state with what is said of each."""
    for line in state.partition('Reasoning: ')[0].splitlines():
        thing, colon, words = line.partition(': ')
        if colon:
            yield thing, [] if words == '[]' else words.split(' | ')


def _block(form: re.Pattern[str], prompt: str) -> str:
    found = form.search(prompt)
    return found[1] if found else ''
