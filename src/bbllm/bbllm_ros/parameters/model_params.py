"""From a node's parameters to its language models, and the folder of what they planned."""

from pathlib import Path

from bbllm.core.errors import ConfigError
from bbllm.core.paths import episodes_dir
from bbllm.core.protocols import ChatModel
from bbllm.core.registry import PlannerSpec, find_provider, load_planner
from bbllm.llm.models.factory import Models, load_config, make_models
from bbllm.planners.assembly import check_brain, check_domain, check_mapping, check_memory
from bbllm.planners.body.mapping import models_for
from bbllm_ros.parameters.node_params import (
    BodyMapperParams,
    BrainPlannerParams,
    ModelParams,
    StateEstimatorParams,
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
    check_mapping(params.planner, spec, None)
    check_memory(params.planner, spec, given=None)
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


def model_of_open_state(params: StateEstimatorParams) -> ChatModel:
    """Return the model that estimates; ConfigError for a stand-in."""
    overrides = {'brain': params.model} if params.model else {}
    model = make_models(load_config(params.llm_config), overrides=overrides).brain
    if find_provider(model.name) is not None:
        raise ConfigError(
            f'open_state:=model needs a language model, and {model.name} is none. Name one '
            'as model:=NAME (docs/models.md), or take open_state:=rules.'
        )
    return model
