"""Tables and chart of recorded runs, for a terminal, as files, and for README and docs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.core.provenance import templates_hash
from bbllm_bench.benchmarks.shared import BLUE, ORANGE, new_chart, write_chart
from bbllm_bench.log.files import write_atomically
from bbllm_bench.log.results import CHANGED_PROMPTS
from bbllm_bench.report import words
from bbllm_bench.report.grid import Grid, grid_of, markdown_of, print_grid
from bbllm_bench.report.plots import to_png
from bbllm_bench.report.summary import KFigures, RunSummary, rate_text
from bbllm_bench.runner.recorded_runs import Origin, RecordedRun

TABLE, CHART = 'recorded.md', 'recorded'
STAND_IN = 'stand-in'
BY_VERSION = 'The figures are those of the version in the table, with the prompts that it sent.'
BEGIN, END = '<!-- recorded: make bench-recorded writes this table -->', '<!-- /recorded -->'
"""Lines of a document between which the table stands."""


@dataclass(frozen=True, slots=True)
class Played:
    """A recorded run and its stand-in, both played on the same cases."""

    run: RecordedRun
    origin: Origin
    model: RunSummary
    stand_in: RunSummary
    changes: tuple[str, ...] = ()
    """Where prompts are not those that were replied to, reply by reply; with any, nothing of the
    run is a figure of the recorded model."""

    @property
    def counts(self) -> dict[str, int]:
        """What a replay with changed prompts came to, over all K."""
        groups = self.model.by_k
        return {
            'prompts': sum(group.model_calls for group in groups),
            'changed': len(self.changes),
            'episodes': sum(group.n for group in groups),
            'passed': sum(group.passed for group in groups),
            'lost': sum(group.infrastructure_failures for group in groups),
        }


def figures_of(played: Played) -> dict[str, object]:
    """Return all figures of a run as JSON values; only counts where prompts have changed."""
    head = {'name': played.run.name, 'origin': asdict(played.origin)}
    if played.changes:
        return {**head, **played.counts, 'changes': played.changes}
    return {
        **head,
        'recorded': played.model.model_dump(mode='json'),
        'stand_in': played.stand_in.model_dump(mode='json'),
    }


def changed_text(played: Played, *, everything: bool) -> str:
    """Return which prompts have changed since: the first difference, or that of each reply."""
    origin = played.origin
    head = (
        f'{played.run.title}: prompts have changed since bbllm {words.listed(origin.code)} '
        f'(templates {words.listed(origin.templates)}, now {templates_hash()}).'
    )
    return '\n  '.join([head, *played.changes[: None if everything else 1]])


def write_figures(played: Sequence[Played], folder: Path, output: Output) -> None:
    """Print the tables, and write them and the chart of the recorded model into a folder."""
    figures = [item for item in played if not item.changes]
    changed = [item for item in played if item.changes]
    grids = [make(items) for make, items in ((_grid, figures), (_changed_grid, changed)) if items]
    for grid in grids:
        print_grid(grid, output.console)
    lines = [line for grid in grids for line in (*markdown_of(grid), '')]
    write_atomically(folder / TABLE, '\n'.join(lines))
    output.print_path('table', folder / TABLE)
    if figures:
        with _chart(figures) as figure:
            write_chart(figure, folder, CHART)
        output.print_path('chart', folder / f'{CHART}.png')


def write_into_docs(played: Sequence[Played], root: Path) -> Iterator[Path]:
    """
    Write the chart to `docs/recorded.png`, and the tables of `README.md` and `docs/results.md`.

    Yields what was written. Raises ConfigError where a document has no place for its table;
    nothing was written then.
    """
    grids = {root / 'README.md': _short_grid(played), root / 'docs' / 'results.md': _grid(played)}
    texts = {path: _with_table(path, grid) for path, grid in grids.items()}
    for path, text in texts.items():
        write_atomically(path, text)
        yield path
    with _chart(played) as figure:
        write_atomically(root / 'docs' / f'{CHART}.png', to_png(figure))
    yield root / 'docs' / f'{CHART}.png'


def _with_table(path: Path, grid: Grid) -> str:
    head, begin, rest = path.read_text('utf-8').partition(f'{BEGIN}\n')
    _, end, tail = rest.partition(f'{END}\n')
    if not begin or not end:
        raise ConfigError(
            f'{path} has no place for the table: a line {BEGIN}, and after it a line {END}.'
        )
    table = '\n'.join([*markdown_of(grid)[2:], ''])
    return f'{head}{begin}{table}{end}{tail}'


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
                'model': words.listed(item.origin.models),
                'recorded': words.listed(item.origin.dates),
                'by bbllm': words.listed(item.origin.code),
                'seed': str(item.run.seed),
                'episodes': str(own.n),
                'SR': rate_text(own, 'sr'),
                'informed': rate_text(own, 'informed') if own.needing else '',
                'loops': words.metric('loops', own.value('loops')),
                'tokens each': words.count(round(own.tokens / max(1, own.n))),
                'stand-in': item.run.stand_in,
                'its SR': rate_text(other, 'sr'),
            }
            for item, own, other in _rows(played)
        ],
        notes={'suite, planner': BY_VERSION},
    )


def _changed_grid(played: Sequence[Played]) -> Grid:
    return grid_of(
        f'{CHANGED_PROMPTS.capitalize()}: no figures of the model',
        [
            {
                'suite, planner': item.run.title,
                'by bbllm': words.listed(item.origin.code),
                **{name: str(n) for name, n in item.counts.items()},
            }
            for item in played
        ],
        notes={'changed': 'changed: prompts that are not those that were replied to'},
    )


def _short_grid(played: Sequence[Played]) -> Grid:
    """Return the table of README: each run at its largest K."""
    return grid_of(
        '',
        [
            {
                'suite, planner': item.run.title,
                'model, recorded, seed': f'{words.listed(item.origin.models)}, '
                f'{words.listed(item.origin.dates)}, {item.run.seed}',
                'by bbllm': words.listed(item.origin.code),
                'episodes': str(item.model.top.n),
                'success (95 %)': rate_text(item.model.top, 'sr'),
                'stand-in': f'{rate_text(item.stand_in.top, "sr")} {item.run.stand_in}',
            }
            for item in played
        ],
        notes={'suite, planner': BY_VERSION},
    )


@contextmanager
def _chart(played: Sequence[Played]) -> Iterator[Figure]:
    models = sorted({name for item in played for name in item.origin.models})
    dates = sorted({date for item in played for date in item.origin.dates})
    subtitle = f'{", ".join(models)}, {" to ".join(dict.fromkeys((dates[0], dates[-1])))}'
    with new_chart('Success of a recorded language model', subtitle) as (figure, axes):
        figure.set_size_inches(6.0, 1.4 + 0.3 * sum(len(item.model.by_k) for item in played))
        _draw(axes, played)
        yield figure


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
    axes.set_xlabel('success rate, with 95 % intervals')
    axes.grid(axis='x')
    axes.grid(visible=False, axis='y')
    axes.figure.legend(loc='outside lower right', ncols=2, frameon=False, fontsize=9)
