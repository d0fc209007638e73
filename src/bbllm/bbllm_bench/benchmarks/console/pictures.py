"""The pictures of pages in the docs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bbllm_bench.benchmarks.console.chromium import launched
from bbllm_bench.benchmarks.console.pages import SIZE, serving, shown

LATER = "import('./console.js').then(({ replay }) => replay.seek(replay.timeS + 1.0))"
"""Moves a replay on, so that the arm is under way to the next object."""
LISTED = (
    ('demo', '--recorded', 'tabletop/red_triangle'),
    ('demo', 'put the red cube on the blue cube', '--brain', 'offline'),
    ('demo', '--recorded', 'tabletop/letter_l'),
    ('demo', '--k', '1', '--brain', 'offline'),
    ('demo', '--brain', 'offline'),
)
"""Verbs that make the episodes of a list."""


def draw_page(path: Path) -> None:
    """Draw the page of the demo where its second repair waits for a person."""
    words = ('demo', '--browser', '--approval', 'plan', '--brain', 'offline')
    with (
        serving(*words) as (_, url),
        launched() as browser,
        shown(browser, url) as page,
    ):
        page.get_by_role('button', name='Begin').click()
        for _ in range(2):
            page.locator('#approve:enabled').click()
            page.locator('#approval').wait_for(state='hidden')
        page.locator('#rows .replaced').nth(1).wait_for()
        page.locator('#approve:enabled').click()
        page.locator('#rows .running').filter(has_text='place').last.wait_for()
        page.screenshot(path=path)


def draw_replay(path: Path) -> None:
    """Draw the replay of a demo at the moment after its first repair."""
    journal = json.loads(_run('demo', '--brain', 'offline', '--json'))['journal']
    with (
        serving('show', journal, '--browser') as (_, url),
        launched() as browser,
        shown(browser, url) as page,
    ):
        while not page.locator('#rows .replaced').count():
            page.keyboard.press('ArrowRight')
        page.evaluate(LATER)
        page.screenshot(path=path)


def draw_list(path: Path) -> None:
    """Draw the list of all episodes, after some of a stand-in and of a language model."""
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        for words in LISTED:
            _run(*words, state=folder)
        _run('show', '--index', f'{folder}/pages', state=folder)
        page = browser.new_page(viewport=SIZE)
        page.goto(f'file://{folder}/pages/index.html')
        page.screenshot(path=path)


def _run(*words: str, state: str | None = None) -> str:
    """Run a verb, whose episode may fail, and return the last line that it prints."""
    variables = {**os.environ, 'XDG_STATE_HOME': state} if state else None
    command = [sys.executable, '-m', 'bbllm', *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=variables)
    return done.stdout.splitlines()[-1]


PICTURES = {
    'console.png': draw_page,
    'console-replay.png': draw_replay,
    'console-list.png': draw_list,
}
"""What draws each."""
