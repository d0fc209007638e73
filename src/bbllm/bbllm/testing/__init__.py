"""
Models for tests without a language model: `ScriptedModel`, `PacedModel` and `ModelServer`.

    brain = ScriptedModel(['cannot: it is gone'])
    with ModelServer(replies('0: wait')) as server:
        OpenAIChat(OpenAISettings(model='m', base_url=server.url))
"""

from bbllm.testing.model_server import (
    Behaviour,
    Handler,
    ModelServer,
    calls,
    chunk,
    drips,
    echoes_key,
    embeds,
    hangs,
    rambles,
    refuses,
    repeats,
    replies,
    sends,
    status,
    streams,
)
from bbllm.testing.paced_model import Pace, PacedModel, tokens_of
from bbllm.testing.scripted_model import Answer, ScriptedModel

__all__ = [
    'Answer',
    'Behaviour',
    'Handler',
    'ModelServer',
    'Pace',
    'PacedModel',
    'ScriptedModel',
    'calls',
    'chunk',
    'drips',
    'echoes_key',
    'embeds',
    'hangs',
    'rambles',
    'refuses',
    'repeats',
    'replies',
    'sends',
    'status',
    'streams',
    'tokens_of',
]
