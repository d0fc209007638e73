"""An episode on record in a real browser: any moment of it, forward and backward."""

import http.client
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip('uvicorn', reason='the extra `console` is not installed: make extras')

from bbllm.core.events import EventData
from bbllm.core.journal import read_damaged
from bbllm_viewer.console.desk import REFUSAL, RecordDesk
from bbllm_viewer.console.server import PageServer
from bbllm_viewer.web.server import Address
from tests.browser import Visitor, launched
from tests.console.desks import ScriptedDesk
from tests.recorded_episodes import events_of, repaired, write_journal, write_motion

HOSTILE = '</script><!--<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>\u202e'
SHOWN = HOSTILE.replace('\u202e', '\\u202e')
PARTS = ('#rows', '#instruction', '#goal', '#sub-goals', '#beliefs', '#ending', '#before')
"""What a live page and a replay show alike at the same moment."""
SLIDE = """time => {
  const slider = document.querySelector('.scrubber input');
  slider.value = time;
  slider.dispatchEvent(new Event('input'));
}"""


@pytest.fixture(scope='module')
def browser() -> Iterator[Any]:
    with launched() as browser:
        yield browser


Open = Callable[..., Visitor]


@pytest.fixture
def replay(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Return what opens a page that replays events; none may have had a fault in the end."""
    opened: list[tuple[Visitor, PageServer]] = []

    def replay(data: Sequence[EventData], motion: bool = False, **options: Any) -> Visitor:
        journal = write_journal(tmp_path, data)
        if motion:
            write_motion(journal, 'a')
        episode, faults = read_damaged(journal)
        server = PageServer(RecordDesk(episode, journal, faults), Address())
        server.__enter__()
        opened.append((Visitor(browser, server.url, **options), server))
        opened[-1][0].wait_for('.scrubber .at')
        return opened[-1][0]

    yield replay
    faults = [visitor.faults for visitor, _ in opened]
    for visitor, server in opened:
        visitor.close()
        server.__exit__(None, None, None)
    assert faults == [[] for _ in opened]


def time_of(page: Visitor) -> float:
    minutes, seconds = page.text('.scrubber .at').split(' / ')[0].split(':')
    return 60 * int(minutes) + float(seconds)


def shown_in(page: Visitor) -> list[str]:
    return [page.page.locator(part).evaluate('x => x.outerHTML') for part in PARTS]


def test_forward_and_backward_show_what_a_live_page_showed_then(
    browser: Any, replay: Open
) -> None:
    data = repaired()
    desk, live = ScriptedDesk(), list[list[str]]()
    with PageServer(desk, Address()) as server:
        page = Visitor(browser, server.url)
        for moment, event in enumerate(events_of(data)):
            desk.feed.take(event)
            desk.feed.set('robot', f'moment {moment}')
            page.wait_for('#robot', f'moment {moment}')
            live.append(shown_in(page))
        page.close()

    page = replay(data)
    for moment in (*range(len(data)), *reversed(range(len(data))), 3, 20, 9, 26, 0):
        page.page.evaluate(SLIDE, page.page.evaluate(TIMES)[moment] + 1e-3)
        shown = [part.replace(' replayed', '') for part in shown_in(page)]
        assert shown == live[moment], moment


TIMES = "import('./console.js').then(({ replay }) => replay.recording.times)"
QPOS = "import('./console.js').then(({ view }) => view.qpos)"


def test_steps_are_reached_by_keys_by_buttons_and_by_their_rows(replay: Open) -> None:
    page = replay(repaired())
    keyboard = page.page.keyboard
    running = page.page.locator('#rows .running .words').text_content

    keyboard.press('ArrowRight')
    assert running() == 'pick a'
    keyboard.press('ArrowRight')
    assert running() == 'pick b'
    keyboard.press('End')
    assert page.text('#ending') == 'partly done · goal unmet: a is left.'
    keyboard.press('ArrowLeft')
    assert running() == 'turn'
    page.page.get_by_role('button', name='Previous step').click()
    assert running() == 'look'
    page.page.get_by_role('button', name='Next step').click()
    assert running() == 'turn'
    page.page.locator('#rows .replaced').click()
    assert running() == 'pick a'
    assert page.page.locator('#rows .replaced').count() == 0
    keyboard.press('Home')
    assert page.page.locator('#rows li').count() == 0
    assert time_of(page) == 0.0
    page.page.locator('#events-title').click()
    page.page.locator('#events li').filter(has_text='0: pick b').last.click()
    assert running() == 'pick b'
    assert page.text('#events [aria-current]').split()[1] == 'step'


def test_it_plays_at_a_chosen_speed_pauses_and_begins_anew_from_the_end(replay: Open) -> None:
    page = replay(repaired())
    page.page.clock.install()
    page.page.clock.pause_at(time.time() + 60.0)
    page.page.get_by_role('combobox', name='Speed').select_option('4')
    page.page.locator('#plan-title').click()
    page.page.keyboard.press('Space')
    page.page.clock.run_for(500)
    at_s = time_of(page)
    assert 1.5 <= at_s <= 2.0
    page.page.get_by_role('button', name='Pause').click()
    page.page.clock.run_for(500)
    assert time_of(page) == at_s

    page.page.get_by_role('button', name='Play').click()
    page.page.clock.run_for(20_000)
    page.wait_for('#ending', 'partly done')
    assert page.page.get_by_role('button', name='Play').is_visible()
    page.page.get_by_role('button', name='Play').click()
    page.page.clock.run_for(100)
    assert time_of(page) < 1.0
    assert page.text('#ending') == ''


def test_arm_and_objects_are_where_they_were_then(replay: Open) -> None:
    page = replay(repaired(), motion=True)
    page.wait_for('#canvas')
    for at_s, turned in ((10.0, 0.3), (2.0, 0.06), (13.0, 0.389), (0.0, 0.0)):
        page.page.evaluate(SLIDE, at_s)
        page.wait_until(f'async () => Math.abs((await {QPOS})[0] - {turned}) < 2e-4')
        qpos = page.page.evaluate(QPOS)
        assert qpos[9] == pytest.approx(0.4 + turned, abs=2e-4)
        assert qpos[10:12] == pytest.approx([0.1, 0.02])


def test_replies_appear_when_they_came(replay: Open) -> None:
    page = replay(repaired())
    for at_s, reply in ((1.01, '(no reply)'), (1.51, '0: pick a')):
        page.page.evaluate(SLIDE, at_s)
        page.page.locator('#before').click()
        page.wait_for('dialog[open] pre', reply)
        page.page.keyboard.press('Escape')
    page.page.keyboard.press('Home')
    assert not page.page.locator('#before').is_visible()


def test_nothing_can_be_directed(replay: Open) -> None:
    page = replay(repaired())
    for name in ('Stop', 'Begin', 'Send', 'Approve', 'Deny'):
        assert page.page.get_by_role('button', name=name, exact=True).count() == 0
    url = urlsplit(page.page.url)
    for path, body in (
        ('task', {'task': 'x'}),
        ('say', {'text': 'x'}),
        ('answer', {'hash': 'x', 'granted': True, 'reason': ''}),
        ('stop', {}),
    ):
        connection = http.client.HTTPConnection('127.0.0.1', url.port or 0, timeout=30)
        headers = {'Origin': f'http://{url.netloc}'}
        connection.request('POST', url.path + path, json.dumps(body), headers)
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())) == (409, {'error': REFUSAL})
        connection.close()
