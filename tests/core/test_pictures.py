"""Pictures in an episode: what is on record of them, and where they come from."""

import json
from pathlib import Path

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ConfigError
from bbllm.core.events import hash_of
from bbllm.core.journal import JournalWriter, prompts_text, read_episode
from bbllm.core.prompt_store import decode_pictures, decode_prompts, prompts_path
from bbllm.core.protocols import (
    EpisodeContext,
    Message,
    ModelRequest,
    Reply,
    Usage,
    World,
    data_url,
    media_type,
    picture_of,
)
from bbllm.core.records import to_json
from bbllm.testing import ScriptedModel
from bbllm_viewer.replay.exchanges import KeptMessage, KeptPicture, read_exchanges
from tests.core.scripted_episodes import TASK, OneCubeWorld, play

PNG = b'\x89PNG\r\n\x1a\n and so on'
JPEG = b'\xff\xd8\xff\xe0 and so on'


def asked(folder: Path, *, keep_prompts: bool = True) -> Path:
    """Ask the Brain twice with the same picture and once with two; return the journal."""
    with JournalWriter(folder, 'e1') as journal:
        run = EpisodeRun(
            TASK, planner='p', brain='b', body='c', sinks=[journal], keep_prompts=keep_prompts
        )
        reply = Reply(text='0: pick', model='b', usage=Usage(900, 5, image_tokens=765))
        brain = run.model(ScriptedModel([reply] * 3), 'brain')

        def ask(world: World, context: EpisodeContext) -> None:
            for pictures in ((PNG,), (PNG,), (JPEG, PNG)):
                rules = Message('system', 'You plan.')
                brain.ask(ModelRequest([rules, Message('user', 'What next?', images=pictures)]))

        play(ask, run=run)
    return journal.path


def test_each_call_is_read_back_with_its_pictures(tmp_path: Path) -> None:
    journal = asked(tmp_path)

    first, second, third = read_exchanges(read_episode(journal), journal)

    png, jpeg = KeptPicture(hash_of(PNG), PNG), KeptPicture(hash_of(JPEG), JPEG)
    rules = KeptMessage('system', 'You plan.')
    assert first.messages == (rules, KeptMessage('user', 'What next?', (png,)))
    assert second.messages == first.messages
    assert third.messages == (rules, KeptMessage('user', 'What next?', (jpeg, png)))
    assert (first.missing, third.missing) == ('', '')
    assert to_json(third.messages)[1]['pictures'] == [
        {'hash': hash_of(JPEG)},
        {'hash': hash_of(PNG)},
    ]


def test_a_picture_is_kept_once_beside_the_journal_and_never_in_it(tmp_path: Path) -> None:
    journal = asked(tmp_path)

    rows = prompts_text(journal)
    assert rows.count('"image"') == 2
    assert decode_pictures(rows) == {hash_of(PNG): PNG, hash_of(JPEG): JPEG}
    assert hash_of(PNG) in journal.read_text()
    assert len(journal.read_text()) < 5000
    assert 'What next?' in decode_prompts(rows).values()


def test_a_damaged_picture_is_missing_and_never_another_one(tmp_path: Path) -> None:
    path = prompts_path(journal := asked(tmp_path))
    rows = [json.loads(row) for row in path.read_text().splitlines()]
    for row in rows:
        if row['hash'] == hash_of(PNG):
            row['image'] = data_url(PNG + b'x').partition(',')[2]
    path.write_text(''.join(f'{json.dumps(row)}\n' for row in rows))

    first, _, third = read_exchanges(read_episode(journal), journal)

    assert first.missing.startswith('1 of 3 parts of the prompt are not in')
    assert third.messages[1].pictures == (KeptPicture(hash_of(JPEG), JPEG),)


def test_a_world_without_camera_is_refused_with_what_would_work() -> None:
    def observe(world: World, context: EpisodeContext) -> None:
        picture_of(world)

    with pytest.raises(ConfigError, match='`image=none`'):
        picture_of(OneCubeWorld())
    episode = play(observe)
    assert 'This world has no camera' in episode.message


def test_what_is_no_picture_is_refused() -> None:
    assert (media_type(PNG), media_type(JPEG)) == ('image/png', 'image/jpeg')
    with pytest.raises(ValueError, match='PNG or JPEG'):
        data_url(b'GIF89a')
    with pytest.raises(ValueError, match=r'begins .*GIF89a'):
        Message('user', 'Look.', images=(PNG, b'GIF89a'))
