"""`bbllm show`: reads the journal of an episode back."""

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from bbllm.cli.support.options import JsonOption
from bbllm.cli.support.requests import beginning, flag, option
from bbllm.cli.support.verb_group import BAD_INPUT
from bbllm.cli.views.output import Output
from bbllm.cli.views.picture_files import Pictures, drawn_before, write_pictures
from bbllm.core.errors import ConfigError
from bbllm.core.journal import (
    find_journal,
    list_entry,
    list_journals,
    read_damaged,
    summarize,
)
from bbllm.core.paths import episodes_dir
from bbllm.core.text import escape_json, escape_line
from bbllm_bench.commands.episode_files import (
    print_episode,
    print_prompts,
    write_page,
    write_video,
)
from bbllm_bench.commands.failure_listing import (
    FailureOptions,
    check_failure_options,
    show_failures,
)


def _episodes() -> list[str]:
    return [path.stem for path in reversed(list_journals(episodes_dir()))]


def show(
    episode: Annotated[
        str | None,
        typer.Argument(
            metavar='EPISODE',
            help='Id of an episode, its beginning, or the path of a journal (.jsonl), as the '
            'bench keeps them; the newest one by default.',
            autocompletion=beginning(_episodes),
            show_default=False,
        ),
    ] = None,
    everything: bool = flag('List all episodes, the newest last.', '--list', '-l'),
    events: bool = flag('Print the journal itself, one JSON object a line.'),
    prompts: bool = flag(
        'Print what was sent to the models and what they replied, call by call; lines that an '
        'earlier prompt has as well are left out.'
    ),
    call: int | None = option('Print one of these calls alone, and in full.', min=1),
    json: JsonOption = False,
    html: Annotated[
        Path | None,
        typer.Option(
            '--html',
            metavar='FILE',
            help='Write the episode as one HTML page: a replay in 3D where the motion is on '
            'record, pictures, plans, steps, and the prompt and reply behind each.',
        ),
    ] = None,
    video: Annotated[
        Path | None,
        typer.Option(
            '--video',
            metavar='FILE',
            help='Save the arm beside its plan, with captions, as a .mp4, .gif or .webp file; '
            'needs no display. Where no motion was recorded, as in a house, the plan alone.',
        ),
    ] = None,
    speed: float | None = option(
        'With --video: how many times as fast as the robot was, 2 by default. Waiting is cut '
        'short, and failures and repairs stand still to be read.',
        metavar='X',
        min=0.1,
        max=100.0,
    ),
    last: int = option(
        'With --video: so many episodes as one film, this one the last, as of a conversation.',
        default=1,
        min=1,
        max=100,
    ),
    draw: bool | None = option(
        'Draw the pictures anew, or not at all; by default, where they are missing.',
        '--draw/--no-draw',
    ),
    *,
    failed: FailureOptions,
) -> None:
    """
    Show an episode as it was: plan, repairs, counts, pictures.

    Works while the episode still runs, and for one whose process died. Of a
    damaged journal, what can be read is shown; exit code 2 then.

    Examples:
      bbllm show
      bbllm show --list
      bbllm show 20260131-1425 --json
      bbllm show --events | grep repair
      bbllm show --prompts | less
      bbllm show --call 3
      bbllm show --html episode.html
      bbllm show --video episode.mp4
      bbllm show 20260131-1425 --video repair.gif --speed 3
      bbllm show --failures
      bbllm show --failures runs/mine --code COVERED --brain MODEL
      bbllm show runs/mine/episodes/watch_tv-t000-k0.jsonl
    """
    output = Output(json)
    if failed.failures:
        if html is not None:
            raise ConfigError('--html is of an episode; leave it out with --failures.')
        show_failures(episode, failed, output)
        return
    check_failure_options(failed)
    if (speed is not None or last > 1) and video is None:
        raise ConfigError('--speed and --last are of a video: add --video FILE.')
    if everything:
        _print_list(output)
        return
    path = _journal(episode)
    if events:
        # Unchanged, with a cut line too: this shows what was really written.
        sys.stdout.write(escape_json(path.read_text(encoding='utf-8', errors='replace')))
        return
    record, faults = read_damaged(path)
    if html is not None:
        write_page(path, html)
        output.print_path('page', html.resolve())
        output.result({'page': str(html.resolve()), 'journal': str(path)})
        raise typer.Exit(BAD_INPUT if faults else 0)
    if video is not None:
        write_video(record, path, video, speed, output, last)
        raise typer.Exit(BAD_INPUT if faults else 0)
    if prompts or call:
        print_prompts(record, path, call, output)
        raise typer.Exit(BAD_INPUT if faults else 0)
    if json:
        damage = {'faults': list(faults)} if faults else {}
        output.result({**summarize(record), 'journal': str(path), **damage})
        raise typer.Exit(BAD_INPUT if faults else 0)
    print_episode(record, output)
    pictures = Pictures(drawn_before(path))
    if draw or (draw is None and not pictures.paths):
        pictures = write_pictures(record, path)
        if draw and not pictures.paths:
            raise ConfigError(pictures.hints[0])
    for picture in pictures.paths:
        output.print_path('picture', picture)
    output.print_path('journal', path)
    for hint in (*pictures.hints, *faults):
        output.print(f'  {hint}', style='yellow')
    raise typer.Exit(BAD_INPUT if faults else 0)


def _journal(episode: str | None) -> Path:
    """Return the journal of an episode of this user's, or a file that a bench left."""
    if episode is None or not episode.endswith('.jsonl'):
        return find_journal(episodes_dir(), episode)
    path = Path(episode).expanduser()
    if not path.is_file():
        raise ConfigError(
            f'There is no journal {path}. A run of the bench keeps one for each episode, in the '
            'folder episodes of its results.'
        )
    return path


def _print_list(output: Output) -> None:
    journals = list_journals(folder := episodes_dir())
    rows = [list_entry(path) for path in journals]
    if not output.json:
        for path, row in zip(journals, rows):
            when = time.strftime('%Y-%m-%d %H:%M', time.localtime(path.stat().st_mtime))
            task = escape_line(row['task'])
            output.print(f'{row["episode_id"]:<22} {when}  {row["ending"]:<13} {task}')
        if not rows:
            output.print(f'No episode is recorded in {folder} yet; `bbllm demo` makes one.')
    output.result({'episodes': rows})
