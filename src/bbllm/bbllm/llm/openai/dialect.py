"""What one model on one server takes of OpenAI's chat protocol, learned from its refusals."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from bbllm.core.errors import PromptTooLongError
from bbllm.core.protocols import JsonSchema, Message, ModelRequest
from bbllm.llm.openai.failures import Failure
from bbllm.llm.openai.settings import OpenAISettings
from bbllm.llm.tool_text import with_tools_in_text

# A refusal may be about the value of a parameter that is known; leaving the parameter out would
# not help then, or hide the cause.
_TOO_LARGE = re.compile(r'too (large|long|many)', re.IGNORECASE)
_UNKNOWN = re.compile(
    r'unsupported|not support|unknown|unrecogni[sz]ed|unexpected|extra|not permitted|not allowed'
    r'|invalid|does not accept|deprecated|unavailable|only the default|type\'? must be'
    r'|tool choice requires',
    re.IGNORECASE,
)
REPLY_TOOL = 'reply'
"""The tool of the reply format `tool`."""
SYSTEM = 'system'
"""Stands for the system message among the parameters."""
_PARAMETERS: Mapping[str, tuple[str, str]] = {
    'stream_options': (
        r'stream_options|include_usage',
        'does not report token usage of streams; tokens will be counted as 0',
    ),
    'response_format': (
        r'response_format|json_schema|json schema|guided|grammar|structured output',
        'does not take JSON schemas in `response_format`; {}',
    ),
    'tool_choice': (r'tool_choice|tool choice', 'does not take tool_choice; it is left out'),
    'tools': (r'\btools?\b|tool_choice|function call', 'does not take tools; {}'),
    'max_completion_tokens': (
        r'max_completion_tokens',
        'does not take max_completion_tokens; {} is sent instead',
    ),
    'max_tokens': (r'max_tokens', 'does not take max_tokens; {} is sent instead'),
    'temperature': (r'temperature', 'does not take temperature {:g}; its own is used'),
    'stop': (
        r'[\'"`]stop[\'"`]|\bstop (sequences?|strings?|parameter)|parameter:? stop\b',
        'does not take stop strings; replies are cut here instead',
    ),
    'stream': (
        r'[\'"`]stream[\'"`]|\bstreaming\b|parameter:? stream\b',
        'does not stream; replies come in one piece',
    ),
    SYSTEM: (r'(?!)', 'takes no system message; it is sent as the beginning of the next one'),
}
"""By parameter: how refusals call it, and what is different without it."""

_NO_SYSTEM = re.compile(
    r"(?:\bnot\b|n't|\bun\w+)[^.]{0,40}['\"`]system['\"`]"
    r'|\bsystem (?:role|message|prompt|instruction)s?[^.]{0,40}(?:\bnot\b|\bun\w+)'
    r'|only user and assistant roles|roles must alternate',
    re.IGNORECASE,
)
"""Words of servers whose model has no system message, from its chat template or their own."""

AUTO = ('json_schema', 'tool', 'text')
"""
What `schema: auto` tries, in this order. `json_object` is left out: it guarantees braces but no
name in them, which the line that prompts ask for does as well with fewer tokens.
"""
_INSTEAD = {
    'tool': 'replies are the arguments of a tool instead',
    'text': 'replies are read as plain text',
}
_LIMITS = ('max_tokens', 'max_completion_tokens')
_NEW_LIMIT = ('.openai.com', '.azure.com')
"""Hosts where `max_tokens` is deprecated and reasoning models refuse it."""


class Dialect:
    """The parameters to send; a refusal makes it give one up for good."""

    def __init__(self, settings: OpenAISettings):
        self._settings = settings
        self._refused: set[str] = set()
        chosen = settings.reply_format
        self._formats: tuple[str, ...] = AUTO if chosen == 'auto' else (chosen,)
        self._calls_in_text = settings.tools == 'text'
        new = (urlsplit(settings.base_url).hostname or '').endswith(_NEW_LIMIT)
        self._limits = _LIMITS[::-1] if new else _LIMITS

    @property
    def supports_schema(self) -> bool:
        """Whether a schema is sent, in whichever form."""
        return self._formats[0] != 'text'

    @property
    def streams(self) -> bool:
        return 'stream' not in self._refused

    def request(self, request: ModelRequest) -> tuple[Sequence[Message], dict[str, object]]:
        """Return the messages and the parameters of a request."""
        settings, messages, schema = self._settings, request.messages, request.schema
        body: dict[str, object] = {}
        if limit := self._limit():
            body[limit] = settings.max_tokens
        if settings.effort is not None:
            body['reasoning_effort'] = settings.effort
        if settings.effort in (None, 'none'):
            # Models that reason refuse a temperature, or take only their own.
            body['temperature'] = settings.temperature
        if request.stop:
            # OpenAI takes four at the most; ReplyText sees to all of them.
            body['stop'] = list(request.stop)[:4]
        if SYSTEM in self._refused:
            messages = _without_system(messages)
        if request.tools and self._calls_in_text:
            messages = with_tools_in_text(messages, request.tools)
        elif request.tools:
            functions = [{'type': 'function', 'function': t.declaration} for t in request.tools]
            # What has to be called is one of them: words alone are no action.
            body |= {'tools': functions, 'tool_choice': 'required'}
        if schema is not None:
            body |= _format(self._formats[0], schema)
            if self._formats[0] == 'json_object':
                messages = [*messages[:-1], _with_schema(messages[-1], schema)]
        if self.streams:
            body['stream_options'] = {'include_usage': True}
        return messages, {key: body[key] for key in body if key not in self._refused}

    def adapt(self, failure: Failure, sent: Mapping[str, object]) -> str:
        """Give up the parameter that a refusal is about; return what changes, '' for none."""
        name = self._blamed(failure, sent)
        if name is None:
            return ''
        values: tuple[object, ...] = (self._settings.temperature,)
        if name in ('tools', 'tool_choice') and not _is_reply_tool(sent):
            if name == 'tools':
                if self._settings.tools == 'native':
                    return ''  # the user's own choice
                self._calls_in_text = True
                values = ('they are declared, and called, in text instead',)
            else:
                self._refused.add(name)
        elif name in ('response_format', 'tools', 'tool_choice'):
            if len(self._formats) == 1:
                return ''  # the user's own choice
            if name == 'tool_choice':
                name = 'tools'  # which it is a part of here
            self._formats = self._formats[1:]
            values = (_INSTEAD[self._formats[0]],)
        else:
            self._refused.add(name)
        if name in _LIMITS:
            values = (self._limit() or 'no limit',)
        return _PARAMETERS[name][1].format(*values)

    def _limit(self) -> str:
        return next((name for name in self._limits if name not in self._refused), '')

    def _blamed(self, failure: Failure, sent: Mapping[str, object]) -> str | None:
        # Chat templates refuse a role in mid-request: llama.cpp answers that with 500.
        roles = failure.status in (400, 422, 500) and _NO_SYSTEM.search(failure.text)
        if roles and SYSTEM not in self._refused:
            return SYSTEM
        if failure.status not in (400, 404, 415, 422, 501):
            return None
        if failure.kind is PromptTooLongError or _TOO_LARGE.search(failure.text):
            return None
        in_use = {*sent, 'stream'} - self._refused
        named = (failure.param or '').split('.')[0]
        named = named.partition('[')[0]
        if named in in_use and named in _PARAMETERS:
            return named
        if _UNKNOWN.search(failure.text):
            for name, (words, _) in _PARAMETERS.items():
                if name in in_use and re.search(words, failure.text, re.IGNORECASE):
                    return name
        return None


def _is_reply_tool(sent: Mapping[str, object]) -> bool:
    """Return whether what was sent has no tools but the one whose arguments are the reply."""
    match sent.get('tools'):
        case [{'function': {'name': str(name)}}]:
            return name == REPLY_TOOL
    return False


def _format(name: str, schema: JsonSchema) -> dict[str, object]:
    match name:
        case 'json_schema':
            named = {'name': 'reply', 'schema': schema, 'strict': True}
            return {'response_format': {'type': name, 'json_schema': named}}
        case 'json_object':
            return {'response_format': {'type': name}}
        case 'tool':
            function = {
                'name': REPLY_TOOL,
                'description': 'Gives the reply; its arguments are all of it.',
                'parameters': schema,
                'strict': True,
            }
            # By name it would be the same tool, but LM Studio refuses that form and llama.cpp
            # reads it as `auto`.
            return {
                'tools': [{'type': 'function', 'function': function}],
                'tool_choice': 'required',
            }
    return {}


def _without_system(messages: Sequence[Message]) -> Sequence[Message]:
    """Return messages in which that of the system begins the one after it."""
    if messages[0].role != SYSTEM or len(messages) < 2:
        return messages
    system, first, *later = messages
    return [replace(first, content=f'{system.content}\n\n{first.content}'), *later]


def _with_schema(message: Message, schema: JsonSchema) -> Message:
    # Servers bind the reply to JSON, and some demand that word in a message.
    asked = f'Reply with one JSON object that obeys this JSON schema: {json.dumps(schema)}'
    return replace(message, content=f'{message.content}\n\n{asked}')
