"""What a person asks of a bench."""

from typing import Annotated

from pydantic import BeforeValidator

from bbllm.api.config import (
    ExperienceChoice,
    LimitChoice,
    MappingChoice,
    ModelChoice,
    RehearsalChoice,
    SourceChoice,
)
from bbllm.api.settings import FilePath, revised, setting
from bbllm.cli.support.options import WorldName
from bbllm.core.errors import ConfigError
from bbllm_bench.log.choices import AskChoice, PlannerName, ReplayChoice
from bbllm_bench.log.shards import ShardName
from bbllm_bench.runner.runner import GIVE_UP_AFTER

MAX_TRIALS = 999
RUN = 'Run'


def parse_tasks(text: str) -> tuple[str, ...]:
    """Read a list of names of tasks, `plus_sign,letter_l`; raises ConfigError if it has none."""
    names = tuple(filter(None, (name.strip() for name in text.split(','))))
    if not names:
        raise ConfigError(
            f'--tasks {text!r} names no task; use for example plus_sign,letter_l, or leave it '
            'out to play all.'
        )
    return names


TaskNames = Annotated[
    tuple[str, ...], BeforeValidator(lambda x: parse_tasks(x) if isinstance(x, str) else x)
]


class RunChoice(
    LimitChoice,
    RehearsalChoice,
    SourceChoice,
    ExperienceChoice,
    MappingChoice,
    AskChoice,
    ModelChoice,
):
    """Which episodes of a suite run, with which models, where, and within which limits."""

    brain: str | None = revised(ModelChoice, 'brain')
    body: str | None = revised(ModelChoice, 'body')
    trials: int = setting(5, 'Tables of each task.', low=1, high=MAX_TRIALS)
    seed: int = setting(0, 'Makes the tables; the same ones on every machine.', low=0)
    tasks: TaskNames = setting(
        (),
        'Only these tasks: plus_sign,letter_l. A * stands for any letters: new_tasks_*.',
        kind=str,
        metavar='LIST',
    )
    shard: ShardName | None = setting(
        None,
        'Only this part of the cases, for several machines: 1/4 is the first of four. `bbllm '
        'bench merge` puts the parts together.',
        kind=str,
        metavar='I/N',
        panel=RUN,
    )
    world: WorldName | None = setting(
        None,
        'tabletop: simulate in worker processes. ros: five nodes. household: symbols. By '
        'default tabletop, and household for a suite that is played in houses.',
    )
    give_up_after: int = setting(
        GIVE_UP_AFTER,
        'End early when so many episodes in a row were lost, as without a server, or ended '
        'without a usable reply of the model: an empty or endless reply, or a refusal. Replies '
        'that make no sense, and tables that could not be made, do not count.',
        low=1,
        panel=RUN,
    )
    retry_lost: bool = setting(False, 'Play again what infrastructure lost before.', panel=RUN)
    data: FilePath | None = setting(
        None,
        'For eai, the folder virtualhome_eval of the package eai-eval, where that is not '
        'installed.',
        metavar='DIR',
        panel=RUN,
    )


class BenchRequest(RunChoice, ReplayChoice, PlannerName):
    """What a person asked for."""

    suite: str
    """Name of a suite, or path of its file."""
    ks: tuple[int, ...] = ()
    """Numbers of feedback loops; that of the suite if none is given."""
