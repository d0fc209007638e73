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
PUBLISHED = ('console', 'console-approval', 'console-house')
"""Pictures that pages of the docs show."""
PATIENCE_MS = 300_000.0
TASK = 'create a plus sign using the cubes'
TALK = (
    'answer: red_cube, green_cube, blue_cube and four more (azure_cube is beyond the reach).',
    'ask: Which cylinder do you mean? | white_cylinder | black_cylinder',
    '0: pick black_cylinder\n1: place black_cylinder on location_B\n2: return to base\n3: Done',
    '1: place black_cylinder on location_C\n2: return to base\n3: Done',
)
"""What a model replies in the conversation."""
HOUSE_PLAN = """0: walk to bookshelf
1: grab book
2: walk to sofa
3: put book on sofa
4: walk to tv
5: switch on tv
6: Done"""


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
def console(**chosen: object) -> Iterator[str]:
    """Serve the console of a simulated arm, or a house, and yield its address."""
    from bbllm.api.config import EpisodeConfig
    from bbllm_bench.commands.demo_browser import SimulatedArms
    from bbllm_viewer.console.server import PageServer
    from bbllm_viewer.console.session_desk import SessionDesk
    from bbllm_viewer.web.server import Address

    arms = SimulatedArms(EpisodeConfig.of(chosen), asks=True)
    session = arms.open(str(chosen.get('house', arms.scene)), arms.model)
    with SessionDesk(session, arms) as desk, PageServer(desk, Address()) as server:
        yield server.url
    session.close()


def say(page: Page, text: str) -> None:
    page.fill('#words', text)
    page.click('#send')


def take_table(camera: Camera) -> None:
    """Take the demo: an empty page, a plan that waits, its repairs, and its replay."""
    page = camera.page
    page.wait_for_selector('#canvas')
    camera.take('console-empty')
    say(page, TASK)
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
    say(page, 'swap the hat and the moon')
    page.wait_for_selector('#said-after .bad, #said-before .bad')
    camera.take('console-turns')


def take_talk(camera: Camera) -> None:
    """Take a question and its answer, and a correction in mid-task."""
    page = camera.page
    page.wait_for_selector('#canvas')
    say(page, 'which cubes can you reach?')
    page.wait_for_selector('#said-before .robot, #said-after .robot')
    say(page, 'put the cylinder on location_B')
    page.wait_for_selector('#options button:enabled')
    camera.take('console-question')
    page.click('#options button >> nth=1')
    page.wait_for_selector('#approve:enabled')
    camera.take('console-answer')
    page.click('#approve')
    page.wait_for_selector('#rows .running')
    say(page, 'no, put it on location_C')
    page.wait_for_selector('#approve:enabled')
    camera.take('console-correction')
    page.click('#approve')
    page.wait_for_selector('.said .good:has(.note)')


def take_house(camera: Camera) -> None:
    """Take a house with ghosts."""
    page = camera.page
    page.wait_for_selector('#house .room')
    say(page, 'put a book on the sofa and turn on the tv')
    page.wait_for_selector('#approve:enabled')
    page.wait_for_selector('#house .ghost')
    camera.take('console-house')


def take_replay(camera: Camera) -> None:
    """Take the page of the newest episode, once its words are there."""
    camera.page.wait_for_timeout(6000)
    for visitor in camera.visitors.values():
        visitor.page.evaluate("document.getElementById('replay').scrollIntoView()")
    camera.take('replay')


def main(folder: Path) -> None:
    from bbllm.core.journal import list_journals
    from bbllm.core.paths import episodes_dir
    from bbllm.testing import ScriptedModel
    from bbllm_bench.commands.episode_files import write_page
    from tests.browser import launched

    table = {'speed': 2.0, 'scene': 'plus_sign', 'sources': 'camera'}
    scripted = {'goal': 'no', 'mapping': 'text'}
    with launched() as browser:
        model: object = ScriptedModel([HOUSE_PLAN])
        with console(**scripted, brain=model, body=model, house='family_flat') as url:
            take_house(Camera(browser, url, folder))
        with console(**table, brain='offline', body='offline') as url:
            take_table(Camera(browser, url, folder))
        if folder == DOCS:
            return
        model = ScriptedModel(TALK)
        with console(**scripted, brain=model, body=model, scene='tabletop', speed=0.4) as url:
            take_talk(Camera(browser, url, folder))
        page = folder / 'episode.html'
        write_page(list_journals(episodes_dir())[-1], page)
        take_replay(Camera(browser, page.as_uri(), folder))


if __name__ == '__main__':
    os.environ['XDG_STATE_HOME'] = tempfile.mkdtemp()
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS
    chosen.mkdir(exist_ok=True, parents=True)
    main(chosen)
