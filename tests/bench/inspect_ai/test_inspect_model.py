"""A model of inspect_ai as one of ours: what it is asked, and what of its replies is no use."""

from typing import Any

import pytest

pytest.importorskip('inspect_ai', reason='the extra `inspect` is not installed: make extras')

import anyio
from anyio import to_thread
from inspect_ai.model import GenerateConfig, Model, ModelOutput
from mock_models import mock, output

from bbllm.bench.inspect_ai.model import InspectModel
from bbllm.core.errors import ModelError
from bbllm.core.protocols import Message
from bbllm.planners.common.call_grammar import body_schema
from bbllm.worlds.tabletop.tabletop import TabletopWorld


def asks(model: Model, **options: Any) -> tuple[InspectModel, Any]:
    """Ask as the solver does: in a worker thread of an event loop."""
    adapter = InspectModel(model, temperature=0.5)
    adapter.supports_schema = 'schema' in options

    async def ask() -> Any:
        return await to_thread.run_sync(
            lambda: adapter.complete([Message('user', 'go')], **options)
        )

    return adapter, anyio.run(ask)


def test_stop_strings_are_sent_and_obeyed_where_a_server_ignores_them() -> None:
    sent: list[GenerateConfig] = []

    def answer(_: Any, __: Any, ___: Any, config: GenerateConfig) -> ModelOutput:
        sent.append(config)
        return output('0: pick a\nEND and more')

    _, reply = asks(mock(answer), stop=('END',))

    assert sent[0].stop_seqs == ['END']
    assert sent[0].temperature == 0.5
    assert reply.text == '0: pick a\n'
    assert (reply.model, reply.usage.prompt_tokens, reply.usage.completion_tokens) == (
        'mock-1',
        13,  # what came from the server's cache was read too
        5,
    )


def test_schema_arrives_unchanged_and_is_dropped_where_it_is_refused() -> None:
    sent: list[GenerateConfig] = []
    table = TabletopWorld('plus_sign')
    schema = body_schema(table.observe())

    def answer(_: Any, __: Any, ___: Any, config: GenerateConfig) -> ModelOutput:
        sent.append(config)
        if config.response_schema is not None:
            raise ValueError("400: Unsupported parameter 'response_format'")
        return output('<pass>')

    adapter, reply = asks(mock(answer), schema=schema)

    first, second = sent
    assert first.response_schema is not None
    assert first.response_schema.json_schema.model_dump(exclude_none=True) == schema
    assert second.response_schema is None
    assert reply.text == '<pass>'
    assert not adapter.supports_schema
    assert adapter.failure is None


@pytest.mark.parametrize(
    ('reply', 'says'),
    [
        (output('0: pi', stop_reason='max_tokens'), '--max-tokens'),
        (output('I would rather not.', stop_reason='content_filter'), 'declined'),
        (output('  '), 'empty reply'),
    ],
)
def test_reply_that_cannot_be_used_says_why(reply: ModelOutput, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        asks(mock(lambda *_: reply))
