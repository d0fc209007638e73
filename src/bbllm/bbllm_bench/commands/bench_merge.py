"""`bbllm bench merge`: the shards of a run, or of a comparison, become one folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from bbllm.cli.support.options import JsonOption
from bbllm.cli.support.requests import flag
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm_bench.compare.text import closing_line as closing_line_of_comparison
from bbllm_bench.compare.text import grids_of
from bbllm_bench.log.merging import Merge
from bbllm_bench.log.store import RunFolder
from bbllm_bench.report.grid import print_grid
from bbllm_bench.report.summary import closing_line
from bbllm_bench.report.summary_table import print_summary
from bbllm_bench.report.write import finish


def merge(
    shards: Annotated[
        list[Path],
        typer.Argument(
            metavar='DIR...',
            show_default=False,
            help='Folders of all shards: what --out named, copied to this machine.',
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar='DIR', show_default=False, help='A new folder for the whole.')
    ],
    allow_missing: bool = flag(
        'Merge also where shards or episodes are missing, which the tables then state.',
        '--allow-missing',
    ),
    json: JsonOption = False,
) -> None:
    """
    Merge the shards of a run, or of a comparison, into one folder.

    Each machine plays a part of the cases: `bbllm bench SUITE --shard 1/4`, 2/4
    and so on, all else being equal. The merged folder is one of a run like any
    other: `bbllm bench diff` and `report` read it, and the same command without
    --shard goes on in it.

    Examples:
      bbllm bench merge runs/1 runs/2 runs/3 runs/4 --out runs/all
      bbllm bench merge runs/1 runs/3 --out runs/so_far --allow-missing
    """
    # Not at the top: MuJoCo takes a second, which --help need not.
    from bbllm_bench.compare.merging import is_comparison

    output = Output(json)
    kinds = {is_comparison(folder) for folder in shards}
    if len(kinds) > 1:
        raise ConfigError(
            'Some of these folders are of `bbllm bench compare`, others are not. Name shards of '
            'one run, or of one comparison.'
        )
    if kinds == {True}:
        _merge_comparisons(shards, out, output, allow_missing=allow_missing)
    else:
        _merge_runs(shards, out, output, allow_missing=allow_missing)


def _merge_runs(shards: Sequence[Path], out: Path, output: Output, *, allow_missing: bool) -> None:
    Merge.of(shards, allow_missing=allow_missing).write(out)
    with RunFolder(out) as folder:
        finished = finish(folder)
    print_summary(finished.summary, output.console)
    if finished.problem:
        output.print(finished.problem, style='bold red')
    if finished.report is not None:
        output.print_path('report', finished.report)
    output.print_path('results', out)
    output.result({**finished.summary.model_dump(mode='json'), 'folder': str(out)})
    output.print_line(closing_line(finished.summary))


def _merge_comparisons(
    shards: Sequence[Path], out: Path, output: Output, *, allow_missing: bool
) -> None:
    from bbllm_bench.compare.merging import merge_comparisons

    compared = merge_comparisons(shards, out, allow_missing=allow_missing)
    for grid in grids_of(compared) if compared else ():
        print_grid(grid, output.console)
        output.print()
    output.print_path('results', out)
    output.result({**(compared.model_dump(mode='json') if compared else {}), 'folder': str(out)})
    if compared is not None:
        for notice in compared.notices:
            output.print(notice, style='yellow')
        output.print_line(closing_line_of_comparison(compared))
