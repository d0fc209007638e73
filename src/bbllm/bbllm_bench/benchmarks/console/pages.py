"""Pages that verbs of bbllm serve, opened in Chromium."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bbllm.core.errors import WorldError
from bbllm_bench.benchmarks.time.processes import python, running, words_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

START_S = 30.0
SIZE: ViewportSize = {'width': 1280, 'height': 800}
"""Of a page [px]."""
COUNT = """
import('./console.js').then(({ view }) => {
  const draw = view.draw.bind(view);
  window.drawn = 0;
  view.draw = () => { window.drawn += 1; draw(); };
})
"""
"""Counts the pictures that the page draws."""


@contextmanager
def serving(*words: str) -> Iterator[tuple[int, str]]:
    """Run `bbllm console`, or another verb with a page; yield its process id and address."""
    command = python('-m', 'bbllm', *(words or ('console',)))
    with running(command, '://', START_S) as started:
        url = re.search(r'https?://\S+/', started.line)
        if url is None:
            raise WorldError(f'{words_of(command)!r} printed no address: {started.line}')
        yield started.pid, url[0]


@contextmanager
def shown(browser: Browser, url: str) -> Iterator[Page]:
    """Open the page, and count the pictures that it draws."""
    page = browser.new_page(viewport=SIZE)
    page.goto(url)
    page.locator('#canvas').wait_for()
    page.evaluate(COUNT)
    yield page
    page.close()
