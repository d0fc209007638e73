"""What a person asks of a bench."""

from dataclasses import dataclass, field
from pathlib import Path

from bbllm.core.constants import TwinError
from bbllm.core.events import Limits
from bbllm_bench.runner.runner import GIVE_UP_AFTER


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchRequest:
    """What a person asked for."""

    suite: str
    """Name of a suite, or path of its file."""
    planner: str = 'brain_body'
    brain: str | None = None
    """A provider or a model's name; None takes that of the configuration."""
    body: str | None = None
    mapping: str = 'auto'
    ks: tuple[int, ...] = ()
    """Numbers of feedback loops; that of the suite if none is given."""
    trials: int = 5
    seed: int = 0
    tasks: tuple[str, ...] = ()
    """Names of tasks, or patterns of names such as `new_tasks_00*`; all where none is given."""
    world: str = ''
    """tabletop, household or ros; where the suite is played if it is empty."""
    sources: str = 'truth'
    """Where scenes come from on a table."""
    trouble: str = 'none'
    """What makes pictures harder to use."""
    rehearse: int = 0
    """In how many simulations plans are tried before they move the arm; 0 for none."""
    twin_error: TwinError = 'none'
    """What is wrong in these on purpose."""
    limits: Limits = field(default_factory=Limits)
    record: Path | None = None
    replay: Path | None = None
    changed_prompts: bool = False
    """Whether a recording also answers prompts that have changed since."""
    memory: Path | None = None
    """Ledger with failures of earlier episodes, for a planner with `memory=yes`."""
    prices: Path | None = None
    llm_config: Path | None = None
    give_up_after: int = GIVE_UP_AFTER
    retry_lost: bool = False
    data: Path | None = None
    """The user's copy of what a suite needs and cannot bring."""
