"""`bbllm data`: makes and checks data sets that small models are tuned with."""

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from bbllm.cli.support.options import JsonOption, LlmConfigOption
from bbllm.cli.support.supervision import interrupts
from bbllm.cli.support.verb_group import FAILED, INTERRUPTED
from bbllm.cli.views.output import Output
from bbllm.core.errors import UnknownNameError
from bbllm.llm.models.factory import load_config, make_models
from bbllm_bench.benchmarks.finetuning.card import card_page, make_card
from bbllm_bench.benchmarks.finetuning.collected import Checked, Collected
from bbllm_bench.benchmarks.finetuning.collecting import Wanted, collect
from bbllm_bench.benchmarks.finetuning.folder import (
    DataFolder,
    DataSettings,
    read_pairs,
    settings_to_resume,
    write_card,
    write_pairs,
)
from bbllm_bench.benchmarks.finetuning.kinds import KINDS
from bbllm_bench.benchmarks.finetuning.paraphrases import Wordings, ask_wordings
from bbllm_bench.benchmarks.finetuning.tasks import check_count, default_count
from bbllm_bench.commands.options import MAX_JOBS
from bbllm_bench.runner.play_here import play
from bbllm_bench.runner.workers import LocalWorkers

app = typer.Typer(
    name='data',
    no_args_is_help=True,
    add_completion=False,
    help='Make data to tune small models with, measured in the simulator; check such files.',
)
PLANNERS = ('ft_cot', 'ft_vanilla')
EPISODES_A_LINE = 10
"""How often a line is printed without a terminal."""
SENTENCES = 20
"""How many sentences a model is asked for, for each kind of task."""


@app.command('generate')
def generate(
    context: typer.Context,
    out: Annotated[
        Path,
        typer.Option('--out', metavar='DIR', help='Folder of the data set; new, or to go on.'),
    ],
    pairs: Annotated[int, typer.Option(min=1, max=100_000, help='How many pairs at least.')] = 200,
    tasks: Annotated[
        int | None,
        typer.Option(
            min=1,
            help='How many tasks they are of; without it so many that each is on 3 tables or '
            'more (a 12th of --pairs), but one of each kind (14).',
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help='Of sentences, tables and noise.')] = 0,
    planner: Annotated[
        str, typer.Option(help='Whose prompts: ft_cot, or ft_vanilla with its one question.')
    ] = 'ft_cot',
    brain: Annotated[
        str | None,
        typer.Option(
            metavar='MODEL',
            help='A language model that makes up more sentences; without one a grammar does.',
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option('--jobs', '-j', min=1, max=MAX_JOBS, help='Episodes at once.'),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option('--resume', help='Go on with the settings that --out was begun with.'),
    ] = False,
    llm_config: LlmConfigOption = None,
    json: JsonOption = False,
) -> None:
    """
    Make a data set: tasks, episodes in the simulator, pairs, checks, files.

    Every pair is a question of the planner with its answer. What is observed
    is measured; only pairs of episodes that succeeded are kept, and of those
    the ones that stand up to every check.

    Each episode is on disk when it has ended. What was ended, by Ctrl-C or by
    a crash, goes on when the same command is repeated, or --resume with its
    --out; so does a finished set that is to have more --pairs.

    Exit code: 0 with as many pairs as were wanted, else 1; 2 for input that
    cannot be used; 130 after Ctrl-C, with what there is by then.

    Examples:
      bbllm data generate --out my-data
      bbllm data generate --out my-data --pairs 5000 --tasks 400 --seed 1
      bbllm data generate --out my-data --resume
    """
    output = Output(json)
    if planner not in PLANNERS:
        raise UnknownNameError('planner of a model that is tuned', planner, PLANNERS)
    number = default_count(pairs) if tasks is None else tasks
    asked = DataSettings(pairs=pairs, tasks=number, seed=seed, planner=planner, brain=brain)
    if resume:
        asked = settings_to_resume(out, asked, _given(context))
    sentences = 0 if asked.brain is None else SENTENCES * len(KINDS)
    check_count(asked.tasks, asked.seed, asked=sentences)
    with DataFolder(out) as folder:
        begun, chosen = folder.begin(asked, lambda: _wordings(output, asked.brain, llm_config))
        if len(chosen) < asked.tasks:
            output.print(f'There are sentences for {len(chosen)} different tasks only.', 'yellow')
        wanted = Wanted(tasks=chosen, pairs=asked.pairs, seed=asked.seed, planner=asked.planner)
        found = _collect(output, folder, wanted, jobs or os.cpu_count() or 1, llm_config)
        card = make_card(begun, chosen, found, folder.wall_s)
        write_pairs(found.pairs, out)
        write_card(card, card_page(card), out)
    _close(output, found, card, out)


@app.command('check')
def check(
    files: Annotated[
        list[Path], typer.Argument(metavar='FILE...', help='alpaca.json, chat.jsonl, pairs.jsonl.')
    ],
    json: JsonOption = False,
) -> None:
    """
    Check form and physics of the pairs in files.

    What the blocks weighed is in pairs.jsonl only: of other files the forces
    are held to their sign. Exit code: 0 when every pair is good, else 1.
    """
    output = Output(json)
    reported: dict[str, Any] = {}
    for path in files:
        checked = Checked()
        checked.take(read_pairs(path))
        output.print_line(f'{path}: {len(checked.pairs)} good, {checked.refused.total()} refused.')
        _report_refused(output, checked)
        reported[str(path)] = {
            'good': len(checked.pairs),
            'refused': dict(checked.refused),
            'examples': checked.examples,
        }
    output.result(reported)
    if any(entry['refused'] for entry in reported.values()):
        raise typer.Exit(FAILED)


def show_pairs(output: Output, bar: Callable[..., None], found: Collected) -> None:
    """Show how many pairs there are; where there is no bar, after every tenth episode."""
    text = f'{len(found.pairs)} pairs, {found.refused.total()} refused, {found.episodes} episodes'
    bar(completed=len(found.pairs), description=text)
    if not output.live and found.episodes % EPISODES_A_LINE == 0:
        output.print(text)


def _given(context: typer.Context) -> set[str]:
    """Return the names of the parameters that were given, not left to their defaults."""
    return {
        name
        for name in context.params
        if (source := context.get_parameter_source(name)) is not None
        and source.name == 'COMMANDLINE'
    }


def _wordings(output: Output, brain: str | None, llm_config: Path | None) -> Wordings | None:
    if brain is None:
        return None
    models = make_models(load_config(llm_config), overrides={'brain': brain, 'body': 'offline'})
    for notice in models.notices:
        output.print(notice, 'yellow')
    output.print(f'{models.brain.name} makes up sentences for {len(KINDS)} kinds of tasks.', 'dim')
    return ask_wordings(models.brain, SENTENCES)


def _collect(
    output: Output, folder: DataFolder, wanted: Wanted, jobs: int, llm_config: Path | None
) -> Collected:
    config = load_config(llm_config)
    before = folder.load()
    if before.episodes:
        output.print(f'Episodes that are there already: {before.episodes}.', 'dim')
    with (
        interrupts() as counter,
        output.bar(wanted.pairs) as bar,
        closing(LocalWorkers(play, jobs)) as workers,
    ):
        return collect(
            wanted,
            workers,
            llm=config,
            found=before,
            keep=folder.add,
            on_episode=lambda found: show_pairs(output, bar, found),
            wants_end=lambda: counter.count > 0,
        )


def _close(output: Output, found: Collected, card: dict[str, Any], out: Path) -> None:
    output.print(card['notice'], 'yellow')
    _report_refused(output, found)
    output.print_line(
        f'{card["pairs"]} pairs of {card["episodes"]} episodes and {len(card["tasks"])} tasks '
        f'({card["starred_share"]:.0%} with a star); {card["refused"]} of {card["exchanges"]} '
        f'exchanges refused ({card["refused_share"]:.1%}); {card["wall_s"]:.0f} s.'
    )
    output.print_path('data', out)
    output.result({**card, 'folder': str(out)})
    if found.reason:
        output.print(f'It ended early. {found.reason}', 'red')
        if not found.hopeless:
            output.print(f'`bbllm data generate --resume --out {out}` goes on from here.')
        raise typer.Exit(INTERRUPTED if found.stopped else FAILED)


def _report_refused(output: Output, checked: Checked) -> None:
    for rule, count in checked.refused.most_common():
        output.print_line(f'  {count:>5}  {rule}: {checked.examples[rule]}')
