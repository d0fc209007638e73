"""Models of inspect_ai that answer as a test says."""

from collections.abc import Callable
from typing import Any

from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model


def output(text: str, **fields: Any) -> ModelOutput:
    """What a server would return; without usage the mock would fetch a tokenizer."""
    reply = ModelOutput.from_content('mock-1', text, **fields)
    reply.usage = ModelUsage(
        input_tokens=10, output_tokens=5, total_tokens=18, input_tokens_cache_read=3
    )
    return reply


def mock(answer: Callable[..., Any]) -> Model:
    return get_model('mockllm/model', memoize=False, custom_outputs=answer)
