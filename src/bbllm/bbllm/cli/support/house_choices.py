"""Options about houses: which one, by which rules, and how much of it is known."""

from __future__ import annotations

from typing import Annotated

import typer

from bbllm.cli.support.choices import beginning


def _houses() -> list[str]:
    from bbllm.worlds.household.houses import list_houses

    return list(list_houses())


def _modes() -> list[str]:
    from bbllm.worlds.household.household import Mode

    return [mode.value for mode in Mode]


def _visibilities() -> list[str]:
    from bbllm.worlds.household.visibility import SEEN

    return list(SEEN)


HouseOption = Annotated[
    str | None,
    typer.Option(
        '--house',
        metavar='NAME',
        help='Household to act in, in this process: a name (see `bbllm scenes`), a .yaml file, or '
        "a graph of VirtualHome's in .json; for planners such as prog_prompt.",
        show_default=False,
        autocompletion=beginning(_houses),
    ),
]
ModeOption = Annotated[
    str | None,
    typer.Option(
        '--mode',
        metavar='NAME',
        help="Rules of a house: sane (the default), or VirtualHome's: persistent, or fresh, as "
        'ProgPrompt runs it.',
        show_default=False,
        autocompletion=beginning(_modes),
    ),
]
VisibilityOption = Annotated[
    str | None,
    typer.Option(
        '--visibility',
        metavar='NAME',
        help="What is known of a house: full (the default); room, what is in the character's room "
        'and in nothing closed; rooms_seen, also of rooms that it was in; room_open_only and '
        'rooms_seen_open_only, of containers only what is in open ones.',
        show_default=False,
        autocompletion=beginning(_visibilities),
    ),
]
