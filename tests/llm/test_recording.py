"""Recordings: what is kept of models and embedders, and answers from it."""

import base64
import lzma
import os
import threading
import tracemalloc
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import CancelledError, ConfigError, ModelUnavailableError, ReplayError
from bbllm.core.prompt_size import prompt_limit
from bbllm.core.protocols import (
    ChatModel,
    Embeddings,
    Message,
    ModelRequest,
    Reply,
    Usage,
)
from bbllm.core.provenance import templates_hash
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.llm.models.factory import Models, changes_in, record_models, replay_models
from bbllm.llm.recording import replay
from bbllm.llm.recording.replay import (
    RecordingModel,
    ReplayModel,
    answered,
    read_recording,
    recorded_pictures,
    recording_embedder,
    replay_embedder,
)
from bbllm.testing import ScriptedModel

SCHEMA = {'enum': ['pick']}


def ask(text: str, **options: Any) -> ModelRequest:
    return ModelRequest([Message('system', 'rules'), Message('user', text)], **options)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / 'deep' / 'talk.jsonl'


def recorded(path: Path, role: str, *talk: tuple[str, str]) -> None:
    model = RecordingModel(ScriptedModel([reply for _, reply in talk], name='gpt'), path, role)
    for question, _ in talk:
        model.ask(ask(question))


def test_brain_and_body_share_a_file_and_equal_requests_are_answered_in_their_order(
    path: Path,
) -> None:
    recorded(path, 'brain', ('a', '0: pick\u2028 \u4e00'), ('b', '2'), ('a', '3'))
    recorded(path, 'body', ('a', '<pick>'))

    brain, body = ReplayModel(path, 'brain'), ReplayModel(path, 'body')

    assert body.ask(ask('a')).text == '<pick>'
    assert [brain.ask(ask(x)).text for x in 'aab'] == ['0: pick\u2028 \u4e00', '3', '2']
    assert brain.name == 'replay of gpt'
    assert isinstance(brain, ChatModel)


def test_model_usage_and_retries_come_back_as_recorded(path: Path) -> None:
    given = Reply(text='a\nb', model='gpt-4o-2024', usage=Usage(5, 2), duration_s=9.0, retries=2)
    RecordingModel(ScriptedModel([given]), path, 'brain').ask(ask('a'))

    reply = ReplayModel(path, 'brain').ask(ask('a'))

    assert reply == replace(given, duration_s=reply.duration_s)


def test_an_error_is_replayed_as_the_error_it_was(path: Path) -> None:
    model = RecordingModel(ScriptedModel([ModelUnavailableError('down'), 'up']), path, 'brain')
    with pytest.raises(ModelUnavailableError):
        model.ask(ask('a'))
    model.ask(ask('a'))

    again = ReplayModel(path, 'brain')

    with pytest.raises(ModelUnavailableError, match='down'):
        again.ask(ask('a'))
    assert again.ask(ask('a')).text == 'up'


def test_an_interrupted_recording_asks_only_what_has_no_answer_yet(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, 'code_version', lambda: '0.9')
    model = RecordingModel(ScriptedModel(['one', ModelUnavailableError('down')]), path, 'brain')
    model.ask(ask('a'))
    with pytest.raises(ModelUnavailableError):
        model.ask(ask('b'))
    path.write_text(path.read_text() + '{"torn')
    kept = answered(path)
    path.write_text(kept + f'{{"torn{kept}')
    with pytest.raises(ReplayError, match=r'Line 2 of .* is no recorded exchange'):
        answered(path)
    path.write_text(kept)

    live = ScriptedModel(['two'])
    monkeypatch.setattr(replay, 'code_version', lambda: '1.0')
    again = RecordingModel(live, path, 'brain', earlier=kept)

    assert [again.ask(ask(x)).text for x in 'ab'] == ['one', 'two']
    exchanges = read_recording(path)
    assert [(each.reply and each.reply.text, each.code) for each in exchanges] == [
        ('one', '0.9'),
        ('two', '1.0'),
    ]
    assert {each.templates for each in exchanges} == {templates_hash()}


def test_another_recording_answers_first_and_what_it_answered_is_copied(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = path.with_name('other.jsonl')
    monkeypatch.setattr(replay, 'code_version', lambda: '0.9')
    old = RecordingModel(
        ScriptedModel(['one', 'left', ModelUnavailableError('down')]), other, 'brain'
    )
    old.ask(pictured('a', PNG))
    old.ask(ask('unused'))
    with pytest.raises(ModelUnavailableError):
        old.ask(ask('b'))
    live = ScriptedModel(['two'])
    monkeypatch.setattr(replay, 'code_version', lambda: '1.0')
    model = RecordingModel(live, path, 'brain', episode='played', other=other.read_text())

    assert [model.ask(pictured('a', PNG)).text, model.ask(ask('b')).text] == [
        'one',
        'two',
    ]

    assert len(live.requests) == 1
    assert [(item.reply and item.reply.text, item.code) for item in read_recording(path)] == [
        ('one', '0.9'),
        ('two', '1.0'),
    ]
    assert {item.episode for item in read_recording(path)} == {'played'}
    assert list(recorded_pictures(path.read_text()).values()) == [PNG]


def test_a_different_prompt_is_refused_with_its_first_different_line(path: Path) -> None:
    recorded(path, 'brain', ('a', '1'), ('cubes:\nred\nblue', '2'))
    model = ReplayModel(path, 'brain')
    model.ask(ask('a'))

    with pytest.raises(ReplayError) as caught:
        model.ask(ask('cubes:\ngreen\nblue'))

    for options, message in (
        ({'stop': ['x']}, r"stop strings: recorded 'none', asked .+x"),
        ({'schema': SCHEMA}, 'JSON schema'),
    ):
        with pytest.raises(ReplayError, match=message):
            model.ask(ask('cubes:\nred\nblue', **options))
    text = str(caught.value)
    assert 'A prompt of the brain is not the recorded one: exchange 2 of 2 in' in text
    assert "message 2 (user), line 2: recorded 'red', asked 'green'" in text
    assert 'same task, scene' in text


def test_with_changed_prompts_replies_come_in_their_order_and_each_change_is_stated(
    path: Path,
) -> None:
    recorded(path, 'brain', ('cubes:\nred', '1'), ('b', '2'), ('c', '3'))
    recorded(path, 'body', ('pick', '<pick>'))

    again = replay_models(path, embedding=False, changed_prompts=True)
    replies = [again.brain.ask(ask(x)).text for x in ('cubes:\ngreen', 'b', 'other')]

    assert [*replies, again.body.ask(ask('pick')).text] == ['1', '2', '3', '<pick>']
    first, second = changes_in(again)
    assert 'exchange 1 of 3' in first
    assert first.endswith("differs in message 2 (user), line 2: recorded 'red', asked 'green'.")
    assert 'exchange 3 of 3' in second
    with pytest.raises(ReplayError, match='all of which were answered'):
        again.brain.ask(ask('d'))


def test_with_changed_prompts_a_recorded_request_keeps_its_own_reply(path: Path) -> None:
    recorded(path, 'brain', ('a', '1'), ('b', '2'))
    model = ReplayModel(path, 'brain', changed_prompts=True)

    assert [model.ask(ask(x)).text for x in ('b', 'new')] == ['2', '1']
    assert len(model.changes) == 1


def test_a_different_prompt_is_refused_with_the_version_that_asked(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, 'code_version', lambda: '0.9')
    recorded(path, 'brain', ('a', '1'))
    monkeypatch.setattr(replay, 'code_version', lambda: '1.0')

    with pytest.raises(ReplayError) as caught:
        ReplayModel(path, 'brain').ask(ask('b'))

    assert 'It was recorded by bbllm 0.9; this is 1.0.' in str(caught.value)
    assert '--changed-prompts' in str(caught.value)


def test_more_questions_than_were_recorded_are_refused(path: Path) -> None:
    recorded(path, 'brain', ('a', '1'), ('b', '2'))
    model = ReplayModel(path, 'brain')
    model.ask(ask('a'))

    with pytest.raises(ReplayError, match='recorded less often'):
        model.ask(ask('a'))
    model.ask(ask('b'))
    with pytest.raises(ReplayError, match='all of which were answered'):
        model.ask(ask('b'))


def test_whether_schemas_are_taken_is_replayed_as_it_changed(path: Path) -> None:
    def refuse_schemas(_: ModelRequest) -> str:
        inner.supports_schema = False
        return '1'

    inner = ScriptedModel([refuse_schemas, '2'], supports_schema=True)
    model = RecordingModel(inner, path, 'body')
    model.ask(ask('a', schema=SCHEMA))
    model.ask(ask('b'))

    again = ReplayModel(path, 'body')

    assert again.supports_schema
    again.ask(ask('a', schema=SCHEMA))
    assert not again.supports_schema


def test_a_replay_shortens_prompts_as_its_recording_did(
    path: Path,
) -> None:
    limited = ScriptedModel(['1'], prompt_limit_tokens=6000)
    RecordingModel(limited, path, 'brain').ask(ask('a'))
    recorded(path, 'body', ('a', '1'))

    limits = [prompt_limit(ReplayModel(path, role)) for role in ('brain', 'body')]

    assert limits == [6000, None]


def test_a_compressed_recording_answers_and_one_that_was_cut_is_refused(path: Path) -> None:
    recorded(path, 'brain', ('a', '1'))
    packed = path.with_name('talk.jsonl.xz')
    packed.write_bytes(lzma.compress(path.read_bytes()))

    assert ReplayModel(packed, 'brain').ask(ask('a')).text == '1'

    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(ReplayError, match=r'talk\.jsonl\.xz: it is cut or damaged'):
        ReplayModel(packed, 'brain')
    with pytest.raises(ConfigError, match=r'Name .*talk\.jsonl for --record'):
        RecordingModel(ScriptedModel([]), packed, 'brain')


def test_a_small_file_that_unpacks_to_very_much_is_refused_before_it_fills_the_memory(
    path: Path,
) -> None:
    packed = path.with_name('talk.jsonl.xz')
    packed.parent.mkdir()
    packer = lzma.LZMACompressor(preset=0)
    with packed.open('wb') as file:
        for _ in range(200):
            file.write(packer.compress(b'A' * 2**20))
        file.write(packer.flush())
    limit = 2000 * packed.stat().st_size
    assert limit < 200 * 2**20

    tracemalloc.start()
    try:
        with pytest.raises(ReplayError) as caught:
            ReplayModel(packed, 'brain')
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert f'recording {packed}: its {packed.stat().st_size / 1000:.3g} kB unpack to more' in str(
        caught.value
    )
    assert 'at most 500 MB are read, and 2000 times the size of the file' in str(caught.value)
    assert peak < limit + 10 * 2**20


def test_a_recording_that_never_ends_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / 'talk.jsonl')

    with pytest.raises(ReplayError, match='it is a pipe and no regular file'):
        ReplayModel(pipe, 'brain')
    with pytest.raises(ReplayError, match='it is a device and no regular file'):
        ReplayModel(Path('/dev/zero'), 'brain')


def test_of_a_long_line_the_part_that_differs_is_shown(path: Path) -> None:
    recorded(path, 'brain', ('x' * 500 + 'pick', '1'))

    with pytest.raises(ReplayError, match=r"recorded 'x{59}pick', asked 'x{59}place'"):
        ReplayModel(path, 'brain').ask(ask('x' * 500 + 'place'))


@pytest.mark.parametrize(
    ('content', 'message'),
    [('hello\n', 'Line 1 of .* is no recorded exchange in format 1'), ('', 'is empty')],
)
def test_what_is_no_recording_is_refused(path: Path, content: str, message: str) -> None:
    path.parent.mkdir()
    path.write_text(content)

    with pytest.raises(ReplayError, match=message):
        ReplayModel(path, 'brain')


def test_a_recording_that_cannot_be_written_is_refused_with_the_reason(tmp_path: Path) -> None:
    # A file where a folder should be stops even root, whom permissions do not.
    (tmp_path / 'file').write_text('')
    with pytest.raises(ConfigError, match=r'cannot be written \(.+\); name a file'):
        RecordingModel(ScriptedModel([]), tmp_path / 'file' / 'x' / 'talk.jsonl', 'brain')

    model = RecordingModel(ScriptedModel(['0: wait']), Path('/dev/full'), 'brain')
    with pytest.raises(ConfigError, match='/dev/full cannot be written'):
        model.ask(ask('plan'))


def test_two_writers_never_tear_a_line(path: Path) -> None:
    def talk(role: str) -> None:
        recorded(path, role, *[(f'{role} {i}', 'x' * 20_000) for i in range(20)])

    threads = [threading.Thread(target=talk, args=(role,)) for role in ('brain', 'body')]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(read_recording(path)) == 40


class Counting:
    """An embedder whose vectors begin with the length of the text."""

    name = 'counting'

    def embed(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> Embeddings:
        if cancel is not None:
            cancel.raise_if_cancelled()
        vectors = tuple((0.1 * len(text), 1 / 3) for text in texts)
        return Embeddings(vectors=vectors, model='counting-2', usage=Usage(len(texts)), retries=1)


def test_who_replays_is_given_the_very_vectors_that_who_recorded_was_given(path: Path) -> None:
    given = recording_embedder(Counting(), path).embed(['pick', 'wät'])

    again = replay_embedder(path)
    found = again.embed(['pick', 'wät'])

    assert found.vectors == given.vectors
    assert sum(found.vectors, ()) == pytest.approx((0.4, 1 / 3, 0.3, 1 / 3))
    assert (found.model, found.usage, found.retries) == ('counting-2', Usage(2), 1)
    assert again.name == 'replay of counting'


BOMB = base64.b64encode(zlib.compress(bytes(64 * 2**20))).decode()


@pytest.mark.parametrize('reply', ['<pass>', '[7]', '["eJw="]', f'["{BOMB}"]'])
def test_words_in_place_of_vectors_are_refused(path: Path, reply: str) -> None:
    RecordingModel(ScriptedModel([reply]), path, 'body').ask(ModelRequest.of('["pick"]'))

    with pytest.raises(ReplayError, match='vectors'):
        replay_embedder(path).embed(['pick'])


def test_a_cancel_passes_through_recording(path: Path) -> None:
    token = CancelToken()
    token.cancel('stop')

    with pytest.raises(CancelledError):
        recording_embedder(Counting(), path).embed(['pick'], cancel=token)
    assert not path.exists()


@pytest.mark.parametrize('embedder', [None, LexicalEmbedder()])
def test_all_models_of_an_episode_are_recorded_and_played_back_at_once(
    path: Path, embedder: LexicalEmbedder | None
) -> None:
    plan = ScriptedModel(['0: pick'])
    models = record_models(Models(plan, plan, (), embedder), path, episode='e')
    models.brain.ask(ModelRequest.of('plan'))
    if models.embedder is not None:
        models.embedder.embed(['pick'])

    again = replay_models(Path('lines'), embedding=embedder is not None, text=path.read_text())

    assert again.brain.ask(ModelRequest.of('plan')).text == '0: pick'
    assert (again.embedder is None) is (embedder is None)
    if again.embedder is not None:
        assert again.embedder.embed(['pick']).model == 'lexical'
    assert {item.episode for item in read_recording(path)} == {'e'}


PNG = b'\x89PNG\r\n\x1a\n and so on'


def pictured(text: str, *pictures: bytes) -> ModelRequest:
    return ModelRequest([Message('user', text, images=pictures)])


def test_a_picture_is_kept_once_and_requests_refer_to_its_hash(path: Path) -> None:
    model = RecordingModel(ScriptedModel(['1', '2', '3']), path, 'brain')
    for text in 'ab':
        model.ask(pictured(text, PNG, PNG + b'2'))
    earlier = answered(path)
    again = RecordingModel(ScriptedModel(['4']), path, 'brain', earlier=earlier)
    again.ask(pictured('c', PNG))

    text = path.read_text()
    assert list(recorded_pictures(text).values()) == [PNG, PNG + b'2']
    assert text.count('"picture": ') == 2
    first, second, _ = read_recording(path)
    assert first.messages[0].images == second.messages[0].images == tuple(recorded_pictures(text))
    assert answered(path) == text


def test_a_replay_compares_pictures_by_their_hashes(path: Path) -> None:
    model = RecordingModel(ScriptedModel(['1']), path, 'brain')
    model.ask(pictured('a', PNG))
    without = ''.join(
        f'{line}\n' for line in path.read_text().splitlines() if 'base64' in line or 'role' in line
    )

    with pytest.raises(ReplayError, match=r'message 1 \(user\), picture 1: recorded .hash '):
        ReplayModel(path, 'brain').ask(pictured('a', PNG + b'2'))
    with pytest.raises(ReplayError, match='differs in'):
        ReplayModel(path, 'brain').ask(ModelRequest.of('a'))
    assert ReplayModel(path, 'brain').ask(pictured('a', PNG)).text == '1'
    assert ReplayModel(path, 'brain', text=without).ask(pictured('a', PNG)).text == '1'
