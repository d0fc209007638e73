"""Pages that verbs of bbllm serve, opened in Chromium."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bbllm.core.errors import WorldError

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
    command = [sys.executable, '-m', 'bbllm', *(words or ('console',))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            late = threading.Timer(START_S, process.kill)
            late.start()
            assert process.stdout is not None
            found = (re.search(r'https?://\S+/', line) for line in process.stdout)
            url = next(filter(None, found), None)
            late.cancel()
            if url is None:
                raise WorldError(f'{" ".join(command)} printed no address within {START_S:g} s.')
            yield process.pid, url[0]
        finally:
            process.terminate()


@contextmanager
def shown(browser: Browser, url: str) -> Iterator[Page]:
    """Open the page, and count the pictures that it draws."""
    page = browser.new_page(viewport=SIZE)
    page.goto(url)
    page.locator('#canvas').wait_for()
    page.evaluate(COUNT)
    yield page
    page.close()
