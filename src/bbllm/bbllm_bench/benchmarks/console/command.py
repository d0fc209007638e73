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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from bbllm.cli.support.options import JsonOption
from bbllm.cli.views.output import PlainConsole
from bbllm_bench.benchmarks.console.chromium import launched
from bbllm_bench.benchmarks.console.pages import START_S, serving, shown
from bbllm_bench.benchmarks.console.pictures import PICTURES
from bbllm_bench.benchmarks.time.command import Group, measure_and_print
from bbllm_bench.benchmarks.time.figures import Measured
from bbllm_bench.benchmarks.time.stack import (
    connected,
    cores_used,
    processor_s,
    step_overheads,
    up,
)

app = typer.Typer(add_completion=False)
IDLE_S = 5.0


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
    json: JsonOption = False,
) -> None:
    """Measure what an open page of the console costs (needs ROS and Chromium, minutes)."""
    if pictures is not None:
        for name, draw in PICTURES.items():
            draw(pictures / name)
            PlainConsole(stderr=json).print(f'written to {pictures / name}')
        return
    group = Group(
        keys=('closed', 'read', 'open', 'frames', 'cores'),
        measure=partial(measure_console, moves=2 * pairs),
        repeats=rounds,
    )
    measure_and_print([group], 'Console', out, json=json)


def measure_console(
    rounds: int, seed: int, advance: Callable[[str], None], moves: int
) -> Mapping[str, Measured]:
    """Start a stack at real-time speed, and measure it without a page and with one, in turn."""
    found: dict[str, list[float]] = {key: [] for key in ('closed', 'read', 'open')}
    frames, cores = [], []
    with launched() as browser, up(), connected() as client:
        for turn in range(rounds):
            found['closed'] += step_overheads(client, moves)
            with serving() as (pid, url), _reading(url):
                found['read'] += step_overheads(client, moves)
            with serving() as (pid, url), shown(browser, url) as page:
                before, used_s = page.evaluate('drawn'), processor_s([pid])
                begun_s = time.monotonic()
                found['open'] += step_overheads(client, moves)
                spent_s = time.monotonic() - begun_s
                frames.append((page.evaluate('drawn') - before) / spent_s)
                cores.append((processor_s([pid]) - used_s) / spent_s)
            advance(f'round {turn + 1} of {rounds}')
        with serving() as (pid, url), shown(browser, url):
            idle = cores_used([pid], IDLE_S)
    found_ms = {key: tuple(1e3 * time_s for time_s in times) for key, times in found.items()}
    return {
        'closed': Measured(values=found_ms['closed']),
        'read': Measured(values=found_ms['read'], references=found_ms['closed']),
        'open': Measured(values=found_ms['open'], references=found_ms['closed']),
        'frames': Measured(values=tuple(frames)),
        'cores': Measured(values=tuple(cores), references=(idle,)),
    }


@contextmanager
def _reading(url: str) -> Iterator[None]:
    """Read the stream of the page in a thread."""
    answer: Any = urllib.request.urlopen(f'{url}events', timeout=START_S)

    def read() -> None:
        while answer.readline():
            pass

    threading.Thread(target=read, daemon=True).start()
    yield
