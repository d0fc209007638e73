"""
`bbllm bench console`: what an open page costs a stack, and its pictures for the docs.

The overhead of a step is that of `bbllm bench stack`. It is measured without a page, with a
program that reads the page's stream and draws nothing, and with the page in Chromium, in turn and
several times, since the machine does other work as well. Chromium draws in software here.
"""

from __future__ import annotations

import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bbllm.cli.support.options import JsonOption
from bbllm.cli.views.output import PlainConsole
from bbllm_bench.benchmarks.console.chromium import launched
from bbllm_bench.benchmarks.console.pages import START_S, serving, shown
from bbllm_bench.benchmarks.console.pictures import PICTURES
from bbllm_bench.benchmarks.console.replay import measure_replay
from bbllm_bench.benchmarks.shared import machine_text, write_json
from bbllm_bench.benchmarks.stack.command import Spread, processor_s, started, step_overheads
from bbllm_bench.log.versions import describe_machine
from bbllm_bench.report.grid import grid_of, print_grid

if TYPE_CHECKING:
    from playwright.sync_api import Page

app = typer.Typer(add_completion=False)
IDLE_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleReport:
    """What one run measured."""

    machine: dict[str, str]
    overhead_closed: Spread
    """Overhead of a step without a page."""
    overhead_read: Spread
    """The same while a program reads the stream of the page."""
    overhead_open: Spread
    """The same while Chromium shows the page."""
    frames_per_s: float
    """Pictures that the page drew while tasks ran [Hz]."""
    cores: float
    """Cores that the process of the console used while tasks ran."""
    idle_cores: float
    """The same while the arm rested."""


@app.command()
def console(
    rounds: Annotated[int, typer.Option(min=1, help='How often each case is measured.')] = 4,
    pairs: Annotated[
        int, typer.Option(min=1, help='Tasks of each case and round, there and back.')
    ] = 1,
    out: Annotated[Path, typer.Option(help='Where the JSON goes.')] = Path('bench-console.json'),
    pictures: Annotated[
        Path | None, typer.Option(help='Only draw the pictures of the docs into this folder.')
    ] = None,
    replay_steps: Annotated[
        int | None, typer.Option(min=1, help='Only measure the replay of so many steps.')
    ] = None,
    json: JsonOption = False,
) -> None:
    """Measure what an open page of the console costs (needs ROS and Chromium, minutes)."""
    terminal = PlainConsole(stderr=json)
    if pictures is not None:
        for name, draw in PICTURES.items():
            draw(pictures / name)
            terminal.print(f'written to {pictures / name}')
        return
    if replay_steps is not None:
        replay = measure_replay(replay_steps)
        terminal.print(
            f'{replay.steps:,} steps, {replay.events:,} events: built in {replay.build_s:.1f} s, '
            f'{replay.bytes / 1e6:.1f} MB; a seek takes {replay.drag_ms:.0f} ms in a drag, '
            f'{replay.jump_ms:.0f} ms far away'
        )
        write_json(out, asdict(replay), printed=json)
        return
    report = run_console_bench(rounds, 2 * pairs, lambda text: terminal.print(text, style='dim'))
    rows = [
        {
            'case': name,
            'overhead of a step, median / p95': f'{x.median_ms:.1f} / {x.p95_ms:.1f} ms',
        }
        for name, x in (
            ('no page', report.overhead_closed),
            ('stream read, nothing drawn', report.overhead_read),
            ('page in Chromium', report.overhead_open),
        )
    ]
    print_grid(
        grid_of(f'Overhead of a step, {report.overhead_open.n} steps a case', rows), terminal
    )
    terminal.print(
        f'{report.frames_per_s:.1f} pictures a second; the console used {report.cores:.3f} cores, '
        f'{report.idle_cores:.3f} while the arm rested'
    )
    terminal.print(machine_text(report.machine))
    write_json(out, asdict(report), printed=json)
    terminal.print(f'written to {out}')


def run_console_bench(rounds: int, moves: int, state: Callable[[str], None]) -> ConsoleReport:
    """Start a stack at real-time speed, and measure it without a page and with one, in turn."""
    times_s: dict[str, list[float]] = {'closed': [], 'read': [], 'open': []}
    frames, cores = [], []
    with ExitStack() as files:
        browser = files.enter_context(launched())
        _, client, _ = files.enter_context(started({}))
        for turn in range(rounds):
            state(f'round {turn + 1} of {rounds}')
            times_s['closed'] += step_overheads(client, moves)
            with serving() as (pid, url), _reading(url):
                times_s['read'] += step_overheads(client, moves)
            with serving() as (pid, url), shown(browser, url) as page:
                before, begun_s, used_s = _drawn(page), time.monotonic(), processor_s([pid])
                times_s['open'] += step_overheads(client, moves)
                spent_s = time.monotonic() - begun_s
                frames.append((_drawn(page) - before) / spent_s)
                cores.append((processor_s([pid]) - used_s) / spent_s)
        with serving() as (pid, url), shown(browser, url):
            used_s = processor_s([pid])
            time.sleep(IDLE_S)
            idle_cores = (processor_s([pid]) - used_s) / IDLE_S
    return ConsoleReport(
        machine=describe_machine(),
        overhead_closed=Spread.of(times_s['closed']),
        overhead_read=Spread.of(times_s['read']),
        overhead_open=Spread.of(times_s['open']),
        frames_per_s=sum(frames) / rounds,
        cores=sum(cores) / rounds,
        idle_cores=idle_cores,
    )


def _drawn(page: Page) -> int:
    return int(page.evaluate('window.drawn'))


@contextmanager
def _reading(url: str) -> Iterator[None]:
    """Read the stream of the page in a thread."""
    answer: Any = urllib.request.urlopen(f'{url}events', timeout=START_S)

    def read() -> None:
        while answer.readline():
            pass

    threading.Thread(target=read, daemon=True).start()
    yield
