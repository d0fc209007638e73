"""The oracle in the place of Brain or Body of a household, and what it refuses."""

from collections.abc import Iterable
from dataclasses import replace

from bbllm.core.errors import ConfigError
from bbllm.core.registry import fallback_name, find_provider, load_planner
from bbllm.llm.config import LlmConfig
from bbllm.llm.models.factory import Models
from bbllm.planners.body.mapping import MappingMethod, models_for
from bbllm_bench.oracle.household.replies import NAME, house_oracle
from bbllm_bench.oracle.model import OracleModel
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.house_goals import GraphGoal, HouseholdGoal
from bbllm_bench.suites.suite import TaskSpec


def models_in_house(
    method: MappingMethod,
    config: LlmConfig,
    *,
    brain: str | None = None,
    body: str | None = None,
    case: Case | None = None,
) -> Models:
    """
    Build the models of a household, as `models_for`; only the oracle is handed the case.

    Without a case no model is asked anything yet.

    Raises:
        ConfigError: See `models_for`.
    """
    chosen = {'brain': brain or config.brain.provider}
    if method is not MappingMethod.EMBEDDING:
        chosen['body'] = body or config.body.provider
    oracles = [role for role, name in chosen.items() if name == NAME]
    # A provider that needs no key holds the places of the oracle.
    others = models_for(
        method,
        config,
        brain=fallback_name() if 'brain' in oracles else brain,
        body=fallback_name() if 'body' in oracles else body,
    )
    provider = find_provider(NAME)
    if not oracles or provider is None:
        return others
    goal = None if case is None else case.house_goal
    oracle = house_oracle()
    if case is not None and isinstance(goal, HouseholdGoal | GraphGoal):
        oracle = house_oracle(case.house, goal)
    roles = ' and '.join(f'the {role.title()}' for role in oracles)
    notice = f'{roles[0].upper()}{roles[1:]} `{NAME}` {provider.remark}.'
    models = replace(others, notices=(*others.notices, notice))
    if 'brain' in oracles:
        # Where an embedder does the Body's work, the Brain holds its place.
        models = replace(models, brain=oracle, body=models.body if 'body' in chosen else oracle)
    return replace(models, body=oracle) if 'body' in oracles else models


def needs_house_oracle(llm: LlmConfig) -> bool:
    return NAME in (llm.brain.provider, llm.body.provider)


def check_houses(tasks: Iterable[TaskSpec], models: Models, planner: str) -> None:
    """
    Refuse a stand-in that has no reply for houses, for a planner or for a goal.

    Raises:
        ConfigError: Names what would work.
    """
    asked = {'brain': models.brain}
    if load_planner(planner).asks_body:
        asked['body'] = models.body
    for role, model in asked.items():
        if model.name != NAME and find_provider(model.name) is not None:
            raise ConfigError(
                f'`{model.name}`, which is no language model, answers nothing in houses. Name a '
                f'language model (see docs/models.md), or give --{role} {NAME}: it gets '
                'the goal, and measures the plumbing.'
            )
    if not isinstance(models.brain, OracleModel):
        return
    if refusal := models.brain.refusal(planner):
        raise ConfigError(refusal)
    for task in tasks:
        if not isinstance(task.goal, HouseholdGoal | GraphGoal):
            raise ConfigError(
                f'The task {task.name} has the goal {task.goal.kind}, for which `{NAME}` has '
                'no plan; it finds plans for goals of the kind household, as those of the suite '
                'household. Name a language model for this one.'
            )
