"""Chromium without a display, for pictures, figures and tests of pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bbllm.core.errors import ConfigError

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ('chromium', 'chromium-browser', 'google-chrome')
VARIABLE = 'BBLLM_CHROMIUM'
FLAGS = (
    *('--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'),
    *('--disable-background-networking', '--disable-component-update'),
    # WebGL in software.
    *('--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'),
)


@contextmanager
def launched() -> Iterator[Browser]:
    """Run Chromium; raises ConfigError with what installs it where it is missing."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise ConfigError('playwright is not installed; run: make extras') from error
    path = os.environ.get(VARIABLE) or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise ConfigError(
            f'There is no Chromium here: apt-get install chromium, or set ${VARIABLE} to one.'
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()
