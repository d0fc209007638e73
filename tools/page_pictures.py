"""
Take the pictures of the console in docs: python tools/page_pictures.py [FOLDER].

It needs `make extras` and Chromium. With a FOLDER, other than docs, also dark and narrow ones.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

if TYPE_CHECKING:
    from playwright.sync_api import Page

DOCS = ROOT / 'docs'
WIDE = {'width': 1400, 'height': 900}
NARROW = {'width': 390, 'height': 844}
LOOKS = {
    'light': (WIDE, 'light'),
    'dark': (WIDE, 'dark'),
    'phone': (NARROW, 'light'),
    'phone_dark': (NARROW, 'dark'),
}
PUBLISHED = ('console', 'console-approval')
"""Pictures that pages of the docs show."""
PATIENCE_MS = 300_000.0
TASK = 'create a plus sign using the cubes'


class Camera:
    """Shows one console in several looks, and takes pictures of it."""

    def __init__(self, browser: object, url: str, folder: Path):
        from tests.browser import Visitor

        looks = LOOKS if folder != DOCS else {'light': LOOKS['light']}
        self.folder = folder
        self.visitors = {
            look: Visitor(browser, url, viewport=size, color_scheme=scheme)
            for look, (size, scheme) in looks.items()
        }
        for visitor in self.visitors.values():
            visitor.page.set_default_timeout(PATIENCE_MS)

    @property
    def page(self) -> Page:
        return self.visitors['light'].page

    def take(self, name: str) -> None:
        if self.folder == DOCS and name not in PUBLISHED:
            return
        for look, visitor in self.visitors.items():
            visitor.page.wait_for_timeout(1500)  # the view is drawn smoothly once it rests
            width = visitor.page.evaluate('document.documentElement.scrollWidth')
            if width > visitor.page.viewport_size['width']:
                print(f'{name} {look}: {width} px wide')
            stem = name if look == 'light' else f'{name}-{look}'
            visitor.page.screenshot(path=self.folder / f'{stem}.png')
        self.check()

    def check(self) -> None:
        for look, visitor in self.visitors.items():
            for fault in visitor.faults:
                print(f'{look}: {fault}')
            visitor.faults.clear()


@contextmanager
def console() -> Iterator[str]:
    """Serve the console of a simulated arm, and yield its address."""
    from bbllm.api.config import EpisodeConfig
    from bbllm_bench.commands.demo_browser import SimulatedArms
    from bbllm_viewer.console.server import PageServer
    from bbllm_viewer.console.session_desk import SessionDesk
    from bbllm_viewer.web.server import Address

    options = EpisodeConfig(
        scene='plus_sign', brain='offline', body='offline', speed=2.0, sources='camera'
    )
    arms = SimulatedArms(options, asks=True)
    session = arms.open(arms.scene, arms.model)
    with SessionDesk(session, arms) as desk, PageServer(desk, Address()) as server:
        yield server.url
    session.close()


def main(folder: Path) -> None:
    from tests.browser import launched

    with console() as url, launched() as browser:
        camera = Camera(browser, url, folder)
        page = camera.page
        page.wait_for_selector('#canvas')
        camera.take('console-empty')
        page.fill('#words', TASK)
        page.click('#send')
        page.click('#approve:enabled')
        page.wait_for_selector('#rows .replaced')
        page.wait_for_selector('#approve:enabled')
        camera.take('console-approval')
        page.click('#approve')
        page.wait_for_selector('#rows .replaced >> nth=1')
        page.click('#approve:enabled')
        page.wait_for_timeout(2000)
        camera.take('console')
        page.wait_for_selector('.said .good:has(.note)')
        page.click('#list')
        page.click('#episodes-list button')
        page.wait_for_selector('#past .scrubber')
        page.wait_for_timeout(5000)
        camera.take('console-past')
        page.keyboard.press('Escape')
        page.keyboard.press('Escape')
        page.fill('#words', 'swap the hat and the moon')
        page.click('#send')
        page.wait_for_selector('#said-after .bad, #said-before .bad')
        camera.take('console-turns')


if __name__ == '__main__':
    os.environ['XDG_STATE_HOME'] = tempfile.mkdtemp()
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS
    chosen.mkdir(exist_ok=True, parents=True)
    main(chosen)
