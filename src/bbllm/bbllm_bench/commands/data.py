"""`bbllm data demos`: writes checked pick-and-place episodes as a data set of motions."""

from __future__ import annotations

import importlib.util
import os
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from bbllm.cli.support.options import JsonOption, count
from bbllm.cli.support.requests import expand_groups, flag, option
from bbllm.cli.support.supervision import interrupts
from bbllm.cli.support.verb_group import INTERRUPTED
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.core.plugins import how_to_install
from bbllm_bench.commands.options import MAX_JOBS

MOST = 1_000_000
EPISODES_A_LINE = 100
"""How often a line is printed without a terminal."""


data = typer.Typer(name='data', add_completion=False, no_args_is_help=True, rich_markup_mode=None)


@data.callback()
def data_command() -> None:
    """Write data from simulated episodes: demonstrations of motions."""


def demos(
    *,
    episodes: int = count('How many episodes the data set has.', default=100, max=MOST),
    out: Annotated[
        Path, typer.Option('--out', metavar='DIR', help='Folder of the data set; a new one.')
    ],
    seed: int = count('Of tables, tasks, noise and failures.', default=0, min=0),
    jobs: int | None = count(
        'Episodes at once, by default one for each core; the data set does not depend on it.',
        '-j',
        max=MAX_JOBS,
    ),
    misses: float = option(
        'Share of the episodes in which one grasp is made to miss.',
        default=0.25,
        metavar='X',
        min=0.0,
        max=1.0,
    ),
    unrepaired: float = option(
        'Share of the episodes without feedback loops, in which a failed step stays failed.',
        default=0.1,
        metavar='X',
        min=0.0,
        max=1.0,
    ),
    only_successful: bool = flag('Leave out episodes that the hidden checker fails.'),
    json: JsonOption = False,
) -> None:
    """
    Write checked pick-and-place episodes as a LeRobot data set.

    A stand-in plans random pick-and-place tasks and those of the suite
    tabletop, without a key; the simulated arm carries them out, and a checker
    that no planner sees judges the settled table. Joint states, actions and
    poses of objects at 30 Hz, in words the task and each step; failures and
    repairs are labelled. docs/data.md describes the columns.

    DIR appears when all is written. Equal options give equal data sets.

    Exit code: 0 with all episodes, 2 for input that cannot be used, 130 after
    Ctrl-C, which leaves nothing.

    Examples:
      bbllm data demos --episodes 100 --out demos
      bbllm data demos --episodes 5000 --seed 1 --only-successful --out demos-1
    """
    output = Output(json)
    if importlib.util.find_spec('pyarrow') is None:
        raise ConfigError(
            f'`bbllm data demos` needs the package pyarrow; {how_to_install("lerobot")}.'
        )
    from bbllm.llm.models.factory import load_config
    from bbllm_bench.demonstrations.collecting import StoppedError, collect
    from bbllm_bench.demonstrations.drawing import DemoSettings
    from bbllm_bench.demonstrations.playing import play
    from bbllm_bench.runner.workers import Workers

    settings = DemoSettings(
        episodes=episodes,
        seed=seed,
        misses=misses,
        unrepaired=unrepaired,
        only_successful=only_successful,
    )
    begun_s = time.monotonic()
    with (
        interrupts() as counter,
        output.bar(episodes) as bar,
        closing(Workers(play, jobs or len(os.sched_getaffinity(0)))) as workers,
    ):

        def show(counts: Counter[str]) -> None:
            done, frames = counts['episodes'], counts['frames']
            text = f'{done}/{episodes} episodes, {frames:,} frames'
            bar(completed=done, description=text)
            if not output.live and done % EPISODES_A_LINE == 0:
                output.print(text)

        try:
            counts = collect(
                settings,
                out.expanduser(),
                workers,
                llm=load_config(None),
                on_episode=show,
                wants_end=lambda: counter.count > 0,
            )
        except StoppedError as error:
            output.print(str(error), 'red')
            output.result({'error': str(error), 'error_kind': 'Interrupted'})
            raise typer.Exit(INTERRUPTED) from None
    wall_s = time.monotonic() - begun_s
    listed = ', '.join(f'{n:,} {name.replace("_", " ")}' for name, n in counts.items())
    output.print_line(f'{listed}; {60 * episodes / wall_s:.0f} episodes a minute.')
    output.print_path('data', out)
    output.result({**counts, 'wall_s': round(wall_s, 1), 'folder': str(out)})


data.command()(expand_groups(demos))
