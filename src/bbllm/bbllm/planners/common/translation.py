"""The report at the end of an episode, in the language of the person."""

from contextlib import suppress

from bbllm.core.errors import BbllmError
from bbllm.core.protocols import ChatModel, ModelRequest
from bbllm.core.text import escape_line
from bbllm.llm.reply_text import without_reasoning
from bbllm.planners.common.prompting import COMMON, messages_of, one_line, render

MOST_GROWTH = 4
"""A reply that is so many times as long as the report, and more, is no translation of it."""


def translated(brain: ChatModel, report: str, language: str, task: str) -> str:
    """Return a report in another language; as it is where the model gives no translation."""
    prompt = render(COMMON, 'translation', language=language, task=one_line(task), report=report)
    text = ''
    with suppress(BbllmError):  # the episode has ended; its report counts
        text = without_reasoning(brain.ask(ModelRequest(messages_of(prompt))).text)
    text = escape_line(' '.join(text.split()))
    return text if 0 < len(text) <= MOST_GROWTH * len(report) + 100 else report
