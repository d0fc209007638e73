"""Prompts: template files, the text of a scene, and the request for a reply."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from textwrap import shorten
from typing import TypeVar

import jinja2

from bbllm.core.arguments import KINDS
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import AskedError, ParseError
from bbllm.core.events import FeedbackReceived
from bbllm.core.protocols import (
    ChatModel,
    EpisodeContext,
    JsonSchema,
    Message,
    ModelRequest,
    PromptRequest,
)
from bbllm.core.text import DATA_RULE, as_data, escape_line, untagged
from bbllm.core.types import Scene, Skill, Task
from bbllm.llm.reply_text import without_reasoning
from bbllm.planners.common.reply_diagnostics import language_of_reply, raise_if_spoken
from bbllm.planners.domains.household.language import HOUSE_END
from bbllm.planners.domains.languages import language_of
from bbllm.planners.domains.scene_graph import is_open, sensed_only

EARLIER = 'Earlier turns with this person, oldest first, which the task may refer to:'
COMMON = 'bbllm.planners.common'
USER = '\x1e\n'
"""
Ends the part of a prompt that is the same in each request of a kind, and is the system message.

That part has no text from outside, so the first occurrence counts.
"""


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
    environment.globals['user'] = USER[0]
    environment.filters['data'] = as_data
    return environment


def render(package: str, name: str, /, **values: object) -> str:
    return templates(package).get_template(f'{name}.md.j2').render(values).rstrip()


def source(environment: jinja2.Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def messages_of(
    prompt: str, request: PromptRequest | None = None, images: tuple[bytes, ...] = ()
) -> list[Message]:
    """Return a prompt as a system message, if it has that part, and a message of the user."""
    fixed, found, now = prompt.partition(USER)
    system = [Message('system', fixed.strip())] if found else []
    return [*system, Message('user', now.lstrip('\n') if found else prompt, request, images)]


T = TypeVar('T')

NOBODY = (
    'Nobody answers questions now. Write the plan of the most likely reading and state it in a '
    'line "assumed: ", or "cannot: " and the reason.'
)
REPLY_KEPT = 4000
"""How much of a bad reply a retry repeats [characters]."""
REPLY_QUOTED = 200
"""How much of it an error quotes [characters]."""


def describe_skill(skill: Skill) -> str:
    """Return a skill as `pick(object), also called grasp: ...`."""
    also = f', also called {", ".join(skill.aliases)}' if skill.aliases else ''
    summary = f': {skill.summary}' if skill.summary else ''
    return f'{skill.name}({", ".join(skill.params)}){also}{summary}'


def declared(skill: Skill) -> str:
    """Return a skill with its parameters: `putin <obj> <obj>`."""
    kinds = [f'<{param}>' if param in KINDS else '<obj>' for param in skill.params]
    return ' '.join([skill.name, *kinds])


def environment(scene: Scene, *, reach: bool = True) -> str:
    """
    Return the sensed scene as text: on a table a row per object, then a line per fact.

    `reach` marks what is out of reach on a table; without it a planner learns that from feedback.
    """
    return language_of(scene).environment(sensed_only(scene), reach=reach)


def believed(scene: Scene) -> str:
    """Return the open state of a scene, a line per fact; in a household by class."""
    facts = map(language_of(scene).fact, filter(is_open, scene.facts))
    return '\n'.join(dict.fromkeys(map(str, facts)))


def one_line(text: str) -> str:
    """
    Put text on one line, so that it cannot imitate a label or delimiter of the prompt.

    Characters that are not visible are written as text: a model reads what a person sees.
    """
    return untagged(escape_line(text))


def task_text(task: Task) -> str:
    """Return a task as prompts have it: its line, a line for each addition, the constraints."""
    lines = [one_line(line) for line in (task.instruction, *task.added)]
    return '\n'.join([*lines, *filter(None, [beside(task)])])


def _earlier(task: Task) -> str:
    """Return the earlier turns of the conversation for a prompt; '' where there are none."""
    turns = '\n'.join(map(one_line, task.history))
    return f'{EARLIER}\n{as_data(turns)}' if turns else ''


def beside(task: Task) -> str:
    """Return what a prompt has below a task: what the world refuses, and earlier turns."""
    words = one_line('; '.join(task.constraints))
    refused = f'A call that breaks this is refused: {words}' if words else ''
    return '\n'.join(filter(None, [refused, _earlier(task)]))


def _with_person(messages: Sequence[Message], *, asks: bool) -> list[Message]:
    """Return a prompt whose fixed part has what a person may ask and be asked as well."""
    rules = render(COMMON, 'person', asks=asks)
    first, *others = messages
    if first.role != 'system':
        return [Message('system', rules), *messages]
    return [replace(first, content=f'{first.content}\n\n{rules}'), *others]


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
    person: EpisodeContext | None = None,
    on_answer: Callable[[Sequence[FeedbackReceived]], None] | None = None,
) -> T:
    """
    Ask a model, and once more with the reason if `read` raises ParseError for its reply.

    Where a *person* gave the task, a reply may be a question to the person, whose answer the model
    then receives, as does *on_answer*; AnsweredError where it is an answer to the person.

    `request` is the prompt as data, `images` are its pictures, `schema` is the JSON schema of the
    reply for a model that supports that, and `on_retry` receives the reason for the second
    request. `cancel` ends both.
    `read` gets replies without reasoning. ParseError if the second reply cannot be read either.
    """
    wanted = schema if model.supports_schema else None
    messages = messages_of(prompt, request, images)
    if person is not None and person.talks:
        messages = _with_person(messages, asks=person.asks)
    again = False
    while True:
        asked = ModelRequest(messages, schema=wanted, cancel=cancel)
        reply = without_reasoning(model.ask(asked).text)
        try:
            if person is None or not person.talks:
                return read(reply)
            try:
                if language := language_of_reply(reply):
                    person.note_language(language)
                raise_if_spoken(reply)
                return read(reply)
            except AskedError as question:
                if not person.asks:
                    raise ParseError(NOBODY) from question
                remarks = person.ask_person(str(question), question.options)
                if on_answer is not None:
                    on_answer(remarks)
                said = '\n'.join(one_line(remark.sentence) for remark in remarks)
                messages += [Message('assistant', reply[:REPLY_KEPT])]
                more = '' if person.asks else ' No further question is answered.'
                messages += [Message('user', f'{said}\nReply to the request with this.{more}')]
        except ParseError as error:
            if again:
                printable = ''.join(char if char.isprintable() else ' ' for char in reply)
                # Feedback to the Brain has this text, so it names no model.
                raise ParseError(
                    f'Neither of two replies can be read. {error.fault} The second was: '
                    f'{shorten(printable, REPLY_QUOTED, placeholder=" ...")!r}'
                ) from error
            if on_retry is not None:
                on_retry(f'A reply of {model.name} cannot be read, so it is asked again. {error}')
            again = True
            messages += [
                Message('assistant', reply[:REPLY_KEPT]),
                Message('user', f'That reply cannot be used. {error} Please reply again.'),
            ]
