"""The page of an episode in a real browser, as a file."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bbllm.core.events import FeedbackReceived, QuestionAsked
from bbllm_bench.report.episode_page import render_journal
from tests.bench.made_results import make_result
from tests.bench.report.pages import Page
from tests.browser import PHONE, Visitor, launched
from tests.recorded_episodes import repaired, write_journal, write_motion

EVIL = '</script><!--<script>window.pwned=1</script><img src=x onerror="window.pwned=1">\u202e'
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
def visit(browser: Any) -> Iterator[Open]:
    """Return what opens a file; it may have no fault and may request nothing else."""
    visitors: list[Visitor] = []

    def visit(file: Path, **options: Any) -> Visitor:
        visitors.append(Visitor(browser, file.as_uri(), **{'reduced_motion': 'reduce', **options}))
        return visitors[-1]

    yield visit
    for visitor in visitors:
        visitor.close()
    assert [visitor.faults for visitor in visitors] == [[] for _ in visitors]
    assert [len(visitor.requested) for visitor in visitors] == [1 for _ in visitors]


def page_of(folder: Path, word: str = 'a') -> Path:
    journal = write_journal(folder, repaired(word))
    write_motion(journal, word)
    page = folder / 'page.html'
    page.write_text(render_journal(journal), encoding='utf-8', errors='replace')
    return page


def test_one_file_replays_plan_and_arm_together(tmp_path: Path, visit: Open) -> None:
    shown = visit(page_of(tmp_path))
    running = shown.page.locator('#replay-rows .running .words').text_content
    shown.wait_for('.scrubber .at', '0:00.0 / 0:13.0')

    shown.page.locator('#replay-stage').focus()
    for step in ('pick a', 'pick b', 'look'):
        shown.page.keyboard.press('ArrowRight')
        assert running() == step
    assert 'Repair 1: a is out of reach.' in shown.text('#replay-rows .replaced')
    shown.page.locator('#replay-rows .replaced').click()
    assert running() == 'pick a'
    shown.page.keyboard.press('End')
    assert shown.text('#replay-now') == 'partly done · goal: unmet'
    assert shown.text('#replay-sub-goals') == '1. find a\n▶ 2. move b'
    assert 'a: warm' in shown.text('#replay-beliefs')
    assert shown.text('#replay-said-before') == 'Person:\npick a'
    assert shown.text('#replay-said-after').endswith('partly done · goal: unmet · a is left.')
    drawn = "(() => { const c = document.getElementById('replay-canvas'); return c.width; })()"
    shown.wait_until(f'{drawn} > 300')
    assert shown.page.locator('#story').count() == 1


def test_the_conversation_is_replayed_as_on_the_page_without_a_motion_too(
    tmp_path: Path, visit: Open
) -> None:
    start, *rest = repaired()
    talk = (
        QuestionAsked('Which a?', ('the red a', 'the blue a'), 60.0),
        FeedbackReceived('the red a', question='Which a?'),
        *rest[:-1],
        replace(rest[-1], summary='Partly done. a is left.'),
    )
    journal = write_journal(tmp_path, (start, *talk))
    page = tmp_path / 'page.html'
    page.write_text(render_journal(journal), encoding='utf-8')
    shown = visit(page)

    shown.page.locator('#replay-stage').focus()
    shown.page.keyboard.press('Home')
    assert shown.text('#replay-said-before') == 'Person:\npick a'
    shown.page.keyboard.press('End')
    said = shown.text('#replay-said-before')
    assert 'Which a?\n1 the red a · 2 the blue a' in said and said.endswith('the red a')
    assert 'Partly done. a is left.' in shown.text('#replay-said-after')
    assert shown.page.locator('#replay-canvas').is_hidden()


def test_it_plays_at_once_but_for_people_who_asked_for_less_motion(
    tmp_path: Path, visit: Open
) -> None:
    page = page_of(tmp_path)
    shown = visit(page, reduced_motion='no-preference')
    shown.wait_until("document.querySelector('.scrubber .at').textContent > '0:00.1'")
    shown.wait_for('#replay-rows .running')

    still = visit(page)
    assert still.page.get_by_role('button', name='Play').is_visible()


def test_it_plays_at_a_chosen_speed_pauses_and_begins_anew_from_the_end(
    tmp_path: Path, visit: Open
) -> None:
    shown = visit(page_of(tmp_path)).page
    shown.clock.install()
    shown.clock.pause_at(time.time() + 60.0)

    def at_s() -> float:
        return float(shown.locator('.scrubber .at').inner_text().split(' / ')[0].split(':')[1])

    def arm() -> bytes:
        return shown.locator('#replay-canvas').screenshot()

    first = arm()
    shown.get_by_role('combobox', name='Speed').select_option('4')
    shown.get_by_role('button', name='Play').click()
    shown.clock.run_for(500)
    paused_s = at_s()
    assert 1.5 <= paused_s <= 2.0
    shown.get_by_role('button', name='Pause').click()
    shown.clock.run_for(500)
    assert at_s() == paused_s
    assert arm() != first
    shown.get_by_role('button', name='Play').click()
    shown.clock.run_for(20_000)
    assert at_s() == 13.0
    shown.get_by_role('button', name='Play').click()
    shown.clock.run_for(100)
    assert at_s() < 1.0


def test_no_text_of_an_episode_becomes_markup_or_ends_the_record(
    tmp_path: Path, visit: Open
) -> None:
    page = page_of(tmp_path, EVIL)
    tags = Page(page)
    assert len(tags.all('script')) == 2
    assert not tags.all('img')

    shown = visit(page)
    shown.wait_for('.scrubber .at')
    shown.page.evaluate(SLIDE, 13)
    text = EVIL.replace('\u202e', '\\u202e')
    for where in ('.words', '.call', '.note'):
        assert text in (shown.page.locator(f'#replay-rows {where}').first.text_content() or '')
    for where in ('#replay-sub-goals', '#replay-beliefs'):
        assert text in (shown.page.locator(where).text_content() or '')
    assert shown.page.evaluate('window.pwned') is None


def test_page_runs_its_own_script_and_no_other_and_requests_nothing(
    tmp_path: Path, visit: Open
) -> None:
    shown = visit(page_of(tmp_path))
    shown.wait_for('.scrubber .at')
    shown.page.evaluate(
        """() => { const script = document.createElement('script');
                   script.textContent = 'window.pwned = 1'; document.body.append(script);
                   const image = new Image(); image.src = 'http://127.0.0.1:1/'; }"""
    )
    assert shown.page.evaluate('window.pwned') is None
    assert any('Content Security Policy' in fault for fault in shown.faults)
    shown.faults.clear()
    del shown.requested[1:]  # Chromium lists what the policy has blocked


@pytest.mark.parametrize('width', [320, 390, 1280])
def test_page_fits_its_width(tmp_path: Path, visit: Open, width: int) -> None:
    shown = visit(page_of(tmp_path, 'x' * 200), viewport={**PHONE, 'width': width})
    shown.wait_for('.scrubber .at')
    shown.page.evaluate(SLIDE, 13)

    wide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    assert shown.page.evaluate(wide) == 0


def test_page_of_a_run_has_no_script(tmp_path: Path) -> None:
    page = tmp_path / 'page.html'
    journal = write_journal(tmp_path, repaired())
    page.write_text(render_journal(journal, make_result()), encoding='utf-8')

    assert not Page(page).all('script')
    policies = [x.get('content', '') for x in Page(page).all('meta') if x.get('http-equiv')]
    assert [policy.rpartition('; ')[2] for policy in policies] == ["script-src 'none'"]
