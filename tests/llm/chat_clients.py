"""Clients of a `ModelServer`, and what is asked with them."""

import asyncio
from dataclasses import replace
from typing import Any

from pydantic import SecretStr

from bbllm.core.cancel import CancelToken
from bbllm.core.protocols import Message, ModelRequest
from bbllm.llm.openai.chat import OpenAIChat, OpenAIEmbedder
from bbllm.llm.openai.client import ModelClient
from bbllm.llm.openai.settings import OpenAISettings
from bbllm.testing import ModelServer

ASK = ModelRequest([Message('system', 'You plan.'), Message('user', 'Stack the cubes.')])
SCHEMA = {'type': 'object', 'properties': {'skill': {'enum': ['pick']}}}
KEY = 'sk-test-0123456789abcdef'


class Client:
    """A model and an embedder on a `ModelServer` with short limits, and what they reported."""

    def __init__(self, server: ModelServer, **changes: Any):
        self.reports: list[str] = []
        self.slept: list[float] = []
        self.cancel_in_wait: CancelToken | None = None
        """Cancelled when a wait between two attempts begins."""
        self.changes_in_wait: dict[str, Any] = {}
        """Settings that change when a wait between two attempts begins."""
        settings = OpenAISettings(
            model='gpt-4o',
            base_url=server.url,
            api_key=SecretStr(KEY),
            timeout_s=5.0,
            first_token_timeout_s=5.0,
            retries=2,
        )
        settings = settings.model_copy(update=changes)
        client = ModelClient(settings, sleep=self._sleep, report=self.reports.append)
        self.model = OpenAIChat(settings, client)
        self.embedder = OpenAIEmbedder(settings, client)

    def ask(self, **options: Any) -> str:
        return self.model.ask(replace(ASK, **options)).text

    async def _sleep(self, wait_s: float) -> None:
        self.slept.append(wait_s)
        self.model.settings = self.model.settings.model_copy(update=self.changes_in_wait)
        if self.cancel_in_wait is not None:
            self.cancel_in_wait.cancel('enough')
            await asyncio.sleep(20.0)
