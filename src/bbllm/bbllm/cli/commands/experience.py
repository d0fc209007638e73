"""`bbllm experience`: reads and changes what is remembered of episodes."""

import json as json_module
import os
import shlex
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Annotated, Literal

import typer

from bbllm.cli.support.options import JsonOption
from bbllm.cli.support.verb_group import BAD_INPUT
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.core.records import to_json
from bbllm.core.text import cut
from bbllm.planners.common.experience.entry import Entry
from bbllm.planners.common.experience.store import ExperienceFile, experience_path, read_entry

ALL = 'all'


def experience(
    what: Annotated[
        Literal['list', 'show', 'edit', 'forget'],
        typer.Argument(metavar='list|show|edit|forget', help='What to do.'),
    ] = 'list',
    entry: Annotated[
        str,
        typer.Argument(
            metavar='ID', help='Id of an entry, or its beginning; forget also takes all.'
        ),
    ] = '',
    file: Annotated[
        Path | None,
        typer.Option(
            metavar='FILE', help='Another file than that of this user, such as one of a bench.'
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """
    List, show, edit or forget what worked in earlier episodes.

    Episodes with --experience yes leave an entry where their plan was repaired
    and their goal is met. `edit` opens the entry in $EDITOR, and keeps it as it
    was unless the result is an entry.

    Exit code: 0, or 2 where lines of the file cannot be read, which stay in it.

    Examples:
      bbllm experience
      bbllm experience show 134a
      bbllm experience edit 134a
      bbllm experience forget all
    """
    output, store = Output(json), ExperienceFile(file or experience_path())
    entries, faults = store.read()
    if what == 'list':
        if entry:
            raise ConfigError(f'list takes no ID: `bbllm experience show {entry[:16]}` shows one.')
        for item in entries:
            when = time.strftime('%Y-%m-%d %H:%M', time.localtime(item.made_s))
            codes = ' '.join(sorted(item.codes))
            output.print(f'{item.id}  {when}  {cut(item.task, 60)}  {codes}')
        if not entries:
            output.print(f'{store.path} has no entry; episodes with --experience yes make some.')
        output.result({'file': str(store.path), 'entries': list(map(to_json, entries))})
    elif what == 'forget' and entry == ALL:
        store.forget(item.id for item in entries)
        output.print(f'{len(entries)} entries are forgotten.')
        output.result({'forgotten': [item.id for item in entries]})
    else:
        found = _find(entry, entries, store.path)
        if what == 'edit':
            found = _edited(found)
            store.add([found])
        elif what == 'forget':
            store.forget([found.id])
        output.print(f'Forgotten: {found.id}' if what == 'forget' else f'{found.id}\n{found.text}')
        output.result(to_json(found))
    for fault in faults:
        output.print(fault, style='yellow')
    raise typer.Exit(BAD_INPUT if faults else 0)


def _find(beginning: str, entries: tuple[Entry, ...], path: Path) -> Entry:
    found = [entry for entry in entries if beginning and entry.id.startswith(beginning)]
    if len(found) == 1:
        return found[0]
    many = f'is the beginning of {len(found)} entries' if found else f'is no entry of {path}'
    raise ConfigError(f'{beginning[:40]!r} {many}; `bbllm experience list` prints all.')


def _edited(entry: Entry) -> Entry:
    """Return an entry as a person leaves it in an editor; raises ConfigError where it is none."""
    editor = os.environ.get('VISUAL') or os.environ.get('EDITOR')
    if not editor:
        raise ConfigError('No editor is set: EDITOR=nano bbllm experience edit ID')
    with tempfile.NamedTemporaryFile('w', suffix=f'-{entry.id}.json', delete=False) as draft:
        draft.write(json_module.dumps(to_json(entry), ensure_ascii=False, indent=2))
    path = Path(draft.name)
    try:
        subprocess.run([*shlex.split(editor), str(path)], check=True)
        edited = read_entry(json_module.loads(path.read_text('utf-8')))
        if edited.id != entry.id or edited.origin != entry.origin:
            raise ValueError('its id and its origin have to stay')
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise ConfigError(
            f'The entry stays as it was: {error}. The edited text is in {path}.'
        ) from error
    path.unlink()
    return edited
