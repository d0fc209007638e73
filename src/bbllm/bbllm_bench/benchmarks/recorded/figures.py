"""Tables of recorded runs, for a terminal and as a file."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bbllm.cli.views.output import Output
from bbllm.core.provenance import templates_hash
from bbllm_bench.log.files import write_atomically
from bbllm_bench.log.results import CHANGED_PROMPTS
from bbllm_bench.report import words
from bbllm_bench.report.grid import Grid, grid_of, markdown_of, print_grid
from bbllm_bench.report.summary import RunSummary, rate_text
from bbllm_bench.runner.recorded_runs import Origin, RecordedRun

TABLE = 'recorded.md'
BY_VERSION = 'The figures are those of the version in the table, with the prompts that it sent.'


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
    """Print the tables, and write them into a folder."""
    figures = [item for item in played if not item.changes]
    changed = [item for item in played if item.changes]
    grids = [make(items) for make, items in ((_grid, figures), (_changed_grid, changed)) if items]
    for grid in grids:
        print_grid(grid, output.console)
    lines = [line for grid in grids for line in (*markdown_of(grid), '')]
    write_atomically(folder / TABLE, '\n'.join(lines))
    output.print_path('table', folder / TABLE)


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
            for item in played
            for own, other in zip(item.model.by_k, item.stand_in.by_k, strict=True)
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
