"""Builds a planner for one episode, and adds the log of the models' clients to the episode."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from bbllm.core.constants import NO_EXPERIENCE
from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ConfigError
from bbllm.core.protocols import ChatModel, Planner, refusal
from bbllm.core.registry import PlannerSpec, load_planners
from bbllm.core.types import SYMBOLIC
from bbllm.llm.models.factory import Models
from bbllm.planners.body.mapping import MappingMethod, make_body


def check_brain(planner: str, brain: ChatModel) -> None:
    if why := refusal(brain, planner):
        raise ConfigError(why)


def check_domain(planner: str, make: PlannerSpec, domain: str) -> None:
    """
    Raise ConfigError if a planner does not support a domain, `tabletop` or `household`.

    Nor does a planner that is to send pictures support a household, which is symbols.
    """
    if domain in make.domains:
        if domain in SYMBOLIC and sends_pictures(make):
            raise ConfigError(
                f'{planner} sends pictures, and a household is symbols, of which no camera takes '
                'any. Use `image=none`, or a table.'
            )
        return
    installed, _ = load_planners()
    others = [name for name, factory in installed.items() if domain in factory.domains]
    raise ConfigError(
        f'The planner {planner} plays in no world of the kind {domain}, only in '
        f'{" and ".join(sorted(make.domains))}. Choose one that does: {", ".join(others)}.'
    )


def check_experience(planner: str, make: PlannerSpec, wanted: str) -> None:
    """Raise ConfigError if a planner does not read the experience that is wanted."""
    if wanted == NO_EXPERIENCE or make.reads_experience:
        return
    readers = [name for name, spec in load_planners()[0].items() if spec.reads_experience]
    raise ConfigError(
        f'The prompts of {planner} have no place for experience. Leave it out, or choose a '
        f'planner that reads it: {", ".join(readers)}.'
    )


def sends_pictures(make: PlannerSpec) -> bool:
    """Return whether a planner is to send its model pictures of the scene."""
    return getattr(make.options, 'image', 'none') != 'none'


def build_planner(
    run: EpisodeRun,
    make: PlannerSpec,
    models: Models,
    k: int,
    mapping: MappingMethod = MappingMethod.AUTO,
) -> Planner:
    return make.build(run.model(models.brain, 'brain'), make_body(mapping, run, models), k=k)


@contextmanager
def with_client_log(run: EpisodeRun) -> Iterator[None]:
    """Add the log of the models' clients (retries, refused parameters) to an episode."""
    listener = _Listener(run)
    logger = logging.getLogger('bbllm.llm')
    logger.addHandler(listener)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(listener)
        logger.propagate = True


class _Listener(logging.Handler):
    def __init__(self, run: EpisodeRun):
        super().__init__(logging.WARNING)
        self._run = run

    def emit(self, record: logging.LogRecord) -> None:
        self._run.warn(record.getMessage())
