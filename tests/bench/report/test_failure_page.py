"""The page of failures."""

import re
from dataclasses import replace
from pathlib import Path

from bbllm_bench.ledger.failures import FailureRow, failures_of
from bbllm_bench.report.failure_page import MOST, render_failures
from tests.bench.ledger.failing_episodes import FAR, UNCOVER, far_table, play, stack
from tests.bench.report.pages import Page, rows_of


def failures() -> list[FailureRow]:
    """Return a failure of a covered cube and one of a far place, by two configurations."""
    covered, _ = play(stack(), ['0: pick(red_cube)', UNCOVER])
    far, _ = play(far_table(), FAR, planner='brain_body:reach=no')
    return [*failures_of(covered), *failures_of(far)]


def page_of(folder: Path, found: list[FailureRow]) -> Page:
    path = folder / 'failures.html'
    path.write_text(render_failures(found, 'failures.sqlite', ['x.jsonl is skipped.']))
    return Page(path)


def test_table_has_codes_by_configuration_and_leads_to_the_failures(tmp_path: Path) -> None:
    covered, far = failures()

    page = page_of(tmp_path, [covered, replace(covered, recovered='', episode='other'), far])

    rows = rows_of(page.one('table'))
    header = [cell.text for cell in page.one('thead').iter('th')]
    assert header == ['Error', 'brain_body, scripted', 'brain_body:reach=no, scripted']
    assert [row[0] for row in rows] == ['COVERED', 'OUT_OF_WORKSPACE']
    assert rows[0][1].startswith('0.50 of 2') and '[0.09, 0.91]' in rows[0][1]
    assert (rows[0][2], rows[1][1]) == ('–', '–')
    assert f'requests 1 · tokens {far.tokens:,} · arm'.replace(',', ' ') in rows[1][2]
    links = [link.get('href', '').removeprefix('#') for link in page.all('a')]
    sections = {item.get('id'): ''.join(item.itertext()) for item in page.all('section')}
    assert links == list(sections)
    assert covered.sentence in sections[links[0]]
    assert 'pick(blue_cube)\nplace(location_B)' in sections[links[0]]
    assert sections[links[0]].count('not recovered') == 1
    assert 'x.jsonl is skipped.' in page.text
    assert not re.findall(r'(?:src|href)="(?!#)', page.source)


def test_a_page_is_bounded_and_empty_without_failures(tmp_path: Path) -> None:
    covered = failures()[0]
    many = [replace(covered, number=n, sentence=f'no. {n}.') for n in range(MOST + 5)]

    page = page_of(tmp_path, many)

    assert len(page.all('details')) == MOST
    assert f'no. {MOST + 4}.' in ''.join(page.all('details')[0].itertext())
    assert f'The newest {MOST} of {MOST + 5}' in page.text
    assert 'No failure is recorded.' in page_of(tmp_path, []).text
