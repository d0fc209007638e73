"""From a node's parameters to its language models, and the folder of what they planned."""

from pathlib import Path

from bbllm.core.paths import episodes_dir
from bbllm.core.registry import PlannerSpec, load_planner
from bbllm.llm.models.factory import Models, load_config, make_models
from bbllm.planners.assembly import check_brain, check_domain, check_experience
from bbllm.planners.body.mapping import models_for
from bbllm_ros.parameters.node_params import (
    BodyMapperParams,
    BrainPlannerParams,
    ModelParams,
)


def models_of(params: ModelParams) -> Models:
    """Build both models; ConfigError where the file, a key or a recording cannot be used."""
    given = {'brain': params.brain, 'body': params.body}
    return make_models(
        load_config(params.llm_config),
        overrides={role: name for role, name in given.items() if name},
        record=params.record,
        replay=params.replay,
    )


def planner_and_models(params: BrainPlannerParams) -> tuple[PlannerSpec, Models]:
    """
    Return what makes the planner of a node, and its models.

    Raises UnknownNameError, and ConfigError where the models do not fit the planner.
    """
    spec = load_planner(params.planner)
    check_domain(params.planner, spec, 'tabletop')
    models = models_of(params)
    check_brain(params.planner, models.brain)
    check_experience(params.planner, spec, params.experience)
    return spec, models


def journal_folder(params: BrainPlannerParams) -> Path:
    folder = params.episodes_folder
    return Path(folder).expanduser() if folder else episodes_dir()


def models_of_body(params: BodyMapperParams) -> Models:
    """Build what a way of mapping needs; raises ConfigError as `models_of`."""
    return models_for(
        params.mapping,
        load_config(params.llm_config),
        brain=params.brain,
        body=params.body,
        record=params.record,
        replay=params.replay,
    )
