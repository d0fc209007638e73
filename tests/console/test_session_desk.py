"""A desk on a session of this process: tasks, answers by hash, stops, and what a page is sent."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from bbllm.api.config import EpisodeConfig
from bbllm.api.local_session import LocalSession
from bbllm.api.setup import make_setup
from bbllm.cli.views.question import person
from bbllm.core.errors import ApprovalError, TaskError
from bbllm.core.events import ApprovalAnswered, Ending, Episode
from bbllm.core.journal import read_episode
from bbllm.core.paths import episodes_dir
from bbllm.core.protocols import ModelRequest
from bbllm.testing import ScriptedModel
from bbllm_viewer.console.feed import Cursor, Feed
from bbllm_viewer.console.session_desk import SessionDesk
from tests.doubles.paper_world import PaperWorld
from tests.planners.symbolic_table import SymbolicTabletop
from tests.twenty_turns import LINES, TABLE, reply_to

TASK = 'stack the red cube on the blue cube'
PATIENCE_S = 60.0


def until(true: Callable[[], object], what: str) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline_s, f'waited for {what} for {PATIENCE_S:g} s'
        time.sleep(0.01)


def shown(feed: Feed, name: str) -> Any:
    """Return a value that a page which is opened now shows."""
    return json.loads(feed.news(Cursor()))['values'].get(name)


@pytest.fixture
def world() -> PaperWorld:
    return PaperWorld('tabletop')


@pytest.fixture
def desk(world: PaperWorld) -> Iterator[SessionDesk]:
    options = EpisodeConfig(brain='offline', body='offline')
    setup = make_setup(options, options.domain)
    with SessionDesk(LocalSession(world, setup, asks=True, name='arm of paper')) as desk:
        yield desk


def request_of(desk: SessionDesk, after: str = '') -> str:
    """Wait for a request other than one before; return its hash, as a page shows it."""
    until(
        lambda: (shown(desk.feed, 'request') or {}).get('hash', after) != after,
        'the question about a plan',
    )
    return str(shown(desk.feed, 'request')['hash'])


def end_of(desk: SessionDesk) -> Episode:
    until(lambda: desk.feed.episode_id and not desk.feed.running, 'the end of the task')
    return read_episode(episodes_dir() / f'{desk.feed.episode_id}.jsonl')


def answers_of(episode: Episode) -> list[ApprovalAnswered]:
    return [e.data for e in episode.events if isinstance(e.data, ApprovalAnswered)]


def test_plan_moves_nothing_before_its_whole_hash_is_approved(
    world: PaperWorld, desk: SessionDesk
) -> None:
    moved = threading.Event()
    world.on_call = moved.set
    desk.begin(TASK)
    asked = request_of(desk)

    with pytest.raises(TaskError, match='under way'):
        desk.begin(TASK)
    for wrong in ('0' * 64, asked[:12], ''):
        with pytest.raises(ApprovalError, match='is not what waits now'):
            desk.answer(wrong, True, '')
    assert not moved.is_set()
    desk.answer(asked, True, '')

    episode = end_of(desk)
    assert episode.ending is Ending.FINISHED, episode.message
    assert moved.is_set()
    (answer,) = answers_of(episode)
    assert (answer.hash, answer.by, answer.automatic) == (asked, person(), False)
    until(lambda: shown(desk.feed, 'request') is None, 'no question')
    assert shown(desk.feed, 'robot') == 'arm of paper'
    assert shown(desk.feed, 'nodes') == {'missing': [], 'text': ''}


def test_reason_of_a_denial_is_on_record_and_a_remark_begins_the_question_anew(
    desk: SessionDesk,
) -> None:
    with pytest.raises(TaskError, match='no task under way'):
        desk.say('hello')
    desk.begin(TASK)
    first = request_of(desk)
    assert desk.session.running is not None
    desk.session.running.say('put it on location_B', 0.0, '')
    second = request_of(desk, first)

    desk.answer(second, False, 'it is glued')

    (answer,) = answers_of(end_of(desk))
    assert (answer.hash, answer.granted, answer.reason) == (second, False, 'it is glued')


def test_stop_ends_the_question_and_the_task_and_the_next_one_begins(
    world: PaperWorld, desk: SessionDesk
) -> None:
    world.on_call = lambda: pytest.fail('something moved')
    desk.begin(TASK)
    request_of(desk)

    desk.stop()

    episode = end_of(desk)
    assert (episode.ending, episode.message) == (Ending.CANCELLED, 'Stopped in the browser.')
    assert desk.session.running is not None and desk.session.running.future is not None
    desk.session.running.future.result(PATIENCE_S)
    desk.begin(TASK)
    request_of(desk)


def test_what_ends_a_task_without_an_episode_is_shown(
    desk: SessionDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> Episode:
        raise ZeroDivisionError('a bug')

    begin = desk.session.begin

    def begin_broken(*args: Any, **kwargs: Any) -> Any:
        running = begin(*args, **kwargs)
        running.execute = fail
        return running

    monkeypatch.setattr(desk.session, 'begin', begin_broken)
    desk.begin(TASK)

    until(lambda: shown(desk.feed, 'fault'), 'the fault')
    assert shown(desk.feed, 'fault') == 'Fault in the program: ZeroDivisionError: a bug'


def test_twenty_lines_on_the_page() -> None:
    def reply(request: ModelRequest) -> str:
        return reply_to([{'role': m.role, 'content': m.content} for m in request.messages])

    brain = ScriptedModel([reply] * 40)
    options = EpisodeConfig(brain=brain, body=brain, goal='no', turns=20)
    session = LocalSession(SymbolicTabletop(TABLE), make_setup(options, 'tabletop'))
    with SessionDesk(session) as desk:

        def asks(question: str) -> bool:
            return question in json.dumps(shown(desk.feed, 'talk'))

        question = ''
        for line in LINES:
            if desk.feed.running:
                desk.say(line.text, question)
            else:
                desk.begin(line.text)
            if not line.ending:
                question = line.reply.partition('|')[0].removeprefix('ask:').strip()
                until(partial(asks, question), question)
                continue
            assert session.running is not None and session.running.future is not None
            episode = session.running.future.result(PATIENCE_S)
            assert episode.ending is not None
            assert (episode.ending.name, line.says in episode.summary) == (line.ending, True)
        until(lambda: not desk.feed.running, 'the end of the last turn')
        sent = json.loads(desk.feed.news(Cursor()))
    assert len(session.turns) == 18
    assert len(sent['turns']) == 17, 'the last one is shown open'
