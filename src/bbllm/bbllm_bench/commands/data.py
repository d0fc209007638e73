"""`bbllm data`: makes data from simulated episodes, to learn motions or to tune models with."""

from typing import Any

import typer
from typer.core import TyperGroup

from bbllm.cli.support.lazy import from_app, from_module


class DataGroup(TyperGroup):
    """Has one command for each kind of data, and one that checks it."""

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        demos = 'Write checked pick-and-place episodes as a LeRobot data set.'
        self.add_command(from_module('demos', 'bbllm_bench.commands.data_demos', demos))
        for name, text in FOR_TUNING.items():
            self.add_command(from_app(name, 'bbllm_bench.benchmarks.finetuning.command', text))


FOR_TUNING = {
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
