"""A real server on loopback for the tests of the clients, and no key from outside."""

from collections.abc import Iterator

import pytest

from bbllm.testing import ModelServer


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture(autouse=True)
def _no_real_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ('OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_LOG'):
        monkeypatch.delenv(name, raising=False)
