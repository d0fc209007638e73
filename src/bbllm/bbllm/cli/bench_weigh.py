"""`bbllm bench weigh`: how well the arm tells which of two cubes is heavier."""

from __future__ import annotations

import json as json_text
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bbllm.cli.bar_view import BarView
from bbllm.cli.choices import JsonOption
from bbllm.cli.closing import leave
from bbllm.cli.commands import FAILED, INTERRUPTED
from bbllm.cli.output import Output
from bbllm.cli.supervision import interrupts
from bbllm.core.errors import ConfigError

if TYPE_CHECKING:
    from bbllm.bench.weighing_report import WeighingReport

NAME = 'weigh'
TRIALS_A_LINE = 10
"""How often there is a line where nobody watches."""


class TrialsView(BarView):
    """Shows how many trials are done."""

    def update(self, done: int, total: int) -> None:
        """Show that one more trial is done."""
        text = f'{done} of {total} trials'
        if self._bar is not None:
            (task,) = self._bar.task_ids
            self._bar.update(task, completed=done, total=total, description=text)
        elif done % TRIALS_A_LINE == 0:
            self._output.say(text)


def weigh(
    trials: Annotated[int, typer.Option(min=1, max=10_000, help='Of each pair of masses.')] = 50,
    seed: Annotated[int, typer.Option(min=0, help='Of the first trial.')] = 0,
    noise: Annotated[
        float,
        typer.Option(
            '--noise',
            metavar='N',
            min=0.0,
            max=5.0,
            help='Standard deviation of a reading of the force, and of the bias that a trial '
            'keeps [N].',
        ),
    ] = 0.2,
    jobs: Annotated[
        int | None,
        typer.Option('--jobs', '-j', min=1, help='Trials at once; one for each core by default.'),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar='DIR', help='Folder of the JSON and the pictures.')
    ] = Path('bench-weigh'),
    json: JsonOption = False,
) -> None:
    """
    Measure how well the arm tells which of two cubes is heavier, and how long that takes.

    After Ctrl-C, what was weighed until then is told and written.

    Exit code: 0 when every pair of masses was weighed in a trial at least;
    1 when one was in none; 2 for input that cannot be used; 130 after Ctrl-C.

    [bold]Examples[/bold]

      bbllm bench weigh
      bbllm bench weigh --trials 10 --noise 0.5 --out noisy
    """
    from bbllm.bench.weighing import run_weighing_bench

    try:  # before minutes of work, not after
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f'The folder {out} cannot be made ({error.strerror}); give --out one that can.'
        ) from error
    output = Output(json)
    with interrupts() as counter, TrialsView(output) as view:
        report = run_weighing_bench(
            trials,
            seed,
            noise_n=noise,
            processes=jobs or os.cpu_count() or 1,
            tell=view.update,
            stopped=lambda: counter.count > 0,
        )
    _tell(report, out, output)
    leave(_exit_code(report, interrupted=counter.count > 0))


def _tell(report: WeighingReport, out: Path, output: Output) -> None:
    from bbllm.bench.weighing_report import draw_report, print_report
    from bbllm.pictures.png import to_png
    from bbllm.pictures.svg import to_svg

    print_report(report, output.console)
    data: dict[str, Any] = report.as_json()
    page = draw_report(report)
    (out / f'{NAME}.json').write_text(json_text.dumps(data, indent=2) + '\n', 'utf-8')
    (out / f'{NAME}.svg').write_text(to_svg(page), 'utf-8')
    (out / f'{NAME}.png').write_bytes(to_png(page))
    output.say_line(f'{report.wall_s:.0f} s; written to {out}')
    output.result({**data, 'folder': str(out)})


def _exit_code(report: WeighingReport, *, interrupted: bool) -> int:
    if interrupted:
        return INTERRUPTED
    return 0 if report.all_weighed else FAILED
