"""Prompts: template files, the text of a scene, and the request for a reply."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from textwrap import shorten
from typing import TypeVar

import jinja2

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import ParseError
from bbllm.core.naming import class_of, instance_name
from bbllm.core.protocols import ChatModel, JsonSchema, Message, PromptRequest
from bbllm.core.text import DATA_RULE, as_data, escape_line, untagged
from bbllm.core.types import Kind, Scene, Skill, Task
from bbllm.llm.reply_text import without_reasoning
from bbllm.planners.domains.scene_graph import (
    CHARACTER,
    HOUSEHOLD,
    SceneGraph,
    is_open,
    meant_by,
    scene_graph,
    sensed_only,
    whereabouts,
)
from bbllm.planners.domains.tabletop.scene_text import table_environment

COMMON = 'bbllm.planners.common'


@cache
def templates(package: str, *, keep_trailing_newline: bool = False) -> jinja2.Environment:
    """
    Return the templates in the folder `prompts` of a package, then in that of `planners.common`.

    `core.text` is in all.
    """
    folders = dict.fromkeys((package, COMMON))
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(each, 'prompts') for each in folders]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=keep_trailing_newline,
        autoescape=False,  # the output is read by a model, not by a browser
    )
    environment.globals['data_rule'] = DATA_RULE
    environment.globals['house_end'] = HOUSE_END
    environment.filters['data'] = as_data
    return environment


def render(package: str, name: str, /, **values: object) -> str:
    return templates(package).get_template(f'{name}.md.j2').render(values).rstrip()


def source(environment: jinja2.Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


T = TypeVar('T')

SYNTAX = '<rob0>[action] <argument>, or <rob0>[action] where it takes none'
HOUSE_SYNTAX = (
    '<char0>[action] <object>, or <char0>[action] <object><place> where it takes two, or '
    '<char0>[action] where it takes none'
)
"""Forms of a call on a table and in a household."""
HOUSE_END = (
    'What no action does, such as to eat, is left out, and all before it is done: what is eaten, '
    'read or used on the body ends in a hand, and what belongs on it lies on it (jam on the '
    'bread, the bread held). Nothing more has to be held. A device has done its work as soon as '
    'it is on; what it made may stay in it.'
)
"""What the end of a task in a household is, for every prompt that asks for its steps."""
EXACT_END = (
    'The task names all that has to be so at the end, and actions that have to be among the '
    'steps. It names objects with their numbers, such as light_1002, and so may steps; the '
    'environment lists them without. The character is you.'
)
"""The same where tasks name single objects and actions, see `Scene.offers_all`."""
REPLY_KEPT = 4000
"""How much of a bad reply a retry repeats [characters]."""
REPLY_QUOTED = 200
"""How much of it an error quotes [characters]."""

WORLD_FORM = re.compile(r'<([^<>]{1,80})> \(([0-9]{1,9})\)')
"""An object in the messages of a household: `<fridge> (305)`."""


def by_class(message: str, scene: Scene, *, places: bool = True) -> str:
    """
    Return a message of a household without ids, which its prompts never contain.

    With `places`, one of several objects of a class is told by its place: `<plate> (in the sink)`.
    """
    if scene.domain != HOUSEHOLD:
        return message
    around = scene_graph(scene)

    def told(found: re.Match[str]) -> str:
        name = instance_name(found[1], int(found[2]))
        where = whereabouts(name, around) if len(meant_by(found[1], scene.names)) > 1 else ''
        return f'<{found[1]}>' + (f' ({where})' if where and places else '')

    return WORLD_FORM.sub(told, message)


def describe_skill(skill: Skill) -> str:
    """Return a skill as `pick(object), also called grasp: ...`."""
    also = f', also called {", ".join(skill.aliases)}' if skill.aliases else ''
    summary = f': {skill.summary}' if skill.summary else ''
    return f'{skill.name}({", ".join(skill.params)}){also}{summary}'


def declared(skill: Skill) -> str:
    """Return a skill with its parameters: `putin <obj> <obj>`."""
    kinds = ['<seconds>' if param == 'seconds' else '<obj>' for param in skill.params]
    return ' '.join([skill.name, *kinds])


def environment(scene: Scene, *, reach: bool = True) -> str:
    """
    Return the sensed scene as text: on a table a row per object, then a line per fact.

    `reach` marks what is out of reach on a table; without it a planner learns that from feedback.
    """
    scene = sensed_only(scene)
    if scene.domain == HOUSEHOLD:
        return house_environment(scene)
    return table_environment(scene, reach=reach)


def believed(scene: Scene) -> str:
    """Return the open state of a scene, a line per fact; in a household by class."""
    facts = list(filter(is_open, scene.facts))
    if scene.domain == HOUSEHOLD:
        facts = [
            replace(fact, subject=class_of(fact.subject), object=class_of(fact.object))
            for fact in facts
        ]
    return '\n'.join(dict.fromkeys(map(str, facts)))


EXPECTED_STATES = frozenset({'clean', 'plugged_in'})
"""States that prompts omit."""

_WORDS = {'inside': 'inside', 'on': 'on it'}


def house_environment(scene: Scene) -> str:
    """Return a line on the robot and one for each room, by class; equal ones are counted."""
    around = scene_graph(scene)
    rooms = [item.name for item in scene.objects if item.kind is Kind.LOCATION]
    contents: dict[str, dict[str, list[str]]] = {}
    for name, relation, other in around.placed:
        if other not in rooms and class_of(name) != CHARACTER:
            contents.setdefault(other, {}).setdefault(relation, []).append(name)
    placed = {name for lists in contents.values() for names in lists.values() for name in names}

    def described(name: str, above: frozenset[str] = frozenset()) -> str:
        states = [s for s in around.states.get(name, ()) if s not in EXPECTED_STATES]
        parts = [', '.join(states)] if states else []
        above |= {name}
        for relation, words in _WORDS.items():
            inner = contents.get(name, {}).get(relation, ())
            if texts := [described(n, above) for n in inner if n not in above]:
                parts.append(f'{words}: {_counted(texts, ", ")}')
        return class_of(name) + (f' ({"; ".join(parts)})' if parts else '')

    lines = _about_the_robot(around)
    others = {*rooms, *around.held, *placed}
    loose = [n for n in scene.names if n not in others and class_of(n) != CHARACTER]
    for room in rooms:
        there = [described(name) for name in loose if around.rooms.get(name) == room]
        nothing = 'nothing' if scene.whole else 'nothing seen yet'
        lines.append(f'{class_of(room)}: {_counted(there, "; ") or nothing}')
    if nowhere := [described(name) for name in loose if name not in around.rooms]:
        lines.append(f'elsewhere: {_counted(nowhere, "; ")}')
    return '\n'.join(lines)


def _about_the_robot(around: SceneGraph) -> list[str]:
    me = around.character or ''
    room = around.rooms.get(me)
    where = f'You are in the {class_of(room)}. ' if room else ''
    posture = [state for state in around.states.get(me, ()) if state in ('sitting', 'lying')]
    seats = [class_of(other) for thing, _, other in around.placed if thing == me and other != room]
    resting = f'You are {posture[0]} on the {", ".join(seats)}. ' if posture and seats else ''
    held = _counted(map(class_of, around.held), ', ') or 'nothing'
    lines = [f'{where}{resting}In your hands: {held}.']
    near = sorted({class_of(n) for n in around.reachable.difference(around.held)} - {CHARACTER})
    if near:
        lines.append(f'Close to you: {", ".join(near)}.')
    return lines


def _counted(texts: Iterable[str], between: str) -> str:
    counts = Counter(texts)
    return between.join(f'{n} {text}' if n > 1 else text for text, n in counts.items())


def one_line(text: str) -> str:
    """
    Put text on one line, so that it cannot imitate a label or delimiter of the prompt.

    Characters that are not visible are written as text: a model reads what a person sees.
    """
    return untagged(escape_line(text))


def task_text(task: Task) -> str:
    """Return a task as prompts have it: its line, and a line for each addition."""
    return '\n'.join(map(one_line, (task.instruction, *task.added)))


def ask(
    model: ChatModel,
    prompt: str,
    read: Callable[[str], T],
    *,
    request: PromptRequest | None = None,
    schema: JsonSchema | None = None,
    on_retry: Callable[[str], None] | None = None,
    cancel: CancelToken | None = None,
    images: tuple[bytes, ...] = (),
) -> T:
    """
    Ask a model, and once more with the reason if `read` raises ParseError for its reply.

    `request` is the prompt as data, `images` are its pictures, `schema` is the JSON schema of the
    reply for a model that supports that, and `on_retry` receives the reason for the second
    request. `cancel` ends both.
    `read` gets replies without reasoning. ParseError if the second reply cannot be read either.
    """
    wanted = schema if model.supports_schema else None
    messages = [Message('user', prompt, request, images)]
    while True:
        reply = without_reasoning(model.complete(messages, schema=wanted, cancel=cancel).text)
        try:
            return read(reply)
        except ParseError as error:
            if len(messages) > 1:
                printable = ''.join(char if char.isprintable() else ' ' for char in reply)
                # Feedback to the Brain has this text, so it names no model.
                raise ParseError(
                    f'Neither of two replies can be read. {error} The second was: '
                    f'{shorten(printable, REPLY_QUOTED, placeholder=" ...")!r}'
                ) from error
            if on_retry is not None:
                on_retry(f'A reply of {model.name} cannot be read, so it is asked again. {error}')
            messages += [
                Message('assistant', reply[:REPLY_KEPT]),
                Message('user', f'That reply cannot be used. {error} Please reply again.'),
            ]
