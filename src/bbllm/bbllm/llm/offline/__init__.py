"""
`offline`: a deterministic stand-in for a language model; it is not one, and says so.

It reads the very prompts that a model would get, by their labels, and answers in the formats that
they ask for. It understands a small piece of English about moving things on a table, and learns
from the feedback that a prompt holds. What it does not understand it says it does not understand.
"""

from bbllm.llm.offline.model import OfflineModel

__all__ = ['OfflineModel']
