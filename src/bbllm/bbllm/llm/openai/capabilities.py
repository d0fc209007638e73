"""Which parameters of a chat request a server takes, learnt from its refusals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bbllm.core.protocols import JsonSchema
from bbllm.llm.openai.settings import OpenAISettings

# A refusal may be about the value of a parameter that is known, such as a prompt that is too
# long for the model; leaving the parameter out would not help then, or hide the cause.
_TOO_LONG = re.compile(r'context.{0,10}(length|window|size)|too (large|long|many)', re.IGNORECASE)
_UNKNOWN = re.compile(
    r'unsupported|not support|unknown|unrecogni[sz]ed|unexpected|extra|not permitted|not allowed'
    r'|invalid|does not accept|deprecated|unavailable|only the default',
    re.IGNORECASE,
)
_WORDS: Mapping[str, str] = {
    'stream_options': r'stream_options|include_usage',
    'response_format': r'response_format|json_schema|json schema|guided|grammar|structured output',
    'max_completion_tokens': r'max_completion_tokens',
    'max_tokens': r'max_tokens',
    'temperature': r'temperature',
    'stop': r'[\'"`]stop[\'"`]|\bstop (sequences?|strings?|parameter)|parameter:? stop\b',
    'stream': r'[\'"`]stream[\'"`]|\bstreaming\b|parameter:? stream\b',
}


class Dialect:
    """What one server takes; starts with everything and gives up what is refused, once."""

    def __init__(self, settings: OpenAISettings):
        self._settings = settings
        self.stream = True
        self._usage = True
        self._temperature = True
        self._stop = True
        self._limits = ['max_tokens', 'max_completion_tokens']
        self.schema = settings.schema is not False

    def body(self, stop: Sequence[str], schema: JsonSchema | None) -> dict[str, object]:
        """Return what goes into the request beside model, messages and `stream`."""
        body: dict[str, object] = {}
        if self._temperature:
            body['temperature'] = self._settings.temperature
        if self._limits:
            body[self._limits[0]] = self._settings.max_tokens
        if stop and self._stop:
            # OpenAI takes four at the most; ReplyText sees to all of them.
            body['stop'] = list(stop)[:4]
        if schema is not None and self.schema:
            body['response_format'] = {
                'type': 'json_schema',
                'json_schema': {'name': 'reply', 'schema': schema, 'strict': True},
            }
        if self.stream and self._usage:
            body['stream_options'] = {'include_usage': True}
        return body

    def adapt(self, message: str, param: str | None, sent: Mapping[str, object]) -> str | None:
        """
        Give up the parameter that a refusal is about.

        Args:
            message: The server's text.
            param: The parameter that the server names apart, if it does.
            sent: The body that was refused.

        Returns:
            A sentence on what will be different, or None if the refusal is about something else.
        """
        name = self._blamed(message, param, sent)
        if name is None:
            return None
        return self._give_up(name)

    def _blamed(self, message: str, param: str | None, sent: Mapping[str, object]) -> str | None:
        if _TOO_LONG.search(message):
            return None
        candidates = [
            name for name in _WORDS if name in sent or (name == 'stream' and self.stream)
        ]
        for name in candidates:
            if param and param.split('.')[0] == name:
                return name
        if not _UNKNOWN.search(message):
            return None
        for name in candidates:
            if re.search(_WORDS[name], message, re.IGNORECASE):
                return name
        return None

    def _give_up(self, name: str) -> str | None:
        if name == 'stream_options':
            self._usage = False
            return 'does not report token usage of streams; tokens will be counted as 0'
        if name == 'response_format':
            if self._settings.schema is True:
                return None
            self.schema = False
            return 'does not take JSON schemas; replies are read as plain text'
        if name in ('max_tokens', 'max_completion_tokens'):
            del self._limits[0]
            instead = f'{self._limits[0]} is' if self._limits else 'no limit is'
            return f'does not take {name}; {instead} sent instead'
        if name == 'temperature':
            self._temperature = False
            return f'does not take temperature {self._settings.temperature:g}; its own is used'
        if name == 'stop':
            self._stop = False
            return 'does not take stop strings; replies are cut here instead'
        self.stream = False
        return 'does not stream; replies come in one piece'
