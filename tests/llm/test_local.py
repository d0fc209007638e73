"""Model servers on this machine, found by real sockets."""

import socket

from bbllm.llm.openai.local import local_servers
from bbllm.testing.model_server import ModelServer
from bbllm_ros.checks import machine


def test_servers_that_list_models_are_found_and_others_are_none() -> None:
    with (
        ModelServer() as several,
        ModelServer() as single,
        ModelServer() as empty,
        ModelServer() as another,
        socket.create_server(('127.0.0.1', 0)) as silent,
        socket.create_server(('127.0.0.1', 0)) as closed,
    ):
        single.models, empty.models, another.models = ('qwen3:4b',), (), None
        ports = {
            'several': several.server_port,
            'silent': silent.getsockname()[1],
            'another': another.server_port,
            'single': single.server_port,
            'closed': closed.getsockname()[1],
            'empty': empty.server_port,
        }
        closed.close()
        found = local_servers(ports, timeout_s=2.0)

        assert [server.name for server in found] == ['several', 'single', 'empty']
        uses = [server.use for server in found]
        assert uses[0].startswith(f'OPENAI_BASE_URL={several.url} bbllm demo --brain gpt-4o; ')
        assert uses[1] == (
            f'OPENAI_BASE_URL={single.url} bbllm demo; or in config/llm.yaml: '
            f'brain: {{base_url: {single.url}, model: "qwen3:4b"}} '
            f'and body: {{base_url: {single.url}}}'
        )
        assert 'load one' in uses[2]
        assert found[0].sentence.endswith('lists 2 models: gpt-4o, gpt-4o-mini')


def test_the_doctor_lists_them_with_the_command() -> None:
    with ModelServer() as server:
        (found,) = machine.check_local_servers({'Ollama': server.server_port})
    (none,) = machine.check_local_servers({'Ollama': server.server_port})

    assert found.level is none.level is machine.Level.OK
    assert found.remedy.startswith(f'OPENAI_BASE_URL={server.url} bbllm demo')
    assert f'Ollama ({server.server_port})' in none.text
