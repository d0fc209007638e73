"""What is kept of the calls of models that one request needs."""

import pytest

from bbllm.core.episode import GuardedEmbedder, GuardedModel
from bbllm.core.errors import ModelUnavailableError
from bbllm.core.protocols import Message, ModelRequest
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.testing import ScriptedModel
from bbllm_ros.nodes.body_mapper import Transcript

ASK = [Message('user', 'which call?')]


def test_every_call_has_its_text_also_one_that_fails_and_one_for_vectors() -> None:
    transcript = Transcript()
    answers = [ModelUnavailableError('down'), 'pick(red\x1b[31m_cube)']
    model = GuardedModel(transcript, ScriptedModel(answers), 'body')

    with pytest.raises(ModelUnavailableError):
        model.ask(ModelRequest(ASK))
    GuardedEmbedder(transcript, LexicalEmbedder(), 'body').embed(['pick'])
    reply = model.ask(ModelRequest(ASK))

    assert [call.role for call in transcript.calls] == ['body'] * 3
    assert transcript.texts == ['', '', reply.text]
    assert reply.text.startswith('pick(red')
    assert '\x1b' not in reply.text


@pytest.mark.parametrize('kept', [True, False])
def test_prompts_are_passed_on_only_where_they_are_to_be_kept(kept: bool) -> None:
    transcript = Transcript(keep_prompts=kept)

    GuardedModel(transcript, ScriptedModel(['pick(red_cube)']), 'body').ask(ModelRequest(ASK))

    assert [text.text for text in transcript.calls[0].prompt] == ['which call?'] * kept
