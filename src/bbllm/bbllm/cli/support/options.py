"""Options of verbs that are no settings of an episode: one name, one help text each."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from bbllm.api.config import MODELS, SIM, ModelFileChoice, RehearsalChoice
from bbllm.api.settings import setting
from bbllm.cli.support.requests import flag, option
from bbllm.core.constants import checked_namespace
from bbllm.core.errors import ConfigError

WorldName = Literal['ros', 'tabletop', 'household']
"""Where a task is carried out."""

count = partial(option, min=1)
"""Called with a help text: a whole number."""
seconds = partial(option, metavar='SECONDS', min=0.001)
"""Called with a help text: a wall time [s]."""

JsonOption = Annotated[
    bool,
    typer.Option(
        '--json', help='Print exactly one JSON object on stdout; all else goes to stderr.'
    ),
]
LlmConfigOption = Annotated[
    Path | None,
    typer.Option(
        '--llm-config',
        metavar='FILE',
        help=ModelFileChoice.model_fields['llm_config'].description,
        rich_help_panel=MODELS,
        show_default=False,
    ),
]
TaskArgument = Annotated[
    str, typer.Argument(metavar='TASK', help='What to do, in plain words.', show_default=False)
]


domain_option = partial(
    count, 'ROS domain of the stack, instead of $ROS_DOMAIN_ID.', min=0, max=232
)


@dataclass(frozen=True, kw_only=True)
class StackOptions:
    """Which running stack is meant."""

    domain: int | None = domain_option()
    namespace: str | None = option(
        'ROS namespace of the stack; needed only where several stacks run.',
        callback=lambda name: None if name is None else checked_namespace(name),
    )


ros_option = partial(flag, 'Use the nodes of a running stack.', '--ros')


class RehearsalOptions(RehearsalChoice):
    """Whether plans are tried in simulations of the table first, and in how many."""

    rehearsal_samples: int | None = setting(
        None,
        'In so many simulations, which differ in poses, masses and friction; 3 by default.',
        low=1,
        high=100,
        worlds=SIM,
    )

    def samples(self, *, approved: bool = False) -> int:
        """Return the number of simulations; raises ConfigError for one without rehearsals."""
        wanted = super().samples(approved=approved)
        if not wanted and self.rehearsal_samples is not None:
            raise ConfigError('--rehearsal-samples is for rehearsals: add --rehearse.')
        return (self.rehearsal_samples or wanted) if wanted else 0
