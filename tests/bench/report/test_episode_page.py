"""The page of one episode, with what models were asked behind each step."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import Element

import pytest

from bbllm.core.events import (
    Ending,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    EventData,
    GoalStated,
    LineDiscarded,
    ModelCall,
    ModelReplied,
    PlanGrown,
    PlanMade,
    PromptText,
    RepairBegun,
    SceneRecorded,
    StepBegun,
    StepFailed,
    WarningRaised,
)
from bbllm.core.journal import JournalWriter
from bbllm.core.protocols import data_url
from bbllm.core.types import Code, Outcome, SkillCall, Status
from bbllm_bench.report.episode_page import render_journal
from bbllm_viewer.replay.exchanges import NOT_KEPT
from tests.bench.report import made_up
from tests.bench.report.pages import Page, rows_of, text_of

RULES = 'You plan.\n' + '\n'.join(f'Rule {number}.' for number in range(9))
BEFORE = made_up.start_of('plus_sign', 0)
EVIL = (
    '</pre></details><script>alert(1)</script>"\'><img src=x onerror=alert(1)></style>'
    '\x00\x1b[31m\u202e{{ 7 * 7 }}&amp;'
)


def started(text: str = 'stack them', model: str = 'm-1') -> EpisodeStarted:
    return EpisodeStarted(
        episode_id='e1', task=text, planner='brain_body', brain=model, body='m-2'
    )


def call(*prompt: str, role: str = 'brain', model: str = 'm-1', error: str = '') -> ModelCall:
    texts = tuple(PromptText.of(('system', 'user')[i], text) for i, text in enumerate(prompt))
    return ModelCall(
        role=role,
        model=model,
        prompt_tokens=100,
        completion_tokens=7,
        prompt_chars=1,
        prompt=texts,
        error=error,
    )


def outcome(skill: str, name: str, message: str = '') -> tuple[SkillCall, Outcome]:
    done = SkillCall(skill, (name,))
    if not message:
        return done, Outcome(call=done, status=Status.SUCCEEDED)
    return done, Outcome(
        call=done, status=Status.REJECTED, code=Code.OUT_OF_WORKSPACE, message=message
    )


REPAIRED: tuple[EventData, ...] = (
    started(),
    SceneRecorded('before', BEFORE),
    call(f'{RULES}\nPlan.', 'Goal?'),
    ModelReplied('brain', 'on(a, b)'),
    GoalStated(('a is on b',), 'on(a, b)', 'm-1'),
    call(f'{RULES}\nPlan.', 'Stack a on b.'),
    ModelReplied('brain', '0: take the far one'),
    PlanMade(('take the far one',), 0),
    StepBegun(0, 'take the far one'),
    call('Map it.', role='body', model='m-2'),
    ModelReplied('body', 'pick(far)'),
    *outcome('pick', 'far', 'far is out of reach.'),
    RepairBegun(0, 'take the far one', 'far is out of reach.', loop=1),
    call(f'{RULES}\nRepair.', 'Far is out of reach.'),
    ModelReplied('brain', '0: take a'),
    PlanMade(('take a',), 0),
    StepBegun(0, 'take a'),
    *outcome('pick', 'a'),
    call('Are you done?'),
    ModelReplied('brain', 'done'),
    SceneRecorded('after', BEFORE),
    EpisodeEnded(Ending.PARTLY_DONE, 'Not all was done.', goal='unmet'),
)


def written(folder: Path, events: Sequence[EventData]) -> Path:
    """Write a journal and its prompts."""
    with JournalWriter(folder, 'e1') as journal:
        for number, data in enumerate(events):
            journal(Event(1e9 + number, data))
    return journal.path


def page_of(journal: Path) -> Page:
    page = journal.with_name('page.html')
    page.write_text(render_journal(journal), encoding='utf-8')
    return Page(page)


def titles_of(page: Page) -> list[str]:
    heads = (part[0] for part in page.all('article', class_='part'))
    return [re.sub(r'^[\d.]+ s ', '', text_of(head)) for head in heads]


def part_with(page: Page, text: str) -> Element:
    return next(part for part in page.all('article') if text in text_of(part[0]))


def test_page_shows_plans_steps_and_how_a_failure_led_to_another_plan(tmp_path: Path) -> None:
    page = page_of(written(tmp_path, REPAIRED))

    assert 'PARTLY_DONE Not all was done.' in page.text
    assert 'Goal: unmet a is on b' in page.text
    assert titles_of(page) == [
        'Planning',
        'Step 0 take the far one rejected',
        'Repair 1 of step 0',
        'Step 0 take a succeeded',
        'Planning',
        'End',
    ]
    step, repair = part_with(page, 'the far one'), part_with(page, 'Repair 1')
    assert 'Call 3: body' in text_of(step)
    assert 'OUT_OF_WORKSPACE: far is out of reach.' in text_of(step)
    assert 'reply 0: take a' in text_of(repair)
    assert text_of(repair).endswith('Plan 2 take a')
    brain, body = rows_of(page.one('table', id='roles'))
    assert brain[:5] == ['brain', 'm-1', '4', '400', '28']
    assert body[:5] == ['body', 'm-2', '1', '100', '7']
    assert len(page.all('svg', class_='table')) == 2


def test_a_plan_that_grows_while_it_is_carried_out_is_one_plan(tmp_path: Path) -> None:
    events = (
        started(),
        PlanMade(('take a',), 0),
        StepBegun(0, 'take a'),
        PlanGrown(('take a', 'take b'), 1),
        *outcome('pick', 'a'),
        EpisodeEnded(Ending.FINISHED, ''),
    )

    page = page_of(written(tmp_path, events))

    assert titles_of(page) == ['Planning', 'Step 0 take a succeeded', 'End']
    assert text_of(page.all('article')[0]).endswith('Plan 1 take atake b')


def test_prompts_are_folded_and_what_earlier_ones_have_is_not_repeated(tmp_path: Path) -> None:
    page = page_of(written(tmp_path, REPAIRED))

    assert all('open' not in item.attrib for item in page.all('details'))
    again, repair = page.one('details', id='call-2'), page.one('details', id='call-4')
    assert 'system The same as in call 1.' in text_of(again)
    assert 'Rule 3.' not in text_of(again)
    assert next(text_of(item) for item in repair.findall('pre')).endswith('Repair.')


def test_texts_of_others_stay_texts_and_nothing_is_fetched(tmp_path: Path) -> None:
    item = replace(BEFORE.objects[-1], name=EVIL)
    scene = replace(BEFORE, objects=(*BEFORE.objects, item))
    evil: Sequence[EventData] = (
        replace(started(EVIL, EVIL), version=EVIL, settings={EVIL: EVIL}),
        SceneRecorded('before', scene),
        GoalStated((EVIL,), EVIL, EVIL),
        call(EVIL, f'{EVIL}\n{EVIL}', role=EVIL, model=EVIL, error=EVIL),
        call(EVIL),
        ModelReplied('brain', EVIL),
        LineDiscarded(EVIL, EVIL),
        PlanMade((EVIL,), 0, rest=EVIL),
        StepBegun(0, EVIL),
        *outcome(EVIL, EVIL, EVIL),
        RepairBegun(0, EVIL, EVIL),
        StepFailed(0, EVIL, EVIL),
        WarningRaised(EVIL),
        SceneRecorded('after', scene),
        EpisodeEnded(Ending.GAVE_UP, EVIL, goal=EVIL),
    )

    page = page_of(written(tmp_path, evil))

    assert page.text.count('<script>alert(1)</script>') > 20
    assert not {item.tag for item in page.elements()} & {'img', 'link', 'iframe'}
    assert len(page.all('script')) == 2  # the record and what shows it
    assert not {'onerror', 'src'} & {name for item in page.elements() for name in item.attrib}
    assert not [item for item in page.elements() if ':' in item.get('href', '')]
    assert not re.search('[\x00-\x08\x0b-\x1f\u202e\ufffd]', page.source)
    assert not re.search(r'url\(|@import', text_of(page.one('style')))


@pytest.mark.parametrize(
    ('events', 'words'),
    [
        (REPAIRED[:12], 'INTERRUPTED The journal breaks off'),
        ((REPAIRED[0], REPAIRED[-1]), 'There is no picture: the record has no scene.'),
        ((*REPAIRED[:2], replace(call(), prompt_chars=9)), NOT_KEPT),
        ((*REPAIRED[:2], call('Why?', error='TimeoutError: slow')), 'TimeoutError: slow'),
    ],
)
def test_the_page_of_an_incomplete_episode_names_what_is_missing(
    tmp_path: Path, events: Sequence[EventData], words: str
) -> None:
    assert words in page_of(written(tmp_path, events)).text


def test_page_shows_each_picture_once_beside_its_prompt(tmp_path: Path) -> None:
    png, jpeg = b'\x89PNG\r\n\x1a\n 1', b'\xff\xd8\xff\xe0 2'
    asked = [
        replace(
            call('Plan.', text),
            image_tokens=60,
            prompt=(*call('Plan.', text).prompt, *map(PromptText.of_picture, pictures)),
        )
        for text, pictures in (('a', (png,)), ('b', (png, jpeg)))
    ]
    page = page_of(written(tmp_path, [started(), *asked]))

    assert [item.attrib['src'] for item in page.all('img')] == [data_url(png), data_url(jpeg)]
    assert 'The picture of call 1.' in text_of(page.one('details', id='call-2'))
    assert '120 of pictures' in text_of(page.one('table', id='roles'))
    policy = next(item for item in page.all('meta') if 'http-equiv' in item.attrib)
    assert 'img-src data:' in policy.attrib['content']
