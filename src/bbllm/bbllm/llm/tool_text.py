"""
Tools and calls of them as text, for models whose server has no place for them.

The form is that in which many models write a call anyway:

    {"name": "pick", "arguments": {"object": "red_cube"}}
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bbllm.core.protocols import Message, Tool, ToolCall

FORM = '{"name": "<tool>", "arguments": {"<parameter>": <value>}}'
MOST_CHARACTERS = 50_000
"""No call is looked for in a longer text [characters]."""
MOST_BRACES = 20
"""At so many braces a call may begin."""


def with_tools_in_text(messages: Sequence[Message], tools: Sequence[Tool]) -> list[Message]:
    """Return a conversation in which tools, calls and their results are plain text."""
    written: list[Message] = []
    for message in (Message('system', _declared(tools)), *map(_plain, messages)):
        last = written[-1] if written else None
        if last is None or last.role != message.role:
            written.append(message)
            continue
        # Templates of many models refuse two messages of one role in a row.
        content = f'{last.content}\n\n{message.content}'
        written[-1] = replace(last, content=content, images=(*last.images, *message.images))
    return written


def _declared(tools: Sequence[Tool]) -> str:
    declared = '\n'.join(
        json.dumps({'name': t.name, 'description': t.description, 'parameters': t.parameters})
        for t in tools
    )
    return (
        f'These are the tools, each as JSON with the JSON schema of its parameters:\n{declared}\n'
        f'Each reply is one call of one tool, as JSON in this form and nothing else: {FORM}'
    )


def _plain(message: Message) -> Message:
    if message.role == 'tool':
        return Message('user', f'Result of the call:\n{message.content}', message.request)
    if message.calls:
        calls = [text_of_call(call) for call in message.calls]
        content = '\n'.join(filter(None, [message.content, *calls]))
        return Message(message.role, content, message.request, message.images)
    return message


def text_of_call(call: ToolCall) -> str:
    """Return a call as a model writes it in text; arguments that are no JSON as a string."""
    try:
        arguments: Any = json.loads(call.arguments)
    except (ValueError, RecursionError):
        arguments = call.arguments
    return json.dumps({'name': call.name, 'arguments': arguments}, ensure_ascii=False)


def call_in_text(text: str) -> tuple[str, ToolCall] | None:
    """Return the first call in a text with what stands before it; None where there is none."""
    at = -1
    for _ in range(MOST_BRACES if len(text) <= MOST_CHARACTERS else 0):
        at = text.find('{', at + 1)
        if at < 0:
            break
        try:
            data, _end = json.JSONDecoder().raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if (call := _call_of(data)) is not None:
            return text[:at].removesuffix('<tool_call>').strip(' \n\t`'), call
    return None


def _call_of(data: object) -> ToolCall | None:
    if not isinstance(data, dict):
        return None
    name, arguments = data.get('name'), data.get('arguments', data.get('parameters'))
    if not isinstance(name, str) or not isinstance(arguments, (dict, str)):
        return None
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(name, text)
