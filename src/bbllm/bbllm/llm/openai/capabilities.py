"""Which parameters of a chat request a server takes, learnt from its refusals."""

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
_PARAMETERS: Mapping[str, tuple[str, str]] = {
    'stream_options': (
        r'stream_options|include_usage',
        'does not report token usage of streams; tokens will be counted as 0',
    ),
    'response_format': (
        r'response_format|json_schema|json schema|guided|grammar|structured output',
        'does not take JSON schemas; replies are read as plain text',
    ),
    'max_completion_tokens': (
        r'max_completion_tokens',
        'does not take max_completion_tokens; no limit is sent instead',
    ),
    'max_tokens': (
        r'max_tokens',
        'does not take max_tokens; max_completion_tokens is sent instead',
    ),
    'temperature': (r'temperature', 'does not take temperature {:g}; its own is used'),
    'stop': (
        r'[\'"`]stop[\'"`]|\bstop (sequences?|strings?|parameter)|parameter:? stop\b',
        'does not take stop strings; replies are cut here instead',
    ),
    'stream': (
        r'[\'"`]stream[\'"`]|\bstreaming\b|parameter:? stream\b',
        'does not stream; replies come in one piece',
    ),
}
"""By parameter: how refusals call it, and what is different without it."""


class Dialect:
    """What one server takes; starts with everything and gives up what is refused, once."""

    def __init__(self, settings: OpenAISettings):
        self._settings = settings
        self._refused: set[str] = set()

    @property
    def stream(self) -> bool:
        return 'stream' not in self._refused

    @property
    def schema(self) -> bool:
        return self._settings.use_schema is not False and 'response_format' not in self._refused

    def body(self, stop: Sequence[str], schema: JsonSchema | None) -> dict[str, object]:
        """Return what goes into the request beside model, messages and `stream`."""
        limit = 'max_completion_tokens' if 'max_tokens' in self._refused else 'max_tokens'
        body: dict[str, object] = {
            'temperature': self._settings.temperature,
            limit: self._settings.max_tokens,
        }
        if stop:
            # OpenAI takes four at the most; ReplyText sees to all of them.
            body['stop'] = list(stop)[:4]
        if schema is not None and self.schema:
            body['response_format'] = {
                'type': 'json_schema',
                'json_schema': {'name': 'reply', 'schema': schema, 'strict': True},
            }
        if self.stream:
            body['stream_options'] = {'include_usage': True}
        return {name: value for name, value in body.items() if name not in self._refused}

    def adapt(self, message: str, param: str | None, sent: Mapping[str, object]) -> str | None:
        """
        Give up the parameter that a refusal is about.

        Returns:
            A sentence on what will be different, or None if the refusal is about something else.
        """
        name = self._blamed(message, param, sent)
        if name is None or (name == 'response_format' and self._settings.use_schema is True):
            return None
        self._refused.add(name)
        return _PARAMETERS[name][1].format(self._settings.temperature)

    def _blamed(self, message: str, param: str | None, sent: Mapping[str, object]) -> str | None:
        if _TOO_LONG.search(message):
            return None
        in_use = {*sent, 'stream'} - self._refused
        if param and (named := param.split('.')[0]) in in_use:
            return named
        if _UNKNOWN.search(message):
            for name, (words, _) in _PARAMETERS.items():
                if name in in_use and re.search(words, message, re.IGNORECASE):
                    return name
        return None
