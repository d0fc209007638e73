"""From what a person asked for to what a run needs; finds every mistake before anything starts."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bbllm.bench.log.episodes import RunConfig
from bbllm.bench.log.machine import describe_machine
from bbllm.bench.log.prices import PriceTable, load_prices
from bbllm.bench.log.run_settings import RunSettings, TaskSettings
from bbllm.bench.log.store import SETTINGS, read_json
from bbllm.bench.log.versions import find_versions, hash_prompts
from bbllm.bench.oracle.case_goals import check_goals, with_goal_of
from bbllm.bench.oracle.household.providers import check_houses, models_in_house
from bbllm.bench.runner.conversations import answers_of, hash_of, refuse_existing
from bbllm.bench.runner.play_here import HOUSEHOLD, domain_of, world_of
from bbllm.bench.runner.runner import GIVE_UP_AFTER, RunPlan
from bbllm.bench.scene_sampling.generator import make_case
from bbllm.bench.suites.case import Case
from bbllm.bench.suites.suite import Suite, TaskSpec, load_suite
from bbllm.core.budget import Limits
from bbllm.core.errors import ConfigError
from bbllm.core.model_providers import fallback_name, find_provider, needs_goal
from bbllm.core.registry import load_planner
from bbllm.llm.config import LlmConfig, ModelConfig, ServerConfig
from bbllm.llm.models.factory import (
    Models,
    load_config,
    openai_settings,
    replay_models,
    resolve,
    resolve_embeddings,
)
from bbllm.planners.assembly import check_brain, check_domain, check_mapping
from bbllm.planners.body.mapping import MappingMethod, body_name, models_for


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What a person asked for."""

    suite: str
    """Name of a suite, or path of its file."""
    planner: str = 'brain_body'
    brain: str | None = None
    """A provider or a model's name; None takes what the configuration says."""
    body: str | None = None
    mapping: str = 'auto'
    ks: tuple[int, ...] = (3,)
    trials: int = 5
    seed: int = 0
    tasks: tuple[str, ...] = ()
    """Names of tasks, or patterns of names such as `new_tasks_00*`; all where none is given."""
    world: str = ''
    """tabletop, household or ros; where the suite is played if it is empty."""
    limits: Limits = field(default_factory=Limits)
    record: Path | None = None
    replay: Path | None = None
    prices: Path | None = None
    llm_config: Path | None = None
    give_up_after: int = GIVE_UP_AFTER
    retry_lost: bool = False
    data: Path | None = None
    """The user's copy of what a suite needs and cannot bring."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that can begin."""

    plan: RunPlan
    notices: tuple[str, ...]
    """What people should be told about the models."""


def prepare(request: RunRequest, folder: Path) -> Prepared:
    """
    Find out whether a run can be made, and what it will be made of.

    Args:
        request: What was asked for.
        folder: Where the results will be; a recording in it is known by its place there.

    Raises:
        ConfigError: Something cannot be used; nothing was written.
        UnknownNameError: There is no such suite, task or planner.
        ReplayError: The recording cannot be used.
    """
    if request.record is not None and request.replay is not None:
        raise ConfigError('--record and --replay exclude each other: a replay is on record.')
    suite = load_suite(request.suite, data=request.data)
    request = replace(request, world=world_of(suite, request.world))
    tasks = _tasks(suite, request.tasks)
    check_domain(request.planner, load_planner(request.planner), domain_of(suite))
    request, loops_notice = _with_what_matters(request)
    prices = load_prices(request.prices) if request.prices is not None else None
    if request.replay is None:
        request = _with_body(request)
        answering = _asking(request, tasks)
    else:
        answering = _replaying(request.replay, MappingMethod(request.mapping))
    check_brain(request.planner, answering.models.brain)
    check_mapping(request.planner, load_planner(request.planner), MappingMethod(request.mapping))
    check = check_houses if any(task.houses for task in tasks) else check_goals
    check(tasks, answering.models, request.planner)
    settings = _settings(request, suite, tasks, answering, prices, folder)
    replay, notice = None, ''
    if request.replay is not None:
        replay, notice = answers_of(request.replay, settings.keys)
    plan = RunPlan(
        settings=settings,
        config=_config(request, answering.llm, prices),
        make_case=_case_maker(suite, request.seed),
        replay=replay,
        record=request.record,
        give_up_after=request.give_up_after,
        retry_lost=request.retry_lost,
    )
    return Prepared(plan, (*answering.models.notices, *filter(None, [loops_notice, notice])))


def _with_body(request: RunRequest) -> RunRequest:
    """Return the request with the Body that a Brain which is handed the goal implies."""
    if request.body is not None or not needs_goal(request.brain or ''):
        return request
    provider = find_provider(request.brain or '')
    own = provider is not None and 'body' in provider.roles
    return replace(request, body=request.brain if own else fallback_name())


def _with_what_matters(request: RunRequest) -> tuple[RunRequest, str]:
    """Return the request without what makes no difference to its planner, and a notice of that."""
    planner = load_planner(request.planner)
    matched = request.mapping == MappingMethod.EMBEDDING.value
    unasked = not matched and not planner.asks_body
    if unasked and (request.body is None or needs_goal(request.body)):
        request = replace(request, body=fallback_name())  # it needs no server, and is not asked
    if planner.uses_feedback or request.ks == (0,):
        return request, ''
    return replace(request, ks=(0,)), (
        f'{request.planner} has no feedback loops: each case is played once, as K = 0.'
    )


def check_recording(request: RunRequest, settings: RunSettings, folder: Path) -> None:
    """
    Keep a run from writing into a file that is not its own.

    Raises:
        ConfigError: There is something in the file, and the folder does not say that it is its.
    """
    if request.record is None:
        return
    path = folder / SETTINGS
    known = read_json(path) if path.exists() else {}
    if not isinstance(known, dict) or known.get('record') != settings.record:
        refuse_existing(request.record)


@dataclass(frozen=True, slots=True)
class _Answering:
    """Who answers in a run."""

    llm: LlmConfig
    models: Models
    described: Mapping[str, Any]


def _settings(
    request: RunRequest,
    suite: Suite,
    tasks: Sequence[TaskSpec],
    answering: _Answering,
    prices: PriceTable | None,
    folder: Path,
) -> RunSettings:
    """Return what the results of a run mean."""
    return RunSettings(
        suite=suite.name,
        suite_sha256=suite.sha256,
        world=request.world,
        planner=request.planner,
        brain=answering.models.brain.name,
        body=body_name(MappingMethod(request.mapping), answering.models),
        mapping=request.mapping,
        ks=tuple(sorted(set(request.ks))),
        trials=request.trials,
        seed=request.seed,
        tasks=tuple(
            TaskSettings.model_validate(task.model_dump(include={*TaskSettings.model_fields}))
            for task in tasks
        ),
        limits=request.limits,
        llm=answering.described,
        prompts=hash_prompts(),
        versions=find_versions(),
        machine=describe_machine(),
        prices=prices,
        record=_place(request.record, folder),
        replay=str(request.replay) if request.replay is not None else None,
        replay_sha256=hash_of(request.replay) if request.replay is not None else None,
    )


def _asking(request: RunRequest, tasks: Sequence[TaskSpec]) -> _Answering:
    config = load_config(request.llm_config)
    if needs_goal(request.brain or config.brain.provider):
        config = with_goal_of(config, tasks)
    # What is wrong with a key shows here, before a worker meets it.
    build = models_in_house if request.world == HOUSEHOLD else models_for
    models = build(MappingMethod(request.mapping), config, brain=request.brain, body=request.body)
    fixed = {role: _fixed(item, role) for role, item in _sections(request, config).items()}
    described = {role: _described(section, role) for role, section in fixed.items()}
    return _Answering(config.model_copy(update=fixed), models, described)


def _sections(request: RunRequest, config: LlmConfig) -> dict[str, ServerConfig]:
    """Return who is asked, by role, with what was said and `auto` decided."""
    given = {'brain': request.brain, 'body': request.body}
    said = {role: name for role, name in given.items() if name is not None}
    sections: dict[str, ServerConfig] = {'brain': resolve(config, 'brain', overrides=said)}
    if MappingMethod(request.mapping) is MappingMethod.EMBEDDING:
        sections['embeddings'] = resolve_embeddings(
            config.embeddings, said=request.body, replay=None, environ=os.environ
        )
    else:
        sections['body'] = resolve(config, 'body', overrides=said)
    for role, section in sections.items():
        if section.provider == 'replay':
            raise ConfigError(
                f'The {role} is a recording of one episode; a run is answered from a recording '
                'of a run: --replay FILE.'
            )
    return sections


def _replaying(path: Path, method: MappingMethod) -> _Answering:
    models = replay_models(path, embedding=method is MappingMethod.EMBEDDING)
    offline = ModelConfig(provider=fallback_name())
    # Nobody is asked, so that no key is wanted on any machine.
    return _Answering(LlmConfig(brain=offline, body=offline), models, {})


def _fixed(section: ServerConfig, role: str) -> ServerConfig:
    """Write down what this machine's environment says, but no secret: workers have their own."""
    if section.provider != 'openai':
        return section
    settings = openai_settings(section, role)
    if settings.login is not None:
        return section
    return section.model_copy(update={'base_url': settings.base_url})


def _described(section: ServerConfig, role: str) -> dict[str, Any]:
    if section.provider != 'openai':
        return {'provider': section.provider}
    settings = openai_settings(section, role)
    left_out = {'recording', 'base_url', 'goal'}
    data = section.model_dump(mode='json', by_alias=True, exclude=left_out)
    return {**data, 'host': settings.host}


def _config(request: RunRequest, llm: LlmConfig, prices: PriceTable | None) -> RunConfig:
    return RunConfig(
        planner=request.planner,
        # Decided already: another machine must not decide otherwise.
        brain=None,
        body=None,
        mapping=request.mapping,
        llm=llm,
        limits=request.limits,
        record=request.record is not None,
        prices=prices.by_model if prices is not None else {},
    )


def _tasks(suite: Suite, names: tuple[str, ...]) -> tuple[TaskSpec, ...]:
    """Return the tasks of these names, in which `*` and `?` stand for letters; all without any."""
    known = [task.name for task in suite.tasks]
    # What fits nothing is refused by the suite, with the names that there are.
    wanted = {
        fits for name in names for fits in fnmatch.filter(known, name) or (suite.task(name).name,)
    }
    return tuple(task for task in suite.tasks if not names or task.name in wanted)


def _place(record: Path | None, folder: Path) -> str | None:
    """Return where the recording is: seen from the folder where it is in there."""
    if record is None:
        return None
    path, inside = record.resolve(), folder.resolve()
    return str(path.relative_to(inside) if path.is_relative_to(inside) else path)


def _case_maker(suite: Suite, seed: int) -> Callable[[str, int], Case]:
    def make(task: str, trial: int) -> Case:
        return make_case(suite, task, seed=seed, trial=trial)

    return make
