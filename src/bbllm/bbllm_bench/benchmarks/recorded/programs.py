"""
`bbllm bench programs`: recorded programs of ProgPrompt, played in houses that they were not for.

A fresh program is written from the prompt of its house. One that is played again has only its
recoveries for what differs: the room to start in, what is open, where objects lie.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bbllm.cli.support.options import JsonOption
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError, ParseError
from bbllm.core.protocols import ModelRequest, PromptRequest
from bbllm.core.registry import plain_name
from bbllm.core.types import Scene
from bbllm.llm.config import LlmConfig
from bbllm.llm.models.factory import Models
from bbllm.llm.recording.replay import read_recording
from bbllm.planners.common.program import Assertion
from bbllm.planners.domains.scene_graph import scene_graph
from bbllm.testing import ScriptedModel
from bbllm_bench.benchmarks.shared import TrialBar
from bbllm_bench.log.episodes import EpisodeSpec, RunConfig
from bbllm_bench.log.intervals import wilson
from bbllm_bench.log.results import EpisodeKey, EpisodeResult
from bbllm_bench.report import words
from bbllm_bench.report.grid import grid_of, print_grid
from bbllm_bench.runner.episode_setup import Alone
from bbllm_bench.runner.play_household import play_with
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.suite import Suite, load_suite
from bbllm_planners.prog_prompt.grammar import parse_program
from bbllm_planners.prog_prompt.prompting import is_true

app = typer.Typer(add_completion=False)
PLANNER = 'prog_prompt'
MOST_REQUESTS = 1000
"""More than the limit of any episode."""


@app.command()
def programs(
    recording: Annotated[
        Path, typer.Argument(metavar='RECORDING', help='Of a run of prog_prompt in houses.')
    ],
    suite: Annotated[str, typer.Option(metavar='SUITE', help='That the tasks are of.')] = (
        'household'
    ),
    trials: Annotated[int, typer.Option(min=1, max=1000, help='Of each task.')] = 12,
    seed: Annotated[int, typer.Option(min=0, help='Draws the trials.')] = 0,
    planner: Annotated[
        str, typer.Option(metavar='NAME', help='With other options after a colon.')
    ] = PLANNER,
    json: JsonOption = False,
) -> None:
    """
    Play the recorded program of each task in several houses, without a model.

    Of each task the program that its first recorded episode carried out. Assertions are
    answered by the rule that their prompt states, from what is close or in a hand.

    Examples:
      bbllm bench household --planner prog_prompt --trials 1 --record talk.jsonl
      bbllm bench programs talk.jsonl
      bbllm bench programs talk.jsonl --planner prog_prompt:grounding=random
    """
    if plain_name(planner) != PLANNER or 'replan=yes' in planner:
        raise ConfigError(f'{planner} makes no single program; name {PLANNER} without replan=yes.')
    found, tasks = load_suite(suite), _programs(recording.expanduser())
    config = RunConfig(planner=planner, llm=LlmConfig())
    output = Output(json)
    results: dict[str, list[EpisodeResult]] = {task: [] for task in tasks}
    with TrialBar(len(tasks) * trials, every=trials) as bar:
        for task, program in tasks.items():
            for trial in range(trials):
                results[task].append(_played(found, task, program, trial, seed, config))
                bar.advance(task)
    rows = [_row(task, items) for task, items in results.items()]
    total = _row('all', [item for items in results.values() for item in items])
    print_grid(grid_of(f'Programs of {recording.name}', rows, [total]), output.console)
    for task, items in results.items():
        for reason, n in Counter(item.reason for item in items if not item.passed).most_common():
            output.print(f'{task}, {words.plural(n, "episode")}: {reason}')
    passed = {task: sum(item.passed for item in items) for task, items in results.items()}
    output.result({'trials': trials, 'seed': seed, 'planner': planner, 'passed': passed})


def _programs(path: Path) -> Mapping[str, str]:
    """Return the program of each task, by name; raises ConfigError without any."""
    by_episode: dict[str, str] = {}
    for exchange in read_recording(path):
        if exchange.reply is not None and _is_program(exchange.reply.text):
            by_episode[exchange.episode] = exchange.reply.text  # a second one replaced the first
    found: dict[str, str] = {}
    for episode in sorted(by_episode):
        found.setdefault(episode.rpartition('-t')[0], by_episode[episode])
    if not found:
        raise ConfigError(
            f'{path} holds no program of a run; `bbllm bench household --planner {PLANNER} '
            '--record FILE` makes such a recording.'
        )
    return found


def _is_program(text: str) -> bool:
    try:
        return bool(parse_program(text).calls)
    except ParseError:
        return False


def _played(
    suite: Suite, task: str, program: str, trial: int, seed: int, config: RunConfig
) -> EpisodeResult:
    case = make_case(suite, task, seed=seed, trial=trial)
    job = EpisodeSpec(key=EpisodeKey(task, trial, 0), case=case, config=config)
    brain = ScriptedModel([partial(_answer, program)] * MOST_REQUESTS)
    return play_with(job, Models(brain, ScriptedModel()), lambda event: None, Alone())


def _answer(program: str, request: ModelRequest) -> str:
    asked = request.declared
    return _verdict(asked) if asked is not None and asked.kind == 'check' else program


def _verdict(asked: PromptRequest) -> str:
    (statement,) = parse_program(f'assert({asked.text})').sub_goals[0].statements
    assert isinstance(statement, Assertion) and asked.scene is not None
    return str(is_true(statement.condition, _in_sight(asked.scene), None))


def _in_sight(scene: Scene) -> Scene:
    """Return what the prompt of an assertion shows: objects that are close or in a hand."""
    around = scene_graph(scene)
    seen = around.reachable.union(around.held, [around.character or ''])
    return replace(scene, objects=tuple(item for item in scene.objects if item.name in seen))


def _row(task: str, results: Sequence[EpisodeResult]) -> dict[str, str]:
    passed, n = sum(item.passed for item in results), len(results)
    return {
        'task': task,
        'n': str(n),
        'SR': f'{words.two(passed / n)} {words.interval(*wilson(passed, n))}',
        'GCR': words.two(sum(item.gcr for item in results) / n),
        'EXEC': words.two(
            sum(item.executable for item in results)
            / max(1, sum(item.attempted for item in results))
        ),
    }
