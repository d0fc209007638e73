"""`bbllm calibrate`: finds where a camera is, by a printed board and the motions of the arm."""

from typing import Any

import typer
from typer.core import TyperGroup

from bbllm.cli.support.lazy import from_module

COMMANDS = {
    'board': 'Print the board: a .pdf or .png file in true size.',
    'sim': 'Calibrate a simulated camera, and compare with the truth.',
    'real': 'Calibrate a camera by an arm that a person guides; nothing moves by itself.',
}


class CalibrateGroup(TyperGroup):
    """Has one command for each thing that is done, in the order in which it is done."""

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        for name, text in COMMANDS.items():
            self.add_command(from_module(name, f'bbllm_ros.commands.calibrate_{name}', text))

    def list_commands(self, ctx: Any) -> list[str]:
        """List them in that order."""
        return list(COMMANDS)


calibrate = typer.Typer(
    name='calibrate',
    cls=CalibrateGroup,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)


@calibrate.callback()
def calibrate_command() -> None:
    """Find where a camera is, by a printed board and the motions of the arm."""
