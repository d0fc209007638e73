"""A real browser for tests of pages: Chromium without a display, where this machine has one."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

REQUIRED = 'BBLLM_REQUIRE'
NAMES = ('chromium', 'chromium-browser', 'google-chrome')
FLAGS = (
    *('--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'),
    *('--disable-background-networking', '--disable-component-update'),
    # WebGL in software.
    *('--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'),
)
PATIENCE_MS = 60_000.0
DESKTOP = {'width': 1280, 'height': 860}
PHONE = {'width': 390, 'height': 844}


def find_chromium() -> str | None:
    """Return the path of Chromium, or that of `$BBLLM_CHROMIUM`."""
    given = os.environ.get('BBLLM_CHROMIUM')
    return given or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def launched() -> Iterator['Browser']:
    """Run Chromium as long as this lasts; skips, or fails where $BBLLM_REQUIRE has `browser`."""
    why = ''
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        why = 'playwright is not installed: make extras'
    path = find_chromium()
    if path is None:
        why = 'there is no Chromium here: apt-get install chromium, or set BBLLM_CHROMIUM'
    if why and 'browser' in os.environ.get(REQUIRED, '').split(','):
        pytest.fail(f'{why}. ${REQUIRED} asks for a browser.', pytrace=False)
    if why:
        pytest.skip(why)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
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

    def close(self) -> None:
        self.page.context.close()
