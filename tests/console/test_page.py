"""The page in a real browser."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip('uvicorn', reason='the extra `console` is not installed: make extras')

from bbllm.api.config import EpisodeConfig
from bbllm.api.local_session import LocalSession
from bbllm.api.setup import make_setup
from bbllm.api.stage import open_stage
from bbllm.cli.views.question import person
from bbllm.core.approval import ApprovalRequest, RequestKind
from bbllm.core.events import (
    ApprovalAnswered,
    BeliefsEstimated,
    Ending,
    EpisodeEnded,
    Event,
    FeedbackReceived,
    GoalStated,
    LineDiscarded,
    ModelCall,
    ModelReplied,
    PlanMade,
    QuestionAsked,
    RepairBegun,
    StepBegun,
    SubGoalBegun,
    WarningRaised,
)
from bbllm.core.journal import read_episode
from bbllm.core.paths import episodes_dir
from bbllm.core.types import Fact, Kind, Outcome, Pose, Scene, SceneObject, SkillCall, Status
from bbllm.testing import ScriptedModel
from bbllm_bench.commands.demo_browser import SimulatedArms
from bbllm_viewer.console.server import PageServer
from bbllm_viewer.console.session_desk import SessionDesk
from bbllm_viewer.web.server import Address
from tests.browser import Visitor, launched
from tests.console.desks import ScriptedDesk

PATIENCE_S = 60.0
HOSTILE = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>&lt;b&gt;\u202e'
SHOWN = HOSTILE.replace('\u202e', '\\u202e')
ENDING = '#said-after .robot:is(.good, .bad)'
REQUEST = ApprovalRequest(
    kind=RequestKind.PLAN,
    title='The plan of 2 steps by gpt. May it be done?',
    steps=('pick a', 'place a on b'),
    goal=('a is on b',),
    timeout_s=300.0,
    since_s=time.time(),
)


@pytest.fixture(scope='module')
def browser() -> Iterator[Any]:
    with launched() as browser:
        yield browser


@pytest.fixture
def desk() -> ScriptedDesk:
    return ScriptedDesk()


@pytest.fixture
def server(desk: ScriptedDesk) -> Iterator[PageServer]:
    with PageServer(desk, Address()) as server:
        yield server


Open = Callable[..., Visitor]


@pytest.fixture
def visit(browser: Any, server: PageServer) -> Iterator[Open]:
    """Return what opens the page once more; no page may have had a fault in the end."""
    visitors: list[Visitor] = []

    def visit(**options: Any) -> Visitor:
        visitors.append(Visitor(browser, server.url, **options))
        return visitors[-1]

    yield visit
    for visitor in visitors:
        visitor.close()
    assert [visitor.faults for visitor in visitors] == [[] for _ in visitors]


def until(condition: Callable[[], object], what: str) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline_s, f'there was no {what} within {PATIENCE_S} s'
        time.sleep(0.01)


def test_plan_and_repair_appear_with_their_words(desk: ScriptedDesk, visit: Open) -> None:
    page = visit()
    assert page.text('#state') == 'ready for a task'

    desk.start('pick a', 'place a on b', task='put a on b')
    take = desk.feed.take
    take(Event(102.0, StepBegun(0, 'pick a')))
    take(Event(102.1, SkillCall('pick', ('a',))))
    page.wait_for('#rows li.running', 'pick(a)')
    assert page.text('#said-before') == 'Person:\nput a on b'
    assert page.page.locator('#rows li').count() == 2

    take(Event(103.0, RepairBegun(0, 'pick a', 'a is out of reach.', loop=1)))
    take(Event(104.0, PlanMade(('pick c', 'place c on b'), 0, revision=1)))
    page.wait_for('#rows li.replaced', 'Repair 1: a is out of reach.')
    # What is seen, which a browser on a busy machine has drawn some time after it is there.
    words, seen = ['pick a', 'pick c', 'place c on b'], page.page.locator('#rows li .words')
    until(lambda: seen.all_inner_texts() == words, f'rows {words}')

    take(Event(109.0, EpisodeEnded(Ending.FINISHED, '', goal='met')))
    page.wait_for('#said-after .robot.good', 'finished · goal: met')
    assert '1 repair ·' in page.text('#counts')
    assert page.text('#state') == 'ready for a task'

    desk.start('pick d', task='and now d')
    page.wait_for('#rows li', 'pick d')
    for seen in (page, visit()):  # also where the page is opened only now
        seen.wait_for('#turns .turn', 'finished · goal: met')
        assert seen.page.locator('#turns .turn').count() == 1
        assert seen.text('#said-before') == 'Person:\nand now d'
    page.page.locator('#turns summary').click()
    page.wait_for('#turns li.replaced', 'Repair 1: a is out of reach.')


def test_markup_of_models_people_and_detectors_appears_as_text(
    desk: ScriptedDesk, visit: Open
) -> None:
    page = visit()
    call = SkillCall(HOSTILE, (HOSTILE,))
    desk.feed.set('robot', HOSTILE)
    desk.start(HOSTILE, HOSTILE, task=HOSTILE)
    for data in (
        GoalStated((HOSTILE,)),
        SubGoalBegun(HOSTILE, 0, 1),
        BeliefsEstimated({HOSTILE: (HOSTILE,)}, summary=HOSTILE),
        LineDiscarded(HOSTILE, HOSTILE),
        WarningRaised(HOSTILE),
        StepBegun(0, HOSTILE),
        call,
        ModelCall(role='brain', model=HOSTILE),
        ModelReplied('brain', HOSTILE),
        RepairBegun(0, HOSTILE, HOSTILE, loop=1),
        EpisodeEnded(Ending.GAVE_UP, HOSTILE),
    ):
        desk.feed.take(Event(102.0, data))
    pose = Pose(position_m=(0.4, 0.0, 0.02))
    cube = SceneObject(
        name=HOSTILE, kind=Kind.CUBE, pose=pose, size_m=(0.04, 0.04, 0.04), color=HOSTILE
    )
    desk.feed.show_scene(
        Scene(objects=(cube,), facts=(Fact(HOSTILE, HOSTILE, HOSTILE),), skills=(), stamp_s=0.0)
    )
    desk.feed.show_request(
        replace(REQUEST, title=HOSTILE, steps=(HOSTILE,), goal=(HOSTILE,), reason=HOSTILE),
        HOSTILE,
    )
    desk.feed.set('fault', HOSTILE)
    desk.feed.set('nodes', {'missing': [HOSTILE], 'text': HOSTILE})
    desk.refusal = HOSTILE
    page.wait_for('#trouble', SHOWN)
    page.page.get_by_role('button', name='1 model call').first.click()
    page.wait_for('dialog[open] pre', SHOWN)
    page.page.keyboard.press('Escape')
    page.page.click('#stop')
    page.wait_for('#told', SHOWN)
    for summary in page.page.locator('summary').all():
        if summary.is_visible():
            summary.click()

    for where in (
        *('#robot', '#said-before', '#goal', '#sub-goals', '#beliefs', '#summary', '#rows .words'),
        *('#rows .call', '#rows .note', '#said-after', '#objects', '#facts', '#events'),
        *('#approval-title', '#approval-lines', '#approval-doubt', '#approval-reason'),
    ):
        assert SHOWN in page.page.locator(where).first.inner_text(), where
    assert page.page.evaluate('window.pwned') is None
    assert page.page.locator('main img, main script, header img').count() == 0
    page.faults.clear()  # the refusals that were asked for


def test_page_requests_nothing_from_elsewhere(server: PageServer, visit: Open) -> None:
    page = visit()
    page.wait_for('#state', 'ready')
    url = urlsplit(server.url)

    assert {urlsplit(x).netloc for x in page.requested} == {url.netloc}
    assert {x.removeprefix(server.url) for x in page.requested} == {
        *(
            '',
            'console.css',
            'console.js',
            'replay.css',
            'replay.js',
            'view3d.js',
            'events',
            'meshes',
            'microphone.js',
        )
    }
    blocked = page.page.evaluate(
        "fetch('http://127.0.0.2:1/').then(() => 'sent', error => String(error))"
    )
    assert 'Failed to fetch' in blocked
    assert any('Content Security Policy' in fault for fault in page.faults)
    page.faults.clear()


def test_a_person_begins_a_task_sends_a_remark_and_stops(desk: ScriptedDesk, visit: Open) -> None:
    desk.feed.set('task', 'create a plus sign')
    desk.feed.set('examples', ['stack a on b'])
    page = visit()
    words = page.page.get_by_label('Words for the robot')
    until(lambda: words.input_value() == 'create a plus sign', 'task in its box')
    page.page.get_by_role('button', name='stack a on b').click()
    assert words.input_value() == 'stack a on b'
    words.fill('put a on b')
    words.press('Enter')
    until(lambda: desk.asked == [('begin', 'put a on b')], 'task')

    desk.start('pick a')
    page.wait_for('#state.runs')
    words.fill('not the red one')
    page.page.get_by_role('button', name='Send').click()
    page.wait_for('#told', 'Sent.')
    desk.feed.take(Event(101.5, FeedbackReceived('not the red one')))
    page.wait_for('#said-after .person', 'not the red one')
    page.page.get_by_role('button', name='Stop').click()
    page.wait_for('#told', 'Stopped.')
    assert desk.asked[1:] == [('say', 'not the red one'), ('stop',)]

    desk.refusal = 'The node fr3_executor does not answer.'
    page.page.get_by_role('button', name='Stop').click()
    page.wait_for('#told.fault', desk.refusal)
    page.faults.clear()  # the refusal that was asked for


def test_person_approves_and_denies_exactly_what_is_shown(desk: ScriptedDesk, visit: Open) -> None:
    page = visit()
    approve = page.page.get_by_role('button', name='Approve')
    desk.feed.show_request(REQUEST)
    page.wait_for('#approval', REQUEST.title)
    assert page.page.locator('#approval-lines .words').all_inner_texts() == [*REQUEST.lines]
    assert REQUEST.lines[-1] == 'the planner states: checked at the end: a is on b'
    assert page.text('#approval-name') == REQUEST.name
    approve.click()
    page.wait_for('#told', 'Approved.')

    desk.feed.show_request(None)
    page.page.locator('#approval').wait_for(state='hidden')
    desk.start('pick a', 'place a on b')
    desk.feed.take(Event(102.0, StepBegun(0, 'pick a')))
    desk.feed.take(Event(102.1, SkillCall('pick', ('a',))))
    desk.feed.take(Event(103.0, Outcome(call=SkillCall('pick', ('a',)), status=Status.SUCCEEDED)))
    second = replace(REQUEST, nonce='second', steps=('pick a', 'place a on c'))
    desk.feed.show_request(second)
    words = page.page.get_by_label('Words for the robot')
    page.wait_for('#deny:enabled')
    marked = page.page.locator('#approval-lines li').evaluate_all(
        'items => items.map((item) => item.className)'
    )
    assert marked == ['done', 'dropped', 'new', '']
    words.fill('Yes!')
    words.press('Enter')
    page.wait_for('#told', 'Press Approve')
    words.fill('it is glued')
    words.press('Enter')
    page.wait_for('#told', 'Denied.')
    assert desk.asked == [
        ('answer', REQUEST.hash, True, ''),
        ('answer', second.hash, False, 'it is glued'),
    ]

    third = replace(REQUEST, kind=RequestKind.RESUME)
    desk.feed.show_request(third)
    page.page.get_by_role('button', name='The robot may go on').click()
    until(lambda: desk.asked[-1] == ('answer', third.hash, True, ''), 'answer')


def test_question_of_the_planner_is_answered_by_button_number_or_words(
    desk: ScriptedDesk, visit: Open
) -> None:
    page = visit()
    desk.start()
    question = QuestionAsked('Which cube?', ('the red one', 'the blue one'), timeout_s=300.0)
    for number, answer in enumerate(('the red one', 'the blue one', 'both')):
        desk.feed.take(Event(102.0 + 2 * number, question))
        page.wait_for('#state.waits', 'waits for your answer')
        page.wait_for('#said-before .question', 'Which cube?') if not number else None
        page.wait_for('#options button:enabled', 'the red one')
        if answer == 'the red one':
            page.page.get_by_role('button', name=answer).click()
        elif answer == 'the blue one':
            page.page.locator('h1').click()
            page.page.keyboard.press('2')
        else:
            page.page.get_by_label('Words for the robot').fill(answer)
            page.page.get_by_role('button', name='Answer').click()
        until(lambda said=answer: desk.asked[-1:] == [('say', said, 'Which cube?')], answer)
        desk.feed.take(Event(103.0 + 2 * number, FeedbackReceived(answer, '', 'Which cube?')))
        page.page.locator('#question').wait_for(state='hidden')

    end = EpisodeEnded(Ending.FINISHED, '', goal='met', summary='Done. Checked: a is on b.')
    desk.feed.take(Event(110.0, PlanMade(('pick a',), 0, assumed='both are meant')))
    desk.feed.take(Event(111.0, end))
    page.wait_for('#said-after .good', 'Done. Checked: a is on b.')
    page.wait_for('#said-after .note', 'finished · goal: met')
    page.wait_for('#said-after .warning, #said-before .warning', 'I assume: both are meant')


def test_question_takes_no_click_that_was_meant_for_what_was_there_before(
    desk: ScriptedDesk, visit: Open
) -> None:
    page = visit()
    page.page.clock.install()
    page.page.reload()
    page.page.clock.pause_at(time.time() + 60.0)
    for number in range(2):  # also where one question takes the place of another
        request = replace(REQUEST, nonce=str(number))
        desk.feed.show_request(request)
        page.wait_for('#approval-name', request.name)
        for name in ('approve', 'deny'):
            assert page.page.locator(f'#{name}').is_disabled()
        page.page.get_by_label('Words for the robot').fill('no')
        page.page.get_by_label('Words for the robot').press('Enter')
        page.page.clock.run_for(1000)
        assert page.page.get_by_role('button', name='Approve').is_enabled()
    assert desk.asked == []


def test_keyboard_reaches_all_that_acts(desk: ScriptedDesk, visit: Open) -> None:
    desk.start('pick a')
    desk.feed.show_request(REQUEST)
    page = visit()
    page.wait_for('#approve:enabled')
    reached = set()
    for _ in range(20):
        page.page.keyboard.press('Tab')
        reached.add(page.page.evaluate('document.activeElement.id'))

    assert {'stop', 'words', 'send', 'approve', 'deny', 'events-title'} <= reached
    page.page.focus('#approve')
    page.page.keyboard.press('Enter')
    until(lambda: desk.asked == [('answer', REQUEST.hash, True, '')], 'answer')


def test_page_names_what_is_gone_and_why_it_ends(desk: ScriptedDesk, browser: Any) -> None:
    with PageServer(desk, Address()) as server:
        page = Visitor(browser, server.url)
        desk.feed.set('nodes', {'missing': ['body_mapper'], 'text': ''})
        page.wait_for('#trouble', 'These nodes do not answer: body_mapper.')
        desk.feed.set('nodes', {'missing': ['body_mapper'], 'text': 'The node body_mapper died.'})
        page.wait_for('#trouble', 'The node body_mapper died.')
        desk.feed.set('nodes', {'missing': [], 'text': ''})
        page.page.locator('#trouble').wait_for(state='hidden')
    page.wait_for('#trouble', 'The console was ended.')
    page.page.click('#stop')
    page.wait_for('#told.fault', 'nothing was sent')
    page.close()


@pytest.fixture
def arm(tmp_path: Path) -> Iterator[SessionDesk]:
    options = EpisodeConfig(scene='plus_sign', speed=0.0)
    with open_stage(options) as stage:
        setup = make_setup(options, options.domain)
        session = LocalSession(stage.world, setup, asks=True, snapshot=stage.snapshot)
        with SessionDesk(session) as desk:
            yield desk


def test_person_with_a_browser_approves_sees_the_arm_repair_its_plan_and_denies(
    arm: SessionDesk, browser: Any
) -> None:
    with PageServer(arm, Address()) as server:
        page = Visitor(browser, server.url)
        page.wait_for('#canvas')
        page.page.get_by_label('Words for the robot').fill('create a plus sign using the cubes')
        page.page.get_by_role('button', name='Begin').click()
        page.wait_for('#approval', 'May it be done?')
        assert page.page.locator('#rows li.done').count() == 0
        for repaired in ('aqua_cube', 'white_cube'):
            page.page.click('#approve')
            page.wait_for('#rows li.replaced', f'{repaired} is out of the workspace')
            page.wait_for('#approval-lines li.dropped', repaired)
            assert page.page.locator('#approval-lines li.done').count() >= 4
        page.wait_for('#deny:enabled')
        page.page.get_by_label('Words for the robot').fill('the orange one is glued')
        page.page.get_by_label('Words for the robot').press('Enter')
        page.wait_for(ENDING, 'the orange one is glued')
        page.page.locator('#before').click()
        page.page.locator('dialog summary').first.click()
        page.wait_for('dialog pre', 'You direct')
        assert page.faults == []
        page.close()
    episode = read_episode(episodes_dir() / f'{arm.feed.episode_id}.jsonl')
    answers = [e.data for e in episode.events if isinstance(e.data, ApprovalAnswered)]
    assert [answer.granted for answer in answers] == [True, True, False]
    assert {(answer.by, answer.automatic) for answer in answers} == {(person(), False)}
    assert answers[-1].reason == 'the orange one is glued'


def test_view_follows_the_arm(arm: SessionDesk, browser: Any) -> None:
    def pose() -> list[float]:
        return list(page.page.evaluate('Array.from(window.view.qpos)'))

    with PageServer(arm, Address()) as server:
        page = Visitor(browser, server.url)
        page.wait_for('#canvas')
        page.page.evaluate('import("./console.js").then(m => { window.view = m.view; })')
        before = pose()
        arm.begin('put the red cube on location_A')
        page.wait_for('#approve:enabled')
        until(lambda: page.page.evaluate('window.view.extra.ghosts.length'), 'ghost')
        assert page.page.evaluate('window.view.extra.ghosts[0][0]') == 'red_cube'
        page.page.get_by_role('button', name='aqua_cube').click()
        page.wait_for('.names .marked', 'aqua_cube')
        page.page.get_by_role('button', name='Names and reach').click()
        until(lambda: page.page.locator('.names span:visible').count() == 1, 'no other name')
        assert pose() == before
        page.page.click('#approve')
        page.wait_for(ENDING, 'finished')
        until(lambda: pose() != before, 'motion')
        page.close()


def test_person_begins_anew_with_another_scene_and_replays_an_episode(browser: Any) -> None:
    options = EpisodeConfig(scene='plus_sign', brain='offline', body='offline', speed=0.0)
    arms = SimulatedArms(options, asks=False)
    session = arms.open(arms.scene, arms.model)
    with SessionDesk(session, arms) as desk, PageServer(desk, Address()) as server:
        page = Visitor(browser, server.url)
        page.page.get_by_label('Words for the robot').fill('put the red cube on location_A')
        page.page.get_by_role('button', name='Begin', exact=True).click()
        page.wait_for(ENDING, 'finished')

        page.page.select_option('#scene', 'tower')
        page.page.get_by_role('button', name='Begin anew').click()
        page.wait_for('#robot', 'tower')
        page.wait_for('#told', 'as its file has it')
        assert desk.session is not session
        page.page.get_by_label('Model').fill('no-such-model')
        page.page.get_by_role('button', name='Begin anew').click()
        page.wait_for('#told.fault')
        page.faults.clear()  # the refusal that was asked for

        page.page.get_by_role('button', name='Episodes').click()
        page.page.locator('#episodes-list button', has_text='on location_A').first.click()
        page.wait_for('#past .scrubber')
        page.page.locator('#past-rows').press('End')
        page.wait_for('#past-now', 'finished')
        assert page.faults == []
        page.close()
    desk.session.close()


def test_a_plan_in_a_house_is_approved_beside_marks_of_where_it_leaves_objects(
    browser: Any,
) -> None:
    plan = '0: walk to bookshelf\n1: grab book\n2: walk to sofa\n3: put book on sofa\n4: Done'
    model = ScriptedModel([plan])
    options = EpisodeConfig(brain=model, body=model, goal='no', mapping='text', speed=0.0)
    arms = SimulatedArms(options, asks=True)
    session = arms.open('tabletop', arms.model)
    with SessionDesk(session, arms) as desk, PageServer(desk, Address()) as server:
        page = Visitor(browser, server.url)
        page.wait_for('#canvas')
        page.page.select_option('#scene', 'family_flat')
        page.page.get_by_role('button', name='Begin anew').click()
        page.wait_for('#house .room', 'livingroom')
        assert page.page.locator('#canvas').is_hidden()
        page.page.get_by_label('Words for the robot').fill('put a book on the sofa')
        page.page.get_by_role('button', name='Begin', exact=True).click()
        page.wait_for('#house .ghost', 'book')
        page.page.click('#approve')
        for call in ('walk(bookshelf_', 'grab(book_', 'walk(sofa_', 'putback(book_'):
            page.wait_for('#approval-title', call)  # a step does not name the single object
            page.page.click('#approve:enabled')
        page.wait_for(ENDING, 'finished')
        until(lambda: not page.page.locator('#house .ghost').count(), 'end of the ghosts')
        page.page.select_option('#scene', 'tabletop')
        page.page.get_by_role('button', name='Begin anew').click()
        page.wait_for('#canvas')
        assert page.page.locator('#house').is_hidden()
        assert page.faults == []
        page.close()
    desk.session.close()


def test_feed_sends_each_browser_only_what_is_new(desk: ScriptedDesk) -> None:
    with desk.feed.browser() as cursor:
        assert json.loads(desk.feed.news(cursor))['reset'] is True
        assert desk.feed.news(cursor) == ''
        desk.start('pick a', 'pick b')
        first = json.loads(desk.feed.news(cursor))
        assert (first['reset'], first['n_rows'], len(first['events'])) == (True, 2, 2)
        desk.feed.take(Event(102.0, StepBegun(1, 'pick b')))
        news = json.loads(desk.feed.news(cursor))
        assert [place for place, _ in news['rows']] == [1]
        assert 'reset' not in news and len(news['events']) == 1
        desk.feed.set('fault', '')
        desk.feed.news(cursor)
        desk.feed.set('fault', '')
        assert desk.feed.news(cursor) == ''
        assert desk.feed.watched
    assert not desk.feed.watched


def test_tabs_that_nobody_sees_leave_the_browser_a_connection_for_stop(
    desk: ScriptedDesk, server: PageServer, browser: Any
) -> None:
    def observe(page: Any, hidden: str) -> None:
        page.evaluate(
            f"""() => {{
              Object.defineProperty(document, 'hidden', {{value: {hidden}, configurable: true}});
              document.dispatchEvent(new Event('visibilitychange'));
            }}"""
        )

    desk.start('pick a')
    context = browser.new_context()
    context.set_default_timeout(1000 * PATIENCE_S)
    tabs = []
    for _ in range(8):  # a browser has six connections to one server
        tabs.append(context.new_page())
        tabs[-1].goto(server.url)
        tabs[-1].locator('#rows', has_text='pick a').wait_for()
        observe(tabs[-1], 'true')

    observe(tabs[0], 'false')
    tabs[0].locator('#stop').click()
    until(lambda: ('stop',) in desk.asked, 'stop')
    desk.start('pick b')
    tabs[0].locator('#rows', has_text='pick b').wait_for()
    until(lambda: desk.feed.n_browsers == 1, 'end of the streams of the others')
    context.close()
