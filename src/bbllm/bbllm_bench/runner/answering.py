"""Who answers in a run: models that are asked, or a recording."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bbllm.core.errors import ConfigError
from bbllm.core.registry import PlannerSpec, fallback_name, find_provider, needs_goal
from bbllm.llm.config import LIMITS, LlmConfig, ModelConfig, ServerConfig
from bbllm.llm.models.factory import (
    Models,
    load_config,
    openai_settings,
    replay_models,
    resolve_all,
)
from bbllm.planners.assembly import check_brain
from bbllm.planners.body.mapping import MappingMethod, body_name, models_for
from bbllm_bench.oracle.case_goals import check_goals, with_goal_of
from bbllm_bench.oracle.household.providers import check_houses, models_in_house
from bbllm_bench.suites.task_spec import TaskSpec


@dataclass(frozen=True, slots=True)
class Answering:
    """Who answers in a run."""

    llm: LlmConfig
    """What workers make their models from."""
    models: Models
    body: str
    """The name of the Body, as reports show it."""
    described: Mapping[str, Mapping[str, Any]]
    """Settings of the models by role, for `settings.json`; never a key."""


def body_for(
    planner: PlannerSpec, method: MappingMethod, brain: str | None, body: str | None
) -> str | None:
    """Return the Body, or the one that planner or Brain imply where none is named."""
    unasked = method is not MappingMethod.EMBEDDING and not planner.asks_body
    if unasked and (body is None or needs_goal(body)):
        return fallback_name()  # it needs no server
    if body is not None or not needs_goal(brain or ''):
        return body
    provider = find_provider(brain or '')
    own = provider is not None and 'body' in provider.roles
    return brain if own else fallback_name()


def asking(
    tasks: Sequence[TaskSpec],
    method: MappingMethod,
    config_file: Path | None,
    *,
    brain: str | None,
    body: str | None,
) -> Answering:
    """
    Return the models that a run asks.

    Raises:
        ConfigError: One of them cannot be used; a missing key shows here, before a worker starts.
    """
    config = load_config(config_file)
    if needs_goal(brain or config.brain.provider):
        config = with_goal_of(config, tasks)
    build = models_in_house if any(task.houses for task in tasks) else models_for
    models = build(method, config, brain=brain, body=body)
    sections = _sections(config, method, brain=brain, body=body)
    asked = {role: _as_asked(section, role) for role, section in sections.items()}
    llm = config.model_copy(update={role: section for role, (section, _) in asked.items()})
    described = {role: description for role, (_, description) in asked.items()}
    return Answering(llm, models, body_name(method, models), described)


def replaying(path: Path, method: MappingMethod) -> Answering:
    """Return a recording as what answers; raises ReplayError where it cannot be read."""
    models = replay_models(path, embedding=method is MappingMethod.EMBEDDING)
    # No model is asked, so that no machine needs a key.
    offline = ModelConfig(provider=fallback_name())
    llm = LlmConfig(brain=offline, body=offline)
    return Answering(llm, models, body_name(method, models), {})


def check_answers(
    answering: Answering, tasks: Sequence[TaskSpec], planner: str, method: MappingMethod
) -> None:
    """
    Check that the models can answer this planner in these tasks.

    Raises:
        ConfigError: They cannot.
    """
    check_brain(planner, answering.models.brain)
    check = check_houses if any(task.houses for task in tasks) else check_goals
    check(tasks, answering.models, planner)


def _sections(
    config: LlmConfig, method: MappingMethod, *, brain: str | None, body: str | None
) -> dict[str, ServerConfig]:
    """Return who is asked, by role, with `auto` decided."""
    roles = ('brain', 'embeddings' if method is MappingMethod.EMBEDDING else 'body')
    given = zip(roles, (brain, body), strict=True)
    named = {role: name for role, name in given if name is not None}
    sections = resolve_all(config, roles, overrides=named)
    for role, section in sections.items():
        if section.provider == 'replay':
            raise ConfigError(
                f'The {role} is a recording of one episode; a run is answered from a recording '
                'of a run: --replay FILE.'
            )
    return sections


def _as_asked(section: ServerConfig, role: str) -> tuple[ServerConfig, dict[str, Any]]:
    """
    Return a section for workers, and as `settings.json` has it.

    It has what this machine's environment sets, but no secret: workers have their own.
    """
    if section.provider != 'openai':
        return section, {'provider': section.provider}
    settings = openai_settings(section, role)
    if settings.login is None:
        section = section.model_copy(update={'base_url': settings.base_url})
    left_out = {'recording', 'base_url', 'goal', *LIMITS}
    data = section.model_dump(mode='json', by_alias=True, exclude=left_out)
    return section, {**data, 'host': settings.host}
