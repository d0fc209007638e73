"""What was sent to models and what came back: from an episode to disk and back."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ModelUnavailableError
from bbllm.core.events import PromptText, hash_of_text
from bbllm.core.journal import JournalWriter, prompts_text, read_episode
from bbllm.core.prompt_store import PromptEncoder, decode_prompts, prompts_path
from bbllm.core.protocols import EpisodeContext, Message, ModelRequest, World
from bbllm.testing import ScriptedModel
from bbllm_viewer.replay.exchanges import NOT_KEPT, KeptMessage, ModelExchange, read_exchanges
from tests.core.scripted_episodes import TASK, play

KEY = 'sk-' + 'a1B2' * 8
SCHEMA = {'type': 'object'}
RULES = Message('system', 'You plan.\nOne step a line.')


def asked(folder: Path, *, keep_prompts: bool = True) -> Path:
    """Ask the Brain twice, the Body once between, all on record; return the journal."""
    with JournalWriter(folder, 'e1') as journal:
        run = EpisodeRun(
            TASK, planner='p', brain='b', body='c', sinks=[journal], keep_prompts=keep_prompts
        )
        down = ModelUnavailableError('down')
        brain = run.model(ScriptedModel([down, '0: pick'], supports_schema=True), 'brain')
        body = run.model(ScriptedModel(['pick(red_cube)']), 'body')

        def ask(world: World, context: EpisodeContext) -> None:
            with pytest.raises(ModelUnavailableError):
                brain.ask(
                    ModelRequest([RULES, Message('user', f'Tidy up with {KEY}')], schema=SCHEMA)
                )
            body.ask(ModelRequest([Message('user', '0: pick\r\n\u2028\ud800')], schema=SCHEMA))
            brain.ask(ModelRequest([RULES, Message('user', '')]))

        play(ask, run=run)
    return journal.path


def exchanges(journal: Path) -> tuple[ModelExchange, ...]:
    return read_exchanges(read_episode(journal), journal)


def test_each_call_is_read_back_with_its_prompt_schema_and_reply(tmp_path: Path) -> None:
    failed, mapped, planned = exchanges(asked(tmp_path))

    rules = KeptMessage('system', RULES.content)
    assert failed.messages == (rules, KeptMessage('user', 'Tidy up with [hidden]'))
    assert (failed.schema, failed.reply) == ('{"type": "object"}', '')
    assert failed.call.error == 'ModelUnavailableError: down'
    # The Body ignores schemas, so it was sent none.
    assert mapped.messages == (KeptMessage('user', '0: pick\r\n\u2028?'),)
    assert (mapped.number, mapped.schema, mapped.reply) == (2, '', 'pick(red_cube)')
    assert planned.messages == (rules, KeptMessage('user', ''))
    assert (planned.reply, planned.missing) == ('0: pick', '')


def test_a_key_in_a_task_is_in_no_file(tmp_path: Path) -> None:
    journal = asked(tmp_path)

    assert 'Tidy up with [hidden]' in prompts_text(journal)
    assert all(KEY not in path.read_text() for path in tmp_path.iterdir())
    assert len(list(tmp_path.iterdir())) == 2


def test_where_prompts_are_not_to_be_kept_there_is_no_trace_of_them(tmp_path: Path) -> None:
    found = exchanges(journal := asked(tmp_path, keep_prompts=False))

    assert list(tmp_path.iterdir()) == [journal]
    assert prompts_text(journal) == ''
    assert 'Tidy' not in journal.read_text()
    assert {(call.messages, call.missing) for call in found} == {((), NOT_KEPT)}
    assert [call.reply for call in found] == ['', 'pick(red_cube)', '0: pick']


def test_of_a_file_that_a_crash_has_cut_the_rest_is_read(tmp_path: Path) -> None:
    path = prompts_path(journal := asked(tmp_path))
    path.write_bytes(path.read_bytes()[:-3])

    assert [bool(call.missing) for call in exchanges(journal)] == [False, True, False]


TEXTS = st.lists(st.lists(st.sampled_from(['', 'a', 'b', 'c', 'd']), max_size=9).map('\n'.join))


@given(TEXTS)
def test_texts_that_share_lines_are_read_back_whole(texts: list[str]) -> None:
    encoder = PromptEncoder()
    rows = ''.join(encoder.add([PromptText.of('user', text)]) for text in texts)

    assert decode_prompts(rows) == {hash_of_text(text): text for text in {'', *texts}}


def test_a_history_that_grows_is_kept_once() -> None:
    encoder = PromptEncoder()
    steps = [f'step {i}: put the cube number {i} onto the cube number {i - 1}' for i in range(100)]
    prompts = ['\n'.join(['Rules.', *steps[:i], 'What next?']) for i in range(101)]

    rows = [encoder.add([PromptText.of('user', text)]) for text in prompts]

    # A prompt of the whole history is 5000 characters, and what each adds a hundred.
    assert max(map(len, rows)) < 200
    assert not encoder.add([PromptText.of('user', prompts[50])])


def test_damage_makes_no_other_text_of_what_refers_to_it(tmp_path: Path) -> None:
    encoder = PromptEncoder()
    rows = [encoder.add([PromptText.of('user', text)]) for text in ('a\nb', 'c\nd', 'a\nb\nc')]
    damaged = rows[0].replace('a', 'x') + rows[1] + rows[2] + '{"hash": 1, "text": [[0, 9e9]]}\n'

    assert decode_prompts(damaged) == {hash_of_text(text): text for text in ('', 'c\nd')}
