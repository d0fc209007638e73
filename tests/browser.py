"""A real browser for tests of pages: Chromium without a display, where this machine has one."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ('chromium', 'chromium-browser', 'google-chrome')
VARIABLE = 'BBLLM_CHROMIUM'
FLAGS = (
    *('--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'),
    *('--disable-background-networking', '--disable-component-update'),
    # WebGL in software.
    *('--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'),
)
REQUIRED = 'BBLLM_REQUIRE'
PATIENCE_MS = 60_000.0
DESKTOP = {'width': 1280, 'height': 860}
PHONE = {'width': 390, 'height': 844}


@contextmanager
def launched() -> Iterator['Browser']:
    """Run Chromium as long as this lasts; skips, or fails where $BBLLM_REQUIRE has `browser`."""
    path = os.environ.get(VARIABLE) or next(filter(None, map(shutil.which, NAMES)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        error = f'Run make extras, and install chromium or set ${VARIABLE} to one.'
        if 'browser' in os.environ.get(REQUIRED, '').split(','):
            pytest.fail(f'{error} ${REQUIRED} asks for a browser.', pytrace=False)
        pytest.skip(error)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


class Visitor:
    """One page in the browser, with what went wrong in it and what it requested."""

    def __init__(self, browser: 'Browser', url: str, **options: Any):
        context = browser.new_context(**{'viewport': DESKTOP, **options})
        context.set_default_timeout(PATIENCE_MS)
        self.page: Page = context.new_page()
        self.faults: list[str] = []
        self.requested: list[str] = []
        self.page.on('pageerror', lambda error: self.faults.append(str(error)))
        self.page.on('request', lambda request: self.requested.append(request.url))
        self.page.on(
            'console',
            lambda message: message.type == 'error' and self.faults.append(message.text),
        )
        self.page.goto(url)

    def text(self, selector: str) -> str:
        """Return the text of an element as a person reads it."""
        return self.page.locator(selector).inner_text()

    def wait_for(self, selector: str, text: str = '') -> None:
        """Wait until an element with a text is there to be seen."""
        found = self.page.locator(selector)
        (found.filter(has_text=text) if text else found).first.wait_for(state='visible')

    def wait_until(self, expression: str) -> None:
        """Wait until an expression in JavaScript is true.

        `Page.wait_for_function` looks again from within the page, where a policy without
        `unsafe-eval` forbids it: it passes only where the first look finds it true.
        """
        deadline = time.monotonic() + PATIENCE_MS / 1000
        while not self.page.evaluate(expression):
            if time.monotonic() > deadline:
                pytest.fail(f'not true after {PATIENCE_MS / 1000:.0f} s: {expression}')
            self.page.wait_for_timeout(50)

    def close(self) -> None:
        self.page.context.close()
