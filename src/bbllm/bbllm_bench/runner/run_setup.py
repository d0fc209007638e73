"""From what a person asked for to what a run needs; finds every mistake before anything starts."""

import fnmatch
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bbllm.api.settings import Settings
from bbllm.core.errors import ConfigError
from bbllm.core.provenance import hash_templates
from bbllm.core.registry import load_planner
from bbllm.core.text import count_of
from bbllm.planners.assembly import check_domain, check_experience
from bbllm.planners.common.experience.entry import Entry
from bbllm.planners.common.experience.memory import file_of
from bbllm_bench.log.choices import PlayChoice
from bbllm_bench.log.episodes import RunConfig
from bbllm_bench.log.run_settings import RunSettings, TaskSettings
from bbllm_bench.log.versions import describe_machine, find_versions
from bbllm_bench.runner.answering import (
    Answering,
    asking,
    body_for,
    check_answers,
    replaying,
)
from bbllm_bench.runner.conversations import answers_of, hash_of
from bbllm_bench.runner.experience import hash_of_entries, known_text, known_to
from bbllm_bench.runner.play_here import (
    check_experienced,
    check_rehearsal,
    check_sources,
    domain_of,
    world_of,
)
from bbllm_bench.runner.request import BenchRequest
from bbllm_bench.runner.runner import RunPlan
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.suite import Suite, TaskSpec, load_suite


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that can begin."""

    plan: RunPlan
    notices: tuple[str, ...]
    """Notices about the models."""


def prepare(request: BenchRequest, folder: Path) -> Prepared:
    """
    Find out whether a run into a folder can be made, and what it will be made of.

    Raises:
        ConfigError: Something cannot be used, or a generated task has no case; nothing was
            written. Puzzles are not tried, since their search takes seconds each.
        UnknownNameError: There is no such suite, task or planner.
        ReplayError: The recording cannot be used.
    """
    suite = load_suite(request.suite, data=request.data)
    world, ks = world_of(suite, request.world or ''), request.ks or (suite.k,)
    extends = request.record is not None and request.replay is not None
    if extends and world == 'ros':
        raise ConfigError(
            '--record and --replay exclude each other with --world ros; leave one of them out.'
        )
    _check_changed_prompts(request, world)
    request = request.model_copy(update={'world': world, 'ks': ks, 'rehearse': request.samples()})
    check_sources(world, request.sources, request.trouble)
    check_rehearsal(world, request.rehearse)
    check_experienced(world, request.experience)
    tasks = _tasks(suite, request.tasks)
    _check_shard(request, len(tasks))
    planner, notices = load_planner(request.planner), list[str]()
    check_domain(request.planner, planner, domain_of(suite))
    check_experience(request.planner, planner, request.experience)
    if not planner.uses_feedback and request.ks != (0,):
        request = request.model_copy(update={'ks': (0,)})
        notices.append(
            f'{request.planner} has no feedback loops: each case is played once, as K = 0.'
        )
    for task in tasks:
        if task.generate is not None:  # a recipe that makes no scene is refused before the run
            make_case(suite, task.name, seed=request.seed, trial=0)
    method = request.mapping
    if request.replay is None or extends:
        body = body_for(planner, method, request.brain, request.body)
        answering = asking(tasks, method, request.llm_config, brain=request.brain, body=body)
    else:
        answering = replaying(request.replay, method)
    check_answers(answering, tasks, request.planner, method)
    experience, known = file_of(request.experience), tuple[Entry, ...]()
    if experience is not None:
        entries, faults = experience.read()
        known = known_to(suite.name, request.seed, entries)
        notices += known_text(len(known), len(entries) - len(known), faults)
    settings = _settings(request, suite, tasks, answering, folder)
    if experience is not None:
        settings = settings.model_copy(update={'experience_hash': hash_of_entries(known)})
    replay = None
    if request.replay is not None:
        replay, notice = answers_of(request.replay, settings.keys)
        notices += [notice] if notice and not extends else []
    plan = RunPlan(
        settings=settings,
        config=RunConfig(
            **_shared(request, PlayChoice),
            llm=answering.llm,  # decided already: another machine must not decide otherwise
            records=request.record is not None,
            changed_prompts=request.changed_prompts,
            known=known,
        ),
        make_case=lambda task, trial: make_case(suite, task, seed=request.seed, trial=trial),
        replay=replay,
        record=request.record,
        give_up_after=request.give_up_after,
        experience=experience,
        retry_lost=request.retry_lost,
    )
    return Prepared(plan, (*answering.models.notices, *notices))


def _check_shard(request: BenchRequest, n_tasks: int) -> None:
    """Raise ConfigError where some of the shards would have no case."""
    n = n_tasks * request.trials
    if request.shard is not None and request.shard.of > n:
        raise ConfigError(
            f'--shard {request.shard} makes {request.shard.of} parts of '
            f'{count_of(n, "case")}, so that some are empty; make {n} at most, or play more '
            '--trials.'
        )


def _check_changed_prompts(request: BenchRequest, world: str) -> None:
    """Raise ConfigError where replies to changed prompts are not replayed, or are recorded."""
    if not request.changed_prompts:
        return
    if request.replay is None:
        raise ConfigError('--changed-prompts is for a recording: add --replay FILE.')
    if request.record is not None:
        raise ConfigError(
            '--changed-prompts answers prompts with replies to other ones, which may not be '
            'recorded: leave --record or --changed-prompts out.'
        )
    if world == 'ros':
        raise ConfigError('--changed-prompts is for worker processes: leave --world ros out.')


def _settings(
    request: BenchRequest,
    suite: Suite,
    tasks: Sequence[TaskSpec],
    answering: Answering,
    folder: Path,
) -> RunSettings:
    own = {
        'suite': suite.name,
        'suite_sha256': suite.sha256,
        'brain': answering.models.brain.name,
        'body': answering.body,
        'ks': tuple(sorted(set(request.ks))),
        'tasks': tuple(
            TaskSettings.model_validate(task.model_dump(include={*TaskSettings.model_fields}))
            for task in tasks
        ),
        'llm': answering.described,
        'prompts': hash_templates(),
        'versions': find_versions(),
        'machine': describe_machine(),
        'record': _place(request.record, folder),
        'replay_sha256': hash_of(request.replay) if request.replay is not None else None,
        'command': shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
    }
    return RunSettings(**{**_shared(request, RunSettings), **own})


def _shared(request: BenchRequest, record: type[Settings]) -> dict[str, Any]:
    """Return what a request has of the fields of another record."""
    names = record.model_fields.keys() & BenchRequest.model_fields.keys()
    return {name: getattr(request, name) for name in names}


def _tasks(suite: Suite, names: tuple[str, ...]) -> tuple[TaskSpec, ...]:
    """Return the tasks of these names, in which `*` and `?` stand for letters; all without any."""
    known = [task.name for task in suite.tasks]
    # What fits nothing is refused by the suite, with the names that there are.
    wanted = {
        fits for name in names for fits in fnmatch.filter(known, name) or (suite.task(name).name,)
    }
    return tuple(task for task in suite.tasks if not names or task.name in wanted)


def _place(record: Path | None, folder: Path) -> Path | None:
    """Return where the recording is: seen from the folder where it is in there."""
    if record is None:
        return None
    path, inside = record.resolve(), folder.resolve()
    return path.relative_to(inside) if path.is_relative_to(inside) else path
