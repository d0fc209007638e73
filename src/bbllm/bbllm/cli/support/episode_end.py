"""The end of an episode on the command line: pictures, paths, one JSON object, an exit code."""

from __future__ import annotations

from typing import NoReturn

import typer

from bbllm.cli.support.session import Ran
from bbllm.cli.support.verb_group import FAILED, INTERRUPTED
from bbllm.cli.views.output import Output
from bbllm.cli.views.picture_files import Pictures, write_pictures
from bbllm.core.errors import ConfigError
from bbllm.core.events import Ending
from bbllm.core.journal import summarize


def finish(ran: Ran, output: Output, *, finding: str = '', passed: bool = True) -> NoReturn:
    """
    Draw an episode, print where its files are, and exit.

    Args:
        ran: The episode.
        output: Where results go.
        finding: What a check of the result found, as a sentence; empty where there was none.
        passed: Whether the check passed.

    Raises:
        typer.Exit: Always; 0 only where the episode finished and its check passed.
    """
    pictures = _draw(ran, finding)
    if finding:
        style = 'bold green' if passed else 'bold red'
        output.print()
        output.print(f'  {"✓" if passed else "✗"} {finding}', style)
    output.print()
    for path in pictures.paths:
        output.print_path('picture', path)
    if ran.video:
        output.print_path('video', ran.video)
    output.print_path('journal', ran.journal)
    output.print(f'  again    bbllm show {ran.journal.stem}', 'dim')
    for hint in (*pictures.hints, *ran.hints):
        output.print(f'  {hint}', 'yellow')
    output.result(
        {
            **summarize(ran.episode),
            'journal': str(ran.journal),
            'pictures': [str(path) for path in pictures.paths],
            **({'video': str(ran.video)} if ran.video else {}),
            **({'check': {'passed': passed, 'finding': finding}} if finding else {}),
        }
    )
    if ran.interrupted and ran.episode.ending is Ending.CANCELLED:
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(0 if ran.episode.ending is Ending.FINISHED and passed else FAILED)


def _draw(ran: Ran, finding: str) -> Pictures:
    """Draw the episode, unless Ctrl-C ended it."""
    if ran.interrupted:
        return Pictures((), (f'Nothing was drawn; `bbllm show {ran.journal.stem}` does it.',))
    try:
        return write_pictures(ran.episode, ran.journal, finding)
    except ConfigError as error:
        # The episode has ended and has its result; a picture is not worth its exit code.
        return Pictures((), (str(error),))
