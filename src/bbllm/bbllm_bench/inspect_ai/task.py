"""
The bench as a task of inspect_ai, for any of its providers and its log viewer.

    inspect eval bbllm/tabletop --model openai/gpt-4o -T trials=5 -T k=3
    inspect eval bbllm/tabletop --model openai/gpt-4o --model-role body=openai/gpt-4o-mini
    inspect view

One sample is one trial of one task; the scenes are those of `bbllm bench` with the same seed.
Needs the extra `inspect` (`make extras`, or pip install inspect-ai).
"""

import functools
from collections.abc import Sequence
from typing import Any

from anyio import from_thread, to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessageAssistant, get_model
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from bbllm.core.errors import ConfigError
from bbllm.core.events import Event
from bbllm.core.registry import load_planner
from bbllm.llm.config import LlmConfig, load_config
from bbllm.llm.models.factory import Models
from bbllm.planners.assembly import check_domain, check_mapping
from bbllm.planners.body.mapping import MappingMethod, models_for
from bbllm_bench.inspect_ai.episode import entry_of, play_sample
from bbllm_bench.inspect_ai.model import InspectModel
from bbllm_bench.inspect_ai.scorer import (
    TASK,
    as_bbllm,
    executable_steps,
    feedback_loops,
    goal,
    goal_conditions,
    informed,
    keep_result,
)
from bbllm_bench.log.episodes import EpisodeSpec, RunConfig
from bbllm_bench.log.results import EpisodeKey
from bbllm_bench.runner.play_here import domain_of
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.suite import Suite, load_suite

TEMPERATURE = 0.5
"""The default of `bbllm bench`; see config/llm.yaml."""


@task
@as_bbllm
def tabletop(
    suite: str = 'tabletop',
    tasks: str | Sequence[str] = (),
    trials: int = 1,
    seed: int = 0,
    k: int = 3,
    planner: str | Sequence[str] = 'brain_body',
    mapping: str = 'auto',
    body: str | None = None,
    temperature: float | None = TEMPERATURE,
) -> Task:
    """
    Tasks on a table that a simulated robot arm carries out, judged by where objects end up.

    Args:
        suite: Name of a suite, or path of its file.
        tasks: Which of its tasks; all where none is named.
        trials: Scenes for each task.
        seed: Makes the scenes, as in `bbllm bench`.
        k: Feedback loops that an episode may use.
        planner: Planning method, as `bbllm plan --help-all` lists them, with options or without;
            inspect_ai makes a list of what has commas.
        mapping: How steps become calls: auto, text, schema or embedding.
        body: Model that turns steps into calls, where it is not the one that plans; with
            `embedding` the embedding model, or `lexical`. --model-role body=... wins.
        temperature: Used where --temperature is not given; null: the server's own.
    """
    chosen = load_suite(suite)
    names = [tasks] if isinstance(tasks, str) else list(tasks)
    spec = planner if isinstance(planner, str) else ','.join(planner)
    check_domain(spec, load_planner(spec), domain_of(chosen))
    check_mapping(spec, load_planner(spec), _method(mapping))
    if trials < 1 or k < 0:
        raise ConfigError(f'trials={trials}, k={k}: give at least one trial, and no negative k.')
    return Task(
        dataset=MemoryDataset(_samples(chosen, names, trials, seed, k), name=chosen.name),
        solver=play_episode(suite, spec, _method(mapping).value, body, temperature),
        scorer=_scorers(chosen, names),
        version=chosen.sha256[:12],
        metadata={'suite': chosen.name, 'suite_sha256': chosen.sha256, 'k': k, 'seed': seed},
    )


@solver
@as_bbllm
def play_episode(
    suite: str, planner: str, mapping: str, body: str | None, temperature: float | None
) -> Solver:
    """Play the episode of a sample; see `tabletop`."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        job = await to_thread.run_sync(_job, suite, planner, mapping, state.metadata)
        brain = InspectModel(get_model(), temperature=temperature)
        models = _models(brain, MappingMethod(mapping), body, temperature)
        shown: list[str] = []

        def show(event: Event) -> None:
            if entry := entry_of(event):
                title, text = entry
                shown.append(f'**{title}**\n\n{text}')
                from_thread.run_sync(functools.partial(transcript().info, text, source=title))

        def play() -> None:
            # Kept from the thread: a sample that is stopped never sees its return value.
            keep_result(state, play_sample(job, models, show))

        await to_thread.run_sync(play)
        for model in {id(model): model for model in (models.brain, models.body)}.values():
            if isinstance(model, InspectModel) and model.failure is not None:
                raise model.failure
        state.messages.append(ChatMessageAssistant(content='\n\n'.join(shown)))
        state.completed = True
        return state

    return solve


def _scorers(suite: Suite, names: list[str]) -> list[Scorer]:
    """Return what is scored; what was found out only where a task asks for that."""
    needs = {task.needs for task in suite.tasks if not names or task.name in names}
    found_out = [informed()] if needs - {'none'} else []
    return [goal(), *found_out, goal_conditions(), executable_steps(), feedback_loops()]


def _samples(suite: Suite, names: list[str], trials: int, seed: int, k: int) -> list[Sample]:
    wanted = {suite.task(name).name for name in names}
    return [
        Sample(
            id=EpisodeKey(spec.name, trial, k).name,
            input=spec.instruction,
            target=spec.goal.kind,
            metadata={
                TASK: spec.name,
                'trial': trial,
                'seed': seed,
                'k': k,
                'difficulty': spec.difficulty,
                'least_loops': spec.least_loops,
            },
        )
        for spec in suite.tasks
        if not names or spec.name in wanted
        for trial in range(trials)
    ]


def _job(suite: str, planner: str, mapping: str, sample: dict[str, Any]) -> EpisodeSpec:
    name, trial, seed = sample[TASK], sample['trial'], sample['seed']
    return EpisodeSpec(
        key=EpisodeKey(name, trial, sample['k']),
        case=make_case(load_suite(suite), name, seed=seed, trial=trial),
        config=RunConfig(planner=planner, mapping=_method(mapping), llm=LlmConfig()),
    )


def _method(name: str) -> MappingMethod:
    try:
        return MappingMethod(name)
    except ValueError:
        known = ', '.join(method.value for method in MappingMethod)
        raise ConfigError(f'There is no mapping {name!r}. Known: {known}.') from None


def _models(
    brain: InspectModel, method: MappingMethod, body: str | None, temperature: float | None
) -> Models:
    if method is MappingMethod.EMBEDDING:
        # Embedders are none of inspect_ai's models.
        found = models_for(method, load_config(), brain='offline', body=body or 'lexical')
        return Models(brain, brain, embedder=found.embedder)
    answering = get_model(role='body', default=body)
    return Models(brain, InspectModel(answering, temperature=temperature))
