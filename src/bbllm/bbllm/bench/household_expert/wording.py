"""A plan in the formats of the planners: steps in words, calls in brackets, a program."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from bbllm.bench.household_expert.moves import Said
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action

STEPS: Mapping[Action, str] = {
    Action.WALK: 'walk to the {}',
    Action.GRAB: 'grab the {}',
    Action.OPEN: 'open the {}',
    Action.CLOSE: 'close the {}',
    Action.PUTIN: 'put the {} in the {}',
    Action.PUTBACK: 'put the {} on the {}',
    Action.SWITCHON: 'switch on the {}',
    Action.SWITCHOFF: 'switch off the {}',
    Action.SIT: 'sit on the {}',
    Action.STANDUP: 'stand up',
}
"""How a step says each of the actions that a search uses."""
_READ = {
    action: re.compile(text.replace('{}', r'(\S+)'), re.IGNORECASE)
    for action, text in STEPS.items()
}


def said(lines: Iterable[ScriptLine]) -> list[Said]:
    """Return lines in classes, as planners ask for them."""
    return [(line.action, tuple(name for name, _ in line.objects)) for line in lines]


def step_text(item: Said) -> str:
    """Write an action as a step in words."""
    action, words = item
    return STEPS[action].format(*words)


def read_step(text: str) -> Said | None:
    """Read a step that `step_text` wrote; None where it is another."""
    for action, form in _READ.items():
        if found := form.fullmatch(text.strip().rstrip('.')):
            return action, found.groups()
    return None


def bracketed(item: Said, offered: Collection[str]) -> str:
    """Write a call as a Body does: `<char0>[putin] <salmon><fridge>`."""
    action, words = item
    word = 'put' if action is Action.PUTBACK and 'put' in offered else action.skill
    things = ''.join(f'<{name}>' for name in words)
    return f'<char0>[{word}] {things}'.rstrip()


def program(
    items: Sequence[Said], *, comments: bool, assertions: bool, rooms: Collection[str]
) -> str:
    """
    Write a program: a part for each way that is gone.

    Args:
        items: The plan.
        comments: Whether parts begin with a comment.
        assertions: Whether it is asserted what has to hold.
        rooms: Classes that nobody is ever close to.
    """
    lines: list[str] = []
    n_parts = 0
    for i, item in enumerate(items):
        if comments and (i == 0 or item[0] is Action.WALK):
            n_parts += 1
            lines.append(f'# {n_parts}: {step_text(item)}')
        before, after = _assertions(item, rooms) if assertions else ([], [])
        words = ', '.join(map(repr, item[1]))
        lines += [*before, f'{item[0].skill}({words})', *after]
    return '\n'.join(lines) or ('# nothing is left to do' if comments else 'pass')


def _assertions(item: Said, rooms: Collection[str]) -> tuple[list[str], list[str]]:
    """Return what is asserted before a call, and after it."""
    action, words = item
    if action is Action.WALK and words[0] not in rooms:
        return [], [f"assert('close' to {words[0]!r})", f'\telse: find({words[0]!r})']
    if action in (Action.PUTIN, Action.PUTBACK):
        thing, place = words
        return [
            f"assert({thing!r} in 'hands')",
            *(f'\telse: {call}({name!r})' for call, name in _fetch(thing, place)),
        ], []
    return [], []


def _fetch(thing: str, place: str) -> list[tuple[str, str]]:
    return [('find', thing), ('grab', thing), ('find', place)]
