"""What is said when an episode is over: pictures, paths, exit code; shared by demo and run."""

from __future__ import annotations

from typing import Any

import typer

from bbllm.cli.support.session import Ran
from bbllm.cli.support.verb_group import FAILED, INTERRUPTED
from bbllm.cli.views.output import Output
from bbllm.cli.views.picture_files import Pictures, write_pictures
from bbllm.core.errors import ConfigError
from bbllm.core.events import Ending
from bbllm.core.journal import summarize


def draw(ran: Ran, check: str = '') -> Pictures:
    """Draw the episode, with what a check found; not for whoever pressed Ctrl-C to go."""
    if ran.interrupted:
        return Pictures((), (f'Nothing was drawn; `bbllm show {ran.journal.stem}` does it.',))
    try:
        return write_pictures(ran.episode, ran.journal, check)
    except ConfigError as error:
        # The episode has ended and has its result; a picture is not worth its exit code.
        return Pictures((), (str(error),))


def tell_files(output: Output, ran: Ran, pictures: Pictures) -> None:
    """Say where journal and pictures lie."""
    output.say()
    for path in pictures.paths:
        output.say_path('picture', path)
    if ran.video:
        output.say_path('video', ran.video)
    output.say_path('journal', ran.journal)
    output.say(f'  again    bbllm show {ran.journal.stem}', style='dim')
    for hint in (*pictures.hints, *ran.hints):
        output.say(f'  {hint}', style='yellow')


def summary_of(ran: Ran, pictures: Pictures) -> dict[str, Any]:
    """Return what a program is told."""
    return {
        **summarize(ran.episode),
        'journal': str(ran.journal),
        'pictures': [str(path) for path in pictures.paths],
        **({'video': str(ran.video)} if ran.video else {}),
    }


def exit_code(ran: Ran, passed: bool = True) -> int:
    """Return 0 only where the episode finished and its check passed."""
    if ran.interrupted and ran.episode.ending is Ending.CANCELLED:
        return INTERRUPTED
    return 0 if ran.episode.ending is Ending.FINISHED and passed else FAILED


def leave(code: int) -> None:
    """End the process with an exit code."""
    raise typer.Exit(code)
