"""Puts `expert` in the place of models of households; refuses it where it knows nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bbllm.bench.household_expert.model import NAME, PLANNERS, HouseholdExpert
from bbllm.bench.suites.case import Case
from bbllm.bench.suites.house_goals import HouseholdGoal
from bbllm.bench.suites.suite import TaskSpec
from bbllm.core.errors import ConfigError
from bbllm.core.model_providers import ModelProvider, fallback_name, find_provider
from bbllm.core.registry import find_planner, plain_name
from bbllm.llm.config import LlmConfig
from bbllm.llm.model_factory import Models
from bbllm.planners.body.mapping import MappingMethod, models_for


def models_in_house(
    method: MappingMethod,
    config: LlmConfig,
    *,
    brain: str | None = None,
    body: str | None = None,
    case: Case | None = None,
) -> Models:
    """
    Build the models of a household; `expert` is told the case, and nobody else is.

    Args:
        method: See `planners.bodies.models_for`.
        config: See there.
        brain: See there.
        body: See there.
        case: What is played; None where nobody is asked anything yet.

    Raises:
        ConfigError: See `planners.bodies.models_for`.
    """
    chosen = {'brain': brain or config.brain.provider}
    if method is not MappingMethod.EMBEDDING:
        chosen['body'] = body or config.body.provider
    experts = [role for role, name in chosen.items() if name == NAME]
    # Somebody who asks for no key holds the places of those that are no models.
    others = models_for(
        method,
        config,
        brain=fallback_name() if 'brain' in experts else brain,
        body=fallback_name() if 'body' in experts else body,
    )
    if not experts:
        return others
    expert = HouseholdExpert() if case is None else _told(case)
    who = ' and '.join(f'the {role.title()}' for role in experts)
    notice = f'{who[0].upper()}{who[1:]} `{NAME}` {_provider().remark}.'
    models = replace(others, notices=(*others.notices, notice))
    if 'brain' in experts:
        # Where an embedder does the Body's work, the Brain holds its place.
        models = replace(models, brain=expert, body=models.body if 'body' in chosen else expert)
    return replace(models, body=expert) if 'body' in experts else models


def needs_house_expert(llm: LlmConfig, brain: str | None, body: str | None) -> bool:
    """Tell whether Brain or Body is `expert`."""
    return NAME in (brain or llm.brain.provider, body or llm.body.provider)


def check_houses(tasks: Iterable[TaskSpec], models: Models, planner: str) -> None:
    """
    Refuse a stand-in that knows nothing of houses, of a planner's prompts or of a goal in them.

    Args:
        tasks: Tasks in houses.
        models: Who is asked.
        planner: Name of the planner, with or without options.

    Raises:
        ConfigError: Says what would work.
    """
    asked = {'brain': models.brain}
    if find_planner(planner).asks_body:
        asked['body'] = models.body
    for role, model in asked.items():
        if model.name != NAME and find_provider(model.name) is not None:
            raise ConfigError(
                f'`{model.name}`, which is no language model, knows nothing of houses. Name a '
                f'language model (docs/models.md says how), or say --{role} {NAME}: it is told '
                'the goal, and measures the plumbing.'
            )
    if models.brain.name != NAME:
        return
    if plain_name(planner) not in PLANNERS:
        raise ConfigError(
            f'The planner {planner} cannot work with `{NAME}` in houses: there it reads the '
            f'prompts of {", ".join(PLANNERS)}. Choose one of these, or name a language model.'
        )
    for task in tasks:
        if not isinstance(task.goal, HouseholdGoal):
            raise ConfigError(
                f'The task {task.name} has the goal {task.goal.kind}, of which `{NAME}` knows '
                'nothing; it finds plans for goals of the kind household, as those of the suite '
                'household. Name a language model for this one.'
            )


def _provider() -> ModelProvider:
    provider = find_provider(NAME)
    assert provider is not None  # it is installed with this package
    return provider


def _told(case: Case) -> HouseholdExpert:
    goal = case.house_goal
    return HouseholdExpert(case.house, goal if isinstance(goal, HouseholdGoal) else None)
