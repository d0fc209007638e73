"""Pictures in messages: as they are sent, where a model takes none, and on the account."""

import base64
from typing import Any

import pytest

from bbllm.core.errors import ModelError, NoImagesError
from bbllm.core.protocols import Message, ModelRequest, Usage
from bbllm.testing import ModelServer, chunk, replies, status, streams
from tests.llm.chat_clients import Client

PNG = b'\x89PNG\r\n\x1a\n and so on'
JPEG = b'\xff\xd8\xff\xe0 and so on'
PICTURED = ModelRequest(
    [
        Message('system', 'You plan.'),
        Message('user', 'Stack what you see.', images=(PNG, JPEG)),
    ]
)


def test_pictures_follow_the_text_as_urls_and_other_messages_stay_texts(
    server: ModelServer,
) -> None:
    server.will(replies('0: wait'))

    Client(server, image_detail='low').model.ask(PICTURED)
    Client(server).model.ask(PICTURED)

    rules, asked = server.bodies[0]['messages']
    assert rules == {'role': 'system', 'content': 'You plan.'}
    text, *pictures = asked['content']
    assert text == {'type': 'text', 'text': 'Stack what you see.'}
    assert [each['type'] for each in pictures] == ['image_url', 'image_url']
    assert [each['image_url']['detail'] for each in pictures] == ['low', 'low']
    heads, data = zip(*(each['image_url']['url'].split(',') for each in pictures), strict=True)
    assert heads == ('data:image/png;base64', 'data:image/jpeg;base64')
    assert tuple(map(base64.b64decode, data)) == (PNG, JPEG)
    assert list(server.bodies[1]['messages'][1]['content'][1]['image_url']) == ['url']


# Texts of OpenAI, llama.cpp, Ollama, OpenRouter, vLLM (two), DeepSeek (two), Groq, LM Studio and a
# server that checks by pydantic; from their issue trackers as of 2026-11-28.
@pytest.mark.parametrize(
    ('code', 'text'),
    [
        (400, 'Invalid content type. image_url is only supported by certain models.'),
        (500, 'image input is not supported by this server'),
        (400, 'this model does not support image input (ref: 1)'),
        (404, 'No endpoints found that support image input'),
        (400, 'gpt-4o is not a multimodal model'),
        (400, 'At most 0 image(s) may be provided in one request.'),
        (422, 'Failed to deserialize: messages[1]: unknown variant `image_url`, expected `text`'),
        (400, 'data did not match any variant of untagged enum ChatCompletionRequestContent'),
        (400, "'messages.1' : value must be a string: content must be a string"),
        (400, 'Model does not support images. Please use a model that does.'),
        (422, "Input should be 'text'"),
    ],
)
def test_a_model_that_takes_no_images_is_named_at_once_with_what_would_work(
    server: ModelServer, code: int, text: str
) -> None:
    server.will(status(code, text), replies('0: wait'))
    client = Client(server)

    with pytest.raises(NoImagesError) as caught:
        client.model.ask(PICTURED)

    message = str(caught.value)
    assert f'gpt-4o at 127.0.0.1:{server.server_port} takes no images' in message
    assert text.rstrip('.') in message
    assert '`image=none`' in message
    assert (len(server.bodies), client.slept) == (1, [])


@pytest.mark.parametrize(
    'text', ['Invalid image data', 'Image format is not supported', 'image too large']
)
def test_a_picture_that_is_refused_for_itself_is_another_error(
    server: ModelServer, text: str
) -> None:
    server.will(status(400, text))

    with pytest.raises(ModelError, match=text) as caught:
        Client(server).model.ask(PICTURED)

    assert 'takes no images' not in str(caught.value)


def test_where_images_are_configured_off_no_picture_leaves_this_machine(
    server: ModelServer,
) -> None:
    server.will(replies('0: wait'))
    client = Client(server, images=False)

    with pytest.raises(NoImagesError, match=r'`images: no`.*`image=none`'):
        client.model.ask(PICTURED)

    assert server.bodies == []
    assert client.model.ask(ModelRequest.of('What is there?')).text == '0: wait'


def test_tokens_of_pictures_are_counted_apart_where_the_server_reports_them(
    server: ModelServer,
) -> None:
    details = {'cached_tokens': 64, 'image_tokens': 765, 'text_tokens': 235}
    usage = {'prompt_tokens': 1000, 'completion_tokens': 5, 'prompt_tokens_details': details}
    last: dict[str, Any] = {**chunk(''), 'choices': [], 'usage': usage}
    server.will(streams(chunk('0: wait', finish='stop'), last))

    reply = Client(server).model.ask(PICTURED)

    assert reply.usage == Usage(1000, 5, cached_tokens=64, image_tokens=765)
