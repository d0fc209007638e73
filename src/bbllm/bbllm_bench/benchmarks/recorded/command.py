"""`bbllm bench recorded`: a language model's recorded replies, and a stand-in beside them."""

import lzma
import os
import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bbllm.cli.support.options import JsonOption, LlmConfigOption
from bbllm.cli.support.supervision import interrupts
from bbllm.cli.support.verb_group import FAILED, INTERRUPTED
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError, ReplayError
from bbllm.core.paths import state_dir
from bbllm.llm.recording.replay import COMPRESSED
from bbllm_bench.benchmarks.recorded.figures import (
    Played,
    changed_text,
    figures_of,
    write_figures,
)
from bbllm_bench.commands.options import MAX_JOBS
from bbllm_bench.commands.progress import ProgressView
from bbllm_bench.compare.choice import Contender, folder_name
from bbllm_bench.compare.files import claim
from bbllm_bench.compare.run import PlannerRun, play_all
from bbllm_bench.log.files import write_atomically
from bbllm_bench.log.store import SUMMARY, RunFolder, read_run
from bbllm_bench.report.summary import read_summary
from bbllm_bench.runner.conversations import check_recording
from bbllm_bench.runner.play_here import play
from bbllm_bench.runner.recorded_runs import (
    INDEX,
    RecordedRun,
    origin_of,
    read_index,
    shipped,
)
from bbllm_bench.runner.request import BenchRequest, parse_tasks
from bbllm_bench.runner.run_setup import prepare
from bbllm_bench.runner.runner import begin
from bbllm_bench.runner.workers import Workers
from bbllm_bench.suites.suite import load_suite
from bbllm_bench.suites.task_spec import SuiteFileError


def recorded(
    recordings: Annotated[
        Path | None,
        typer.Option(
            metavar='DIR',
            help='Where recordings and their index.yaml lie; config/recordings by default.',
            show_default=False,
        ),
    ] = None,
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
            help='Ask the model of --llm-config, and write its replies to --recordings. What has '
            'been answered is not asked again.',
        ),
    ] = False,
    changes: Annotated[
        bool,
        typer.Option(
            '--changes', help='Print where the prompt of each reply has changed, not only once.'
        ),
    ] = False,
    llm_config: LlmConfigOption = None,
    json: JsonOption = False,
) -> None:
    """
    Replay the recorded replies of a language model, and play a stand-in on the same cases.

    Needs no key. A recording belongs to the version that made it: where a prompt has
    changed since, the recorded replies are taken in their order, the first line that
    differs is printed, and the run is no figure of the model. Writes tables
    (recorded.md). The folder has a file index.yaml, see
    docs/bench.md.

    Examples:
      bbllm bench recorded
      bbllm bench recorded --only tabletop --changes
      bbllm bench recorded --recordings mine --record --llm-config my_model.yaml
      bbllm bench recorded --recordings mine --only tabletop --out build/recorded
    """
    output = Output(json)
    place = (recordings or shipped()).expanduser()
    wanted = () if only is None else parse_tasks(only)
    target = (out or state_dir() / 'bench' / 'recorded').expanduser()
    index = read_index(place)
    runs = _playable(index.chosen(wanted), bool(wanted), output)
    if record:
        done = [run for run in runs if (place / run.file).exists()]
        for run in done:
            output.print(f'{run.name} is recorded; to record it anew, delete {place / run.file}.')
        runs = [run for run in runs if run not in done]
    make = partial(_to_record, llm_config=llm_config) if record else _to_replay
    row = _recording_row if record else _model_row
    contenders = [item for run in runs for item in make(run, place, target)]
    claim(target)
    if not record:
        for mine in contenders:
            _make_room(mine, target)
    output.print_path('results', target)
    workers = partial(Workers, play, jobs or len(os.sched_getaffinity(0)))
    with interrupts() as counter, output.bar() as bar:
        view = ProgressView(
            output, bar, lambda: counter.count > 0, [item.planner for item in contenders]
        )
        ran = play_all(contenders, target, workers, view)
    for item in ran:
        for problem in filter(None, (item.end.reason, item.end.problem, item.problem)):
            output.print(f'{item.planner}: {problem}', style='bold red')
    if any(item.end.interrupted for item in ran):
        output.print('The same command goes on from here.')
        raise typer.Exit(INTERRUPTED)
    lost = [item.planner for item in ran if item.end.reason or _is_lost(item)]
    for run in runs:
        if row(run) in lost:
            output.print(_lost_text(run, place, record), style='bold red')
    if record:
        whole = [run for run in runs if row(run) not in lost]
        for run in whole:
            output.print_path('recording', _compress(place / f'{run.name}.jsonl'))
            shutil.rmtree(target / folder_name(row(run)))  # its recording has all of it
        output.result({'recorded': [run.name for run in whole], 'lost': lost})
    else:
        # Figures of a run that lost episodes would be none of the model.
        whole = [run for run in runs if not {row(run), _stand_in_row(run)} & {*lost}]
        played = [_played(run, place, target) for run in whole]
        same = [each for each in played if not each.changes]
        other = [each for each in played if each.changes]
        if played:
            write_figures(played, target, output)
        for each in other:
            text = changed_text(each, everything=changes)
            output.print(f'{text}\nFor figures of this version, {_how_anew(each.run, place)}')
        output.result(
            {
                'runs': [*map(figures_of, same)],
                'changed': [*map(figures_of, other)],
                'lost': lost,
            }
        )
    if lost:
        raise typer.Exit(FAILED)


def _playable(runs: Sequence[RecordedRun], named: bool, output: Output) -> list[RecordedRun]:
    """Return the runs whose suites are there; those that were *named* must be."""
    found = []
    for run in runs:
        try:
            load_suite(run.suite)
        except SuiteFileError as error:
            if named:
                raise
            output.print(f'{run.name} is left out. {error}', style='yellow')
        else:
            found.append(run)
    return found


def _model_row(run: RecordedRun) -> str:
    return f'{run.name} recorded'


def _recording_row(run: RecordedRun) -> str:
    return f'{run.name} being recorded'


def _stand_in_row(run: RecordedRun) -> str:
    return f'{run.name} {run.stand_in}'


def _to_replay(run: RecordedRun, place: Path, target: Path) -> Iterator[Contender]:
    talk = place / run.file
    if not talk.exists():
        raise ConfigError(f'There is no recording {talk}; --record makes one.')
    mine = _contender(_model_row(run), run.request(replay=talk), target)
    plan = mine.prepared.plan
    missing = [key.name for key in plan.settings.keys if key.name not in (plan.replay or {})]
    if missing:
        raise ReplayError(
            f'{talk} lacks {len(missing)} of {len(plan.settings.keys)} episodes, for example '
            f'{missing[0]}: it was cut, or tasks, trials or K of {INDEX} are other ones. '
            f'{_how_anew(run, place)}'
        )
    yield mine
    yield _contender(_stand_in_row(run), run.request(brain=run.stand_in), target)


def _to_record(
    run: RecordedRun, place: Path, target: Path, *, llm_config: Path | None
) -> Iterator[Contender]:
    talk = place / f'{run.name}.jsonl'
    own = {'ks': (max(run.ks),), 'record': talk, 'llm_config': llm_config, 'retry_lost': True}
    request = run.request().model_copy(update=own)
    path = target / folder_name(_recording_row(run))
    mine = _contender(_recording_row(run), request, target)
    check_recording(talk, mine.prepared.plan.settings, path)
    yield mine


def _contender(row: str, request: BenchRequest, target: Path) -> Contender:
    return Contender(row, prepare(request, target / folder_name(row)))


def _make_room(mine: Contender, target: Path) -> None:
    """Remove a run with other settings from the folder of one that needs no key."""
    with RunFolder(target / mine.folder) as run:  # raises where another process works in it
        try:
            begin(mine.prepared.plan, run)
        except ConfigError:
            shutil.rmtree(run.path)


def _compress(talk: Path) -> Path:
    """Replace a recording by its compressed form, and return that."""
    path = talk.with_name(f'{talk.name}{COMPRESSED}')
    write_atomically(path, lzma.compress(talk.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
    talk.unlink()
    return path


def _lost_text(run: RecordedRun, place: Path, record: bool) -> str:
    if record:
        return (
            f'Episodes of {run.name} are lost. The same command asks again, but not for what has '
            'been answered.'
        )
    return (
        f'Episodes of {run.name} are lost, so that it has no figures. Where the recording is to '
        f'blame, {_how_anew(run, place)}'
    )


def _how_anew(run: RecordedRun, place: Path) -> str:
    """Return how to record a run again, as the end of a sentence."""
    where = '' if place == shipped() else f' --recordings {place}'
    return (
        f'delete {run.file} and record it again: bbllm bench recorded{where} --only {run.name} '
        '--record --llm-config FILE'
    )


def _played(run: RecordedRun, place: Path, target: Path) -> Played:
    model, stand_in = (
        read_summary(target / folder_name(row) / SUMMARY)
        for row in (_model_row(run), _stand_in_row(run))
    )
    return Played(run, origin_of(place / run.file), model, stand_in, _changes(run, target))


def _is_lost(ran: PlannerRun) -> bool:
    """Return whether episodes are lost, but for those that ran out of replies to other prompts."""
    return any(
        result.lost and not (result.changed_prompts and result.error == ReplayError.__name__)
        for result in read_run(ran.folder).results
    )


def _changes(run: RecordedRun, target: Path) -> tuple[str, ...]:
    """Return where prompts are not those that were replied to, of each such reply."""
    results = read_run(target / folder_name(_model_row(run))).results
    return tuple(
        f'{result.key.name}: {change}' for result in results for change in result.changed_prompts
    )
