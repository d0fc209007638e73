"""Finds the model servers of this machine by their lists of models, and what uses one."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from bbllm.llm.openai.client import ModelClient
from bbllm.llm.openai.failures import Failure
from bbllm.llm.openai.probe import listing
from bbllm.llm.openai.settings import OpenAISettings

PORTS: Mapping[str, int] = {'Ollama': 11434, 'llama.cpp': 8080, 'LM Studio': 1234, 'vLLM': 8000}
"""The ports that these servers use where no other is chosen."""
LOOK_S = 1.0
"""How long one server may take to list its models; all are asked at once [s]."""


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server on this machine that lists models."""

    name: str
    """What uses that port by default; another server may."""
    url: str
    models: tuple[str, ...]

    @property
    def sentence(self) -> str:
        return f'{self.url} (the port of {self.name}) {listing(self.models)}'

    @property
    def use(self) -> str:
        """The command that plans with it, and the section that makes it the default."""
        if not self.models:
            return 'It has no model yet: load one, then run bbllm doctor again.'
        chosen = f' --brain {self.models[0]}' if len(self.models) > 1 else ''
        command = f'OPENAI_BASE_URL={self.url} bbllm demo{chosen}'
        section = f'{{base_url: {self.url}, model: "{self.models[0]}"}}'
        body = f'{{base_url: {self.url}}}'
        return f'{command}; or in config/llm.yaml: brain: {section} and body: {body}'


def local_servers(ports: Mapping[str, int], timeout_s: float = LOOK_S) -> Sequence[LocalServer]:
    """
    Return the servers on loopback that list models, in the order of their ports.

    What refuses, stays silent for *timeout_s* or answers with something else is none. No key is
    sent.
    """
    with ThreadPoolExecutor(len(ports)) as pool:
        found = pool.map(partial(_ask, timeout_s), ports, ports.values())
        return [server for server in found if server is not None]


def _ask(timeout_s: float, name: str, port: int) -> LocalServer | None:
    url = f'http://127.0.0.1:{port}/v1'
    settings = OpenAISettings(base_url=url, timeout_s=timeout_s, connect_timeout_s=timeout_s)
    client = ModelClient(settings)
    models = client.run(client.attempt(client.models(timeout_s)))
    return None if isinstance(models, Failure) else LocalServer(name, url, models)
