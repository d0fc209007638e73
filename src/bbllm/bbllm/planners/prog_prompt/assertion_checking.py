"""Whether what a program asserts holds: by the facts themselves, or as told to a model."""

from __future__ import annotations

from collections.abc import Iterable

from bbllm.core.errors import ParseError
from bbllm.core.instance_names import class_of
from bbllm.core.types import Scene
from bbllm.planners.common.program import HANDS, ProgramCondition
from bbllm.planners.common.scene_graph import (
    CHARACTER,
    SceneGraph,
    meant_by,
    scene_graph,
    squeezed,
)

STATE_WORDS = {
    'opened': 'open',
    'switchon': 'on',
    'switchedon': 'on',
    'turnedon': 'on',
    'switchoff': 'off',
    'switchedoff': 'off',
    'turnedoff': 'off',
    'pluggedin': 'plugged_in',
    'pluggedout': 'plugged_out',
}
"""What a program may call a state, and what a scene calls it."""


def holds(condition: ProgramCondition, scene: Scene, found: str | None) -> bool:
    """
    Return whether a condition holds by the facts of a scene; what no fact says does not hold.

    A word means any thing of its class. Only of a state it is that of what was found last, where
    the word fits that; else of what is close, where some of the class is; else of any.

    Args:
        condition: What is asserted.
        scene: As it is now.
        found: What the program has gone to last.
    """
    around = scene_graph(scene)
    names = meant_by(condition.subject, scene.names)
    return _is_so(condition, scene, around, names, found) is not condition.negated


def _is_so(
    condition: ProgramCondition,
    scene: Scene,
    around: SceneGraph,
    names: list[str],
    found: str | None,
) -> bool:
    if condition.relation == 'close':
        return any(name in around.close or name in around.held for name in names)
    if condition.relation == 'is':
        state = squeezed(condition.object)
        wanted = STATE_WORDS.get(state, state)
        near = [name for name in names if name in around.close]
        looked_at = [found] if found in names else near or names
        states = [state for name in looked_at for state in around.states.get(name or '', ())]
        return any(squeezed(state) == squeezed(wanted) for state in states)
    if squeezed(condition.object) in (HANDS, 'hand'):
        return any(name in around.held for name in names)
    others = meant_by(condition.object, scene.names)
    wanted = 'inside' if condition.relation == 'in' else 'on'
    return any(
        relation == wanted and thing in names and other in others
        for thing, relation, other in around.placed
    )


def state_text(condition: ProgramCondition, scene: Scene) -> str:
    """
    Write what a model is told of the state: what is close and what is held, by its class.

    Only what is about the things of the condition is told. Things inside something closed are
    not seen.
    """
    around = scene_graph(scene)
    hidden = around.hidden
    seen = [name for name in scene.names if name in around.close and name not in hidden]
    seen = [name for name in seen if class_of(name) != CHARACTER]
    about = {squeezed(word) for word in condition.words}

    def told(*names: str) -> bool:
        return any({squeezed(name), squeezed(class_of(name))} & about for name in names)

    items = [_with_states(name, around) for name in seen if told(name)]
    shown = {*seen, *around.held}
    items += [
        f'{class_of(thing)} {relation} {class_of(other)}'
        for thing, relation, other in around.placed
        if thing in shown and other in shown and told(thing, other)
    ]
    held = [class_of(name) for name in around.held if told(name)]
    have = f' You have: {", ".join(_once(held))}.' if held else ''
    return f'You see: {", ".join(_once(items)) or "nothing of this"}.{have}'


def _with_states(name: str, around: SceneGraph) -> str:
    states = around.states.get(name, ())
    return class_of(name) + (f' is {" and ".join(states)}' if states else '')


def _once(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))


def parse_verdict(text: str) -> bool:
    """
    Read what a model says of an assertion.

    Raises:
        ParseError: It is neither `True` nor `False`.
    """
    words = text.replace('`', ' ').replace('*', ' ').split()
    word = words[0].strip('.,:;!').lower() if words else ''
    if word not in ('true', 'false'):
        raise ParseError(f'{text.strip()[:80]!r} is no verdict. Answer with True or False alone.')
    return word == 'true'
