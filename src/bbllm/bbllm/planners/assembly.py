"""Puts a planner together for one episode, and lets it hear what the models' clients log."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ConfigError
from bbllm.core.protocols import ChatModel, Planner
from bbllm.core.registry import (
    OFFLINE,
    PlannerSpec,
    load_planners,
    plain_name,
)
from bbllm.llm.expert.containing import PLANNERS as CONTAINING
from bbllm.llm.model_factory import Models
from bbllm.planners.body.mapping import MappingMethod, make_body

STAND_INS = frozenset({OFFLINE, 'expert', 'uninformed'})
"""Names of what answers in place of a language model; each knows the prompts of some planners."""


def check_brain(planner: str, make: PlannerSpec, brain: ChatModel) -> None:
    """
    Refuse a stand-in that does not know a planner's prompts, before anything is started.

    Args:
        planner: Name of the planner.
        make: What builds it.
        brain: Its model.

    Raises:
        ConfigError: It is such a stand-in; says which planners it knows and what would work.
    """
    if brain.name not in STAND_INS or brain.name in make.stand_ins:
        return
    installed, _ = load_planners()
    known = [name for name, factory in installed.items() if brain.name in factory.stand_ins]
    bench = sorted(make.stand_ins - {OFFLINE})
    suites = 'partial' if 'uninformed' in bench else 'household'
    if suites == 'household' and plain_name(planner) in CONTAINING:
        suites += '` and `bbllm bench table_sorting'
    also = f'; in `bbllm bench {suites}` also `--brain {bench[0]}`' if bench else ''
    raise ConfigError(
        f'The planner {planner} cannot work with `{brain.name}`, which is no language model and '
        f'knows the prompts of {", ".join(known) or "no planner"} only. Name a language model, '
        f'such as `--brain gpt-4o` (docs/models.md says how){also}. Or take a planner that '
        f'`{brain.name}` knows.'
    )


def check_domain(planner: str, make: PlannerSpec, domain: str) -> None:
    """
    Refuse a planner that does not play in a kind of world, before anything is started.

    Args:
        planner: Name of the planner.
        make: What builds it.
        domain: That of the world's scenes, `tabletop` or `household`.

    Raises:
        ConfigError: It does not play there; says where it does, and which planners play there.
    """
    if domain in make.domains:
        return
    installed, _ = load_planners()
    others = [name for name, factory in installed.items() if domain in factory.domains]
    raise ConfigError(
        f'The planner {planner} plays in no world of the kind {domain}, only in '
        f'{" and ".join(sorted(make.domains))}. Choose one that does: {", ".join(others)}.'
    )


def check_mapping(planner: str, make: PlannerSpec, mapping: MappingMethod | None) -> None:
    """
    Refuse a planner that has to match by embedding and cannot, before anything is started.

    Args:
        planner: Name of the planner.
        make: What builds it.
        mapping: How steps become calls; None where another process decides that.

    Raises:
        ConfigError: It needs an embedder, and has none; says what would work.
    """
    if not make.needs_embedder or mapping is MappingMethod.EMBEDDING:
        return
    if mapping is None:
        raise ConfigError(
            f'The planner {planner} matches steps with actions by embedding, in the process that '
            'plans; in a stack, another one maps steps. Run it without a stack: `bbllm run`.'
        )
    raise ConfigError(
        f'The planner {planner} matches steps with actions by embedding, but the mapping is '
        f'{mapping.value}. Use `--mapping embedding`, and `--body lexical` or the name of an '
        'embedding model.'
    )


def build_planner(
    run: EpisodeRun,
    make: PlannerSpec,
    models: Models,
    k: int,
    mapping: MappingMethod = MappingMethod.AUTO,
) -> Planner:
    """Build a planner whose models are on the episode's account."""
    return make.build(run.model(models.brain, 'brain'), make_body(mapping, run, models), k=k)


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
