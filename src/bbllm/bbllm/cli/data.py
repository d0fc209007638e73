"""`bbllm data`: makes and checks data sets that small models are tuned with."""

from __future__ import annotations

import os
import shlex
import sys
import time
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bbllm.cli.bench_choices import MAX_JOBS
from bbllm.cli.choices import JsonOption, LlmConfigOption
from bbllm.cli.commands import FAILED, INTERRUPTED
from bbllm.cli.output import Output

if TYPE_CHECKING:
    from bbllm.bench.data.checking import Checked
    from bbllm.bench.data.collecting import Collected
    from bbllm.bench.data.wordings import Wordings

data = typer.Typer(
    name='data',
    no_args_is_help=True,
    rich_markup_mode='rich',
    help='Make data to tune small models with, measured in the simulator; check such files.',
)
SENTENCES = 20
"""How many sentences a model is asked for, for each kind of task."""


@data.command('generate')
def generate(
    out: Annotated[
        Path, typer.Option('--out', metavar='DIR', help='Folder of the data set; a new one.')
    ],
    pairs: Annotated[int, typer.Option(min=1, max=100_000, help='How many pairs at least.')] = 200,
    tasks: Annotated[
        int, typer.Option(min=1, help='How many tasks they are of; each on several tables.')
    ] = 42,
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
    llm_config: LlmConfigOption = None,
    json: JsonOption = False,
) -> None:
    """
    Make a data set: tasks, episodes in the simulator, pairs, checks, files.

    Every pair is a question of the planner with its answer. What is observed
    is measured; only pairs of episodes that succeeded are kept, and of those
    the ones that stand up to every check. Exit code: 0 with as many pairs as
    were wanted, else 1; 130 after Ctrl-C, with what there is by then.

    [bold]Examples[/bold]

      bbllm data generate --out my-data
      bbllm data generate --out my-data --pairs 5000 --tasks 400 --seed 1
    """
    from bbllm.bench.data.card import Source, card_page, make_card
    from bbllm.bench.data.collecting import Wanted
    from bbllm.bench.data.files import CARD, CARD_PAGE, make_folder, write_pairs
    from bbllm.bench.data.tasks import generate_tasks
    from bbllm.bench.machine import describe_machine
    from bbllm.bench.store import write_atomically
    from bbllm.bench.versions import find_versions

    output = Output(json)
    begun_s = time.monotonic()
    _check_planner(planner)
    make_folder(out)
    wordings = _wordings(output, brain, llm_config)
    chosen = generate_tasks(tasks, seed, more=wordings.kept if wordings else None)
    wanted = Wanted(tasks=chosen, pairs=pairs, seed=seed, planner=planner)
    found = _collect(output, wanted, jobs or os.cpu_count() or 1, llm_config)
    source = Source(
        command=shlex.join(['bbllm', *sys.argv[1:]]),
        made=time.strftime('%Y-%m-%d %H:%M %Z'),
        seed=seed,
        planner=planner,
        wordings=wordings.model if wordings else 'grammar',
        wordings_refused=dict(wordings.refused) if wordings else {},
        wall_s=round(time.monotonic() - begun_s, 1),
        versions=find_versions(),
        machine=describe_machine(),
    )
    card = make_card(source, chosen, found)
    write_pairs(found.checked.pairs, out)
    write_atomically(out / CARD, dumps(card, ensure_ascii=False, indent=1) + '\n')
    write_atomically(out / CARD_PAGE, card_page(card))
    _close(output, found, card, out)


@data.command('check')
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
    from bbllm.bench.data.checking import Checked
    from bbllm.bench.data.files import read_pairs

    output = Output(json)
    told: dict[str, Any] = {}
    for path in files:
        checked = Checked()
        checked.take(read_pairs(path))
        output.say_line(f'{path}: {len(checked.pairs)} good, {checked.refused.total()} refused.')
        _tell_refused(output, checked)
        told[str(path)] = {
            'good': len(checked.pairs),
            'refused': dict(checked.refused),
            'examples': checked.examples,
        }
    output.result(told)
    if any(entry['refused'] for entry in told.values()):
        raise typer.Exit(FAILED)


def _check_planner(name: str) -> None:
    from bbllm.core.errors import UnknownNameError

    known = ('ft_cot', 'ft_vanilla')
    if name not in known:
        raise UnknownNameError('planner of a model that is tuned', name, known)


def _wordings(output: Output, brain: str | None, llm_config: Path | None) -> Wordings | None:
    """Have a model make up sentences, where one is named."""
    if brain is None:
        return None
    from bbllm.bench.data.kinds import KINDS
    from bbllm.bench.data.wordings import ask_wordings
    from bbllm.llm.config import load_config, make_models

    models = make_models(load_config(llm_config), overrides={'brain': brain, 'body': 'offline'})
    for notice in models.notices:
        output.say(notice, 'yellow')
    output.say(f'{models.brain.name} makes up sentences for {len(KINDS)} kinds of tasks.', 'dim')
    return ask_wordings(models.brain, SENTENCES)


def _collect(output: Output, wanted: Any, jobs: int, llm_config: Path | None) -> Collected:
    from contextlib import closing

    from bbllm.bench.data.collecting import collect
    from bbllm.bench.play_tabletop import play
    from bbllm.bench.workers import LocalWorkers
    from bbllm.cli.data_progress import PairsView
    from bbllm.cli.supervision import interrupts
    from bbllm.llm.config import load_config

    config = load_config(llm_config)
    with (
        interrupts() as counter,
        PairsView(output, wanted.pairs) as view,
        closing(LocalWorkers(play, jobs)) as workers,
    ):
        return collect(
            wanted,
            workers,
            llm=config,
            on_episode=view.update,
            wants_end=lambda: counter.count > 0,
        )


def _close(output: Output, found: Collected, card: dict[str, Any], out: Path) -> None:
    output.say(card['notice'], 'yellow')
    _tell_refused(output, found.checked)
    output.say_line(
        f'{card["pairs"]} pairs of {card["episodes"]} episodes and {len(card["tasks"])} tasks '
        f'({card["starred_share"]:.0%} with a star); {card["refused"]} of {card["exchanges"]} '
        f'exchanges refused ({card["refused_share"]:.1%}); {card["wall_s"]:.0f} s.'
    )
    output.say_path('data', out)
    output.result({**card, 'folder': str(out)})
    if found.reason:
        output.say(found.reason, 'red')
        raise typer.Exit(INTERRUPTED if 'keyboard' in found.reason else FAILED)


def _tell_refused(output: Output, checked: Checked) -> None:
    for rule, count in checked.refused.most_common():
        output.say_line(f'  {count:>5}  {rule}: {checked.examples[rule]}')
