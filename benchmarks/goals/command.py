"""`bbllm bench sample-goals`: draws the goals of the suite household_goals and proves each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bbllm.cli.support.options import JsonOption
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from benchmarks.goals.sampling import SPLITS, Drawing, sample
from benchmarks.goals.suite_file import suite_text, timing
from benchmarks.shared import TrialBar

app = typer.Typer(add_completion=False, rich_markup_mode='rich')


@app.command()
def sample_goals(
    out: Annotated[Path, typer.Option(help='The suite file to write.', show_default=False)],
    seed: Annotated[int, typer.Option(min=0, help='Decides all that is random.')] = 0,
    each: Annotated[int, typer.Option(min=1, max=1000, help='Goals of each split.')] = 100,
    force: Annotated[bool, typer.Option('--force', help='Write over a file.')] = False,
    json: JsonOption = False,
) -> None:
    """
    Draw goals of predicates in three splits, each proven solvable with its least steps.

    The proof is a search (A*) and takes a moment each; goals that it does not
    come to an end with are drawn anew. Told are the time of the search per goal,
    how often that was, and how many goals fell into which bin of least steps.

    [bold]Example[/bold]

      bbllm bench sample-goals --seed 1 --each 20 --out my_goals.yaml
      bbllm bench my_goals.yaml --planner fltrnn --trials 1
    """
    out = out.expanduser()
    if out.exists() and not force:
        raise ConfigError(f'{out} is there already; name another file, or say --force.')
    output = Output(json)
    with TrialBar(len(SPLITS) * each, every=25) as bar:
        drawing = sample(each, seed, lambda drawing: bar.advance(_progress_text(drawing)))
    try:
        out.write_text(suite_text(drawing.found, seed=seed, each=each), 'utf-8')
    except OSError as error:
        raise ConfigError(
            f'{out} cannot be written ({error.strerror}); name another file with --out.'
        ) from error
    figures = timing(drawing)
    _tell(figures, output)
    output.print_path('suite', out)
    output.result({**figures, 'suite': str(out)})


def _progress_text(drawing: Drawing) -> str:
    last, anew = drawing.found[-1], drawing.drawn_anew.total()
    return f'{len(drawing.found)} goals, {anew} drawn anew; {last.name} in {last.house}'


def _tell(figures: dict[str, Any], output: Output) -> None:
    for split, bins in figures['by_split_and_bin'].items():
        counts = ', '.join(f'{name}: {n}' for name, n in bins.items())
        output.print(f'{split}, by least steps: {counts}')
    output.print(
        f'{figures["goals"]} goals; search per goal: median {figures["search_median_s"]:.3f} s, '
        f'p95 {figures["search_p95_s"]:.3f} s, longest {figures["search_max_s"]:.3f} s; '
        f'{figures["search_total_s"]:.1f} s in all, with {figures["searches_without_proof"]} '
        'searches that proved nothing.'
    )
    for why, n in figures['drawn_anew'].items():
        output.print(f'drawn anew {n} times: {why}')
