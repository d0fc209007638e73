"""Puts a planner together for one episode, and lets it hear what the models' clients log."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from bbllm.core.episode import EpisodeRun
from bbllm.core.protocols import Planner
from bbllm.core.registry import PlannerFactory
from bbllm.llm.config import Models
from bbllm.planners.bodies import MappingMethod, make_body


def build_planner(
    run: EpisodeRun,
    make: PlannerFactory,
    models: Models,
    k: int,
    mapping: MappingMethod = MappingMethod.AUTO,
) -> Planner:
    """Build a planner whose models are on the episode's account."""
    return make(run.model(models.brain, 'brain'), make_body(mapping, run, models), k=k)


@contextmanager
def heard_by(run: EpisodeRun) -> Iterator[None]:
    """Put what the clients of models log (retries, refused parameters) into an episode."""
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
