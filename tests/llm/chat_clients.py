"""A client of the fake server, and what is asked with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fake_server import FakeServer
from pydantic import SecretStr

from bbllm.core.protocols import Message
from bbllm.llm.openai.backoff import Backoff
from bbllm.llm.openai.chat import OpenAIChat
from bbllm.llm.openai.settings import OpenAISettings

ASK = [Message('system', 'You plan.'), Message('user', 'Stack the cubes.')]
SCHEMA = {'type': 'object', 'properties': {'skill': {'enum': ['pick']}}}


class Client:
    """A model on the fake server with short limits, and what it told and slept."""

    def __init__(self, server: FakeServer, **changes: Any):
        self.told: list[str] = []
        self.slept: list[float] = []
        settings = OpenAISettings(
            model='gpt-4o',
            base_url=server.url,
            api_key=SecretStr('sk-test-0123456789abcdef'),
            timeout_s=5.0,
            first_token_timeout_s=5.0,
            retries=2,
        )
        self.model = OpenAIChat(
            replace(settings, **changes),
            backoff=Backoff(first_s=1.0),
            sleep=self.slept.append,
            jitter=lambda: 1.0,
            tell=self.told.append,
        )

    def ask(self, **options: Any) -> str:
        return self.model.complete(ASK, **options).text
