"""Skills as tools of a model, and what a model calls as a call of a skill."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bbllm.core.arguments import KINDS
from bbllm.core.errors import ParseError
from bbllm.core.protocols import (
    ChatModel,
    JsonSchema,
    Message,
    ModelRequest,
    Reply,
    Tool,
    ToolCall,
)
from bbllm.core.skill_calls import POSE_FORM, CallError, nearest_first, plain
from bbllm.core.types import Code, Skill, SkillCall
from bbllm.llm.reply_text import without_reasoning
from bbllm.llm.tool_text import call_in_text
from bbllm.planners.common.prompting import REPLY_KEPT, REPLY_QUOTED
from bbllm.planners.common.reply_diagnostics import refuse_if_impossible

MOST_ARGUMENTS = 4000
"""Longer arguments are not read [characters]."""


def tool_of(skill: Skill) -> Tool:
    """Return a skill as a tool; the schema of a parameter is that of its kind."""
    also = f' Also called {", ".join(skill.aliases)}.' if skill.aliases else ''
    properties = {param: _schema_of(param) for param in skill.params}
    return Tool(skill.name, f'{skill.summary}{also}'.strip(), parameters(properties))


def parameters(properties: Mapping[str, JsonSchema]) -> JsonSchema:
    """Return the schema of a tool's parameters, all of which are needed."""
    return {
        'type': 'object',
        'properties': properties,
        'required': list(properties),
        'additionalProperties': False,
    }


def _schema_of(param: str) -> JsonSchema:
    if param in KINDS:
        return KINDS[param].schema
    # Names of objects are data, which a declaration of tools has no place for.
    pose = f', or a pose: {POSE_FORM}' if param == 'target' else ''
    return {'type': 'string', 'description': f'Name of an object or place of the scene{pose}.'}


def arguments_of(call: ToolCall, params: Sequence[str]) -> tuple[str, ...]:
    """
    Return the arguments of a call as text, in the order of parameters.

    Raises:
        CallError: They are no JSON object with these names and plain values.
    """
    try:
        data = (
            json.loads(call.arguments or '{}') if len(call.arguments) <= MOST_ARGUMENTS else None
        )
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or {*data} != {*params}:
        given = ', '.join(map(str, data)) if isinstance(data, dict) else call.arguments
        raise _bad(call, f'it got {given[:120] or "none"}', params)
    return tuple(_text_of(call, data[param], params) for param in params)


def _text_of(call: ToolCall, value: object, params: Sequence[str]) -> str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f'{value:g}'
    if isinstance(value, list) and value and all(type(each) in (int, float) for each in value):
        return ' '.join(f'{each:g}' for each in value)  # a pose
    raise _bad(
        call, f'{str(value)[:80]!r} is none of a text, a number or a list of numbers', params
    )


def _bad(call: ToolCall, why: str, params: Sequence[str]) -> CallError:
    wanted = json.dumps({param: f'<{param}>' for param in params})
    return CallError(
        SkillCall(call.name[:60]),
        Code.BAD_ARGUMENTS,
        f'The arguments of {call.name[:60]} cannot be used: {why}. They are a JSON object such as '
        f'{wanted}.',
    )


def skill_call_of(call: ToolCall, skills: Sequence[Skill]) -> SkillCall:
    """
    Return the call of a skill that a model's call of its tool is; names are not checked.

    Raises:
        CallError: There is no such skill (UNKNOWN_SKILL), or its arguments are others
            (BAD_ARGUMENTS).
    """
    wanted = plain(call.name[:80])
    for skill in skills:
        if wanted in (plain(skill.name), *map(plain, skill.aliases)):
            return SkillCall(skill.name, arguments_of(call, skill.params))
    names = nearest_first(call.name[:80], (skill.name for skill in skills))
    raise CallError(
        SkillCall(call.name[:60]),
        Code.UNKNOWN_SKILL,
        f'There is no tool named {call.name[:60]!r}. The tools are: {", ".join(names)}.',
    )


@dataclass(frozen=True, slots=True)
class CalledTool:
    """A reply that calls a tool."""

    call: ToolCall
    text: str = ''
    """What the model wrote beside it."""
    extra: tuple[ToolCall, ...] = ()
    """Further calls, which were not asked for."""


def called_in(reply: Reply) -> CalledTool:
    """
    Return what a reply calls, as a call of the protocol or in text.

    Raises:
        GaveUpError: It is `cannot: <reason>`.
        ParseError: It calls nothing.
    """
    text = without_reasoning(reply.text).strip()
    if reply.calls:
        return CalledTool(reply.calls[0], text, reply.calls[1:])
    if found := call_in_text(text):
        before, call = found
        return CalledTool(call, before)
    refuse_if_impossible(text.splitlines())
    raise ParseError(
        f'{text[:REPLY_QUOTED]!r} calls no tool. Each reply calls one: where all is done `done`, '
        'and where it cannot be done `give_up`.'
    )


def ask_for_call(
    model: ChatModel,
    messages: Sequence[Message],
    tools: Sequence[Tool],
    *,
    on_retry: Callable[[str], object],
) -> CalledTool:
    """
    Ask a model for the next call, and once more with the reason where its reply has none.

    Raises:
        GaveUpError: The reply is `cannot: <reason>`.
        ParseError: The second reply calls nothing either.
    """
    asked = list(messages)
    reply = model.ask(ModelRequest(asked, tools=tools))
    try:
        return called_in(reply)
    except ParseError as error:
        on_retry(f'A reply of {model.name} calls no tool, so it is asked again. {error}')
        again = f'That reply cannot be used. {error} Please reply again.'
        asked += [Message('assistant', reply.text[:REPLY_KEPT] or '(nothing)')]
        asked += [Message('user', again, messages[-1].request)]
    try:
        return called_in(model.ask(ModelRequest(asked, tools=tools)))
    except ParseError as error:
        raise ParseError(f'Neither of two replies calls a tool. {error.fault}') from error
