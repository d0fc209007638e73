"""`bbllm bench recorded`: a language model's recorded replies, and a stand-in beside them."""

import lzma
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from matplotlib.axes import Axes

from bbllm.bench.compare.choice import Contender, folder_name
from bbllm.bench.compare.run import claim, play_all
from bbllm.bench.log.files import write_atomically
from bbllm.bench.log.store import SUMMARY
from bbllm.bench.report import words
from bbllm.bench.report.grid import Grid, grid_of, markdown_of, print_grid
from bbllm.bench.report.summary import KFigures, RunSummary, rate_text, read_summary
from bbllm.bench.runner.play_here import play
from bbllm.bench.runner.run_setup import BenchRequest, prepare
from bbllm.bench.runner.workers import LocalWorkers
from bbllm.cli.support.bench_options import MAX_JOBS, parse_tasks
from bbllm.cli.support.options import JsonOption
from bbllm.cli.support.supervision import interrupts
from bbllm.cli.support.verb_group import FAILED, INTERRUPTED
from bbllm.cli.views.bench_progress import ProgressView
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.core.paths import state_dir
from bbllm.llm.recording.replay import COMPRESSED
from benchmarks.recorded.index import INDEX, RecordedRun, read_index
from benchmarks.shared import BLUE, ORANGE, new_chart, write_chart

app = typer.Typer(add_completion=False, rich_markup_mode='rich')
TABLE, CHART = 'recorded.md', 'recorded'
STAND_IN = 'stand-in'


@dataclass(frozen=True, slots=True)
class Played:
    """A recorded run and its stand-in, both played on the same cases."""

    run: RecordedRun
    model: RunSummary
    stand_in: RunSummary


@app.command()
def recorded(
    recordings: Annotated[
        Path,
        typer.Option(
            metavar='DIR', help='Where recordings and their index.yaml lie.', show_default=False
        ),
    ],
    only: Annotated[
        str | None, typer.Option(metavar='LIST', help='Only these recordings: tabletop,partial.')
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar='DIR', help='Folder of the results.')] = None,
    jobs: Annotated[
        int | None, typer.Option('--jobs', '-j', min=1, max=MAX_JOBS, help='Episodes at once.')
    ] = None,
    record: Annotated[
        bool,
        typer.Option(
            '--record',
            help='Ask the model of --llm-config, and write its replies to --recordings.',
        ),
    ] = False,
    llm_config: Annotated[
        Path | None, typer.Option(metavar='FILE', help='Description of the model to record.')
    ] = None,
    json: JsonOption = False,
) -> None:
    """
    Replay the recorded replies of a language model, and play a stand-in on the same cases.

    Needs no key. Where a prompt has changed since the recording, the episode is lost,
    and the first line that differs is printed. Writes a table (recorded.md) and a
    chart (recorded.png). The folder has a file index.yaml, see docs/bench.md.

    [bold]Examples[/bold]

      bbllm bench recorded --recordings mine --record --llm-config my_model.yaml
      bbllm bench recorded --recordings mine
      bbllm bench recorded --recordings mine --only tabletop --out build/recorded
    """
    place = recordings.expanduser()
    runs = read_index(place).chosen(() if only is None else parse_tasks(only))
    target = (out or state_dir() / 'bench' / 'recorded').expanduser()
    output = Output(json)
    make = partial(_to_record, llm_config=llm_config) if record else _to_replay
    contenders = [item for run in runs for item in make(run, place, target)]
    claim(target)
    output.print_path('results', target)
    workers = partial(LocalWorkers, play, jobs or len(os.sched_getaffinity(0)))
    with interrupts() as counter, output.bar() as bar:
        view = ProgressView(
            output, bar, lambda: counter.count > 0, [item.planner for item in contenders]
        )
        ran = play_all(contenders, target, workers, view)
    for item in ran:
        for problem in filter(None, (item.end.reason, item.end.problem, item.problem)):
            output.print(f'{item.planner}: {problem}', style='bold red')
    if any(item.end.interrupted for item in ran):
        raise typer.Exit(INTERRUPTED)
    lost = [item.planner for item in ran if item.end.reason or item.end.progress.lost]
    if record:
        for run in runs:
            if _model_row(run) not in lost:
                output.print_path('recording', _compress(place / f'{run.name}.jsonl'))
        output.result({'recorded': [run.name for run in runs], 'lost': lost})
    else:
        played = [_played(run, target) for run in runs]
        _write(played, target, output)
        output.result({'runs': [_figures(item) for item in played], 'lost': lost})
    if lost:
        output.print(
            f'Episodes of {", ".join(lost)} are lost. Where a replay differs, a prompt has '
            f'changed since: record it again with --record, and write the date into {INDEX}.',
            style='bold red',
        )
        raise typer.Exit(FAILED)


def _model_row(run: RecordedRun) -> str:
    return f'{run.name} recorded'


def _stand_in_row(run: RecordedRun) -> str:
    return f'{run.name} {run.stand_in}'


def _to_replay(run: RecordedRun, place: Path, target: Path) -> Iterator[Contender]:
    talk = place / run.file
    if run.date is None or not talk.exists():
        raise ConfigError(f'There is no recording {talk}; --record makes one.')
    yield _contender(_model_row(run), run.request(replay=talk), target)
    yield _contender(_stand_in_row(run), run.request(brain=run.stand_in), target)


def _to_record(
    run: RecordedRun, place: Path, target: Path, *, llm_config: Path | None
) -> Iterator[Contender]:
    talk = place / f'{run.name}.jsonl'
    request = replace(run.request(), ks=run.ks[-1:], record=talk, llm_config=llm_config)
    yield _contender(_model_row(run), request, target)


def _contender(row: str, request: BenchRequest, target: Path) -> Contender:
    return Contender(row, prepare(request, target / folder_name(row)))


def _compress(talk: Path) -> Path:
    """Replace a recording by its compressed form, and return that."""
    path = talk.with_name(f'{talk.name}{COMPRESSED}')
    write_atomically(path, lzma.compress(talk.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
    talk.unlink()
    return path


def _played(run: RecordedRun, target: Path) -> Played:
    model, stand_in = (
        read_summary(target / folder_name(row) / SUMMARY)
        for row in (_model_row(run), _stand_in_row(run))
    )
    return Played(run, model, stand_in)


def _figures(played: Played) -> dict[str, object]:
    return {
        'name': played.run.name,
        'date': played.run.date.isoformat() if played.run.date else None,
        'answered_by': played.run.answered_by,
        'recorded': played.model.model_dump(mode='json'),
        'stand_in': played.stand_in.model_dump(mode='json'),
    }


def _write(played: Sequence[Played], target: Path, output: Output) -> None:
    grid = _grid(played)
    print_grid(grid, output.console)
    write_atomically(target / TABLE, '\n'.join([*markdown_of(grid), '']))
    with new_chart('Success of a recorded language model', _subtitle(played)) as (figure, axes):
        figure.set_size_inches(6.0, 1.4 + 0.3 * sum(len(item.model.by_k) for item in played))
        _draw(axes, played)
        write_chart(figure, target, CHART)
    output.print_path('table', target / TABLE)
    output.print_path('chart', target / f'{CHART}.png')


def _subtitle(played: Sequence[Played]) -> str:
    models = sorted({name for item in played for name in item.model.models.get('brain', ())})
    dates = sorted({str(item.run.date) for item in played})
    return f'{", ".join(models)}; recorded {", ".join(dates)}; intervals of 95 %'


def _rows(played: Sequence[Played]) -> Iterator[tuple[Played, KFigures, KFigures]]:
    """Yield each run at each of its K, with the figures of the model and of the stand-in."""
    for item in played:
        for own, other in zip(item.model.by_k, item.stand_in.by_k, strict=True):
            yield item, own, other


def _grid(played: Sequence[Played]) -> Grid:
    return grid_of(
        'Recorded replies of a language model, beside a stand-in',
        [
            {
                'suite, planner': item.run.title,
                'K': str(own.k),
                'model': words.listed(item.model.models.get('brain', ())),
                'recorded': str(item.run.date),
                'seed': str(item.run.seed),
                'episodes': str(own.n),
                'SR': rate_text(own, 'sr'),
                'loops': words.metric('loops', own.value('loops')),
                'tokens each': words.count(round(own.tokens / max(1, own.n))),
                'stand-in': item.run.stand_in,
                'its SR': rate_text(other, 'sr'),
            }
            for item, own, other in _rows(played)
        ],
    )


def _draw(axes: Axes, played: Sequence[Played]) -> None:
    """Draw a row for each run and K: SR of the model and of the stand-in, with intervals."""
    rows = list(_rows(played))
    heads = [f'{item.run.title}, K = {own.k}' for item, own, _ in rows]
    models, stand_ins = [own for _, own, _ in rows], [other for _, _, other in rows]
    for name, color, shift, figures in (
        ('language model', BLUE, -0.13, models),
        (STAND_IN, ORANGE, 0.13, stand_ins),
    ):
        rates = [item.rate('sr') for item in figures]
        low, value, high = np.array([(r.low, r.value, r.high) for r in rates], dtype=float).T
        places = np.arange(len(rates)) + shift
        axes.hlines(places, low, high, colors=color)
        axes.plot(value, places, 'o', color=color, label=name)
    axes.set_yticks(range(len(rows)), heads)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(-0.03, 1.03)
    axes.set_xlabel('success rate')
    axes.grid(axis='x')
    axes.grid(visible=False, axis='y')
    axes.figure.legend(loc='outside lower right', ncols=2, frameon=False, fontsize=9)
