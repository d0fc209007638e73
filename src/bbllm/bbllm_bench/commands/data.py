"""`bbllm data`: makes data from simulated episodes, to learn motions or to tune models with."""

from typing import Any

import typer
from typer.core import TyperGroup

from bbllm.cli.support.lazy import from_checkout, from_module
from bbllm.core.paths import checkout_dir


class DataGroup(TyperGroup):
    """Has commands of the package, and those of the folder `benchmarks` of a checkout."""

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        for name, text in COMMANDS.items():
            self.add_command(from_module(name, f'bbllm_bench.commands.data_{name}', text))
        for name, text in OF_CHECKOUT.items():
            self.add_command(from_checkout(name, f'data {name}', 'finetuning.command', text))

    def list_commands(self, ctx: Any) -> list[str]:
        """List commands of a checkout in a checkout only."""
        names = super().list_commands(ctx)
        return names if checkout_dir() is not None else [n for n in names if n in COMMANDS]


COMMANDS = {
    'demos': 'Write checked pick-and-place episodes as a LeRobot data set.',
}
OF_CHECKOUT = {
    'generate': 'Make prompts and answers to tune small models with, measured in the simulator.',
    'check': 'Check form and physics of such prompts and answers in files.',
}

data = typer.Typer(
    name='data',
    cls=DataGroup,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)


@data.callback()
def data_command() -> None:
    """Make data from simulated episodes: demonstrations of motions, and prompts with answers."""
