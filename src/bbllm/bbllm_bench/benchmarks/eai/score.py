"""`bbllm bench eai-score`: what the evaluators of the benchmark make of such answers."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from bbllm.cli.support.options import JsonOption
from bbllm.cli.support.verb_group import FAILED
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm_bench.benchmarks.eai.answers import Export, check_answers, read_export
from bbllm_bench.benchmarks.eai.export import read_modules
from bbllm_bench.benchmarks.eai.modules import DATASET, Module
from bbllm_bench.benchmarks.eai.package import EvaluationError, Installed, find_installed
from bbllm_bench.benchmarks.shared import write_json
from bbllm_bench.log.files import read_json
from bbllm_bench.report.grid import Grid, grid_of, print_grid

SCORES = 'scores'
BEGIN_S, CASE_S = 600.0, 120.0
"""How long an evaluator may take to begin, and for each case: a planner may search for 100 s."""
LOGGED: Mapping[Module, Mapping[str, str]] = {
    Module.GOAL: {
        'format wrong': r'Format wrong num is (\d+)',
        'hallucinated goals': r'Hallucination num is (\d+)',
        'goals': r'Total goals num is (\d+)',
    },
    Module.SUBGOAL: {},
    Module.ACTION: {'judged': r'Program number: (\d+)'},
    Module.TRANSITION: {
        'format wrong': r'Format errors: (\d+)',
        'hallucinated actions': r'Hallucinations: (\d+)',
    },
}
"""Counts that an evaluator writes into its log alone; the last of each counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What an evaluator found."""

    module: Module
    n: int
    """Answers."""
    without_answer: int
    metrics: Mapping[str, float]
    """Under the evaluator's own names, in its own units."""
    counts: Mapping[str, int]
    """Classes of failures, in cases unless the name states otherwise."""


def eai_score(
    folder: Annotated[
        Path, typer.Argument(metavar='DIR', help='The --out of `bbllm bench eai-export`.')
    ],
    module: Annotated[
        str,
        typer.Option(metavar='LIST', help='Modules with commas between them; all that it has.'),
    ] = 'all',
    json: JsonOption = False,
) -> None:
    """
    Score answers by the evaluators of the Embodied Agent Interface.

    Needs `make eai`. Metrics have the evaluators' names and units: percent, but for
    subgoal_decomposition, which has shares of 1. What they write is in DIR/scores, the
    figures also in DIR/scores/scores.json.

    Exit code: 0 when all modules were scored; 1 when an evaluator failed; 2 for input
    that cannot be used.

    Examples:
      bbllm bench eai-score answers
      bbllm bench eai-score answers --module action_sequencing --json
    """
    output = Output(json)
    export, package = read_export(folder), find_installed()
    modules = [*export.modules] if module == 'all' else read_modules(module)
    for each in modules:
        if each not in export.modules:
            raise ConfigError(
                f'{folder} has no answers to {each}, but {", ".join(export.modules)}.'
            )
        check_answers(folder, export, each)
    if Module.TRANSITION in modules:
        package.need_planner()
    found, failed = list[Scored](), dict[str, str]()
    for each in modules:
        with output.doing(f'{each}, {len(export.modules[each].cases)} answers'):
            try:
                found.append(evaluate(folder, export, each, package))
            except EvaluationError as error:
                failed[each] = str(error)
    output.print(f'{export.benchmark}, answers by {export.answered_by}')
    for scored in found:
        print_grid(grid_for(scored), output.console)
    for text in failed.values():
        output.print(text, 'bold red')
    path = folder / SCORES / 'scores.json'
    report = {**export.model_dump(mode='json'), 'scored': found, 'failed': failed}
    write_json(path, report, printed=json)
    output.print_path('scores', path)
    if failed:
        raise typer.Exit(FAILED)


def evaluate(folder: Path, export: Export, module: Module, package: Installed) -> Scored:
    """
    Run the evaluator of a module on the answers of a folder.

    Raises:
        ConfigError: The folder cannot be written, or the evaluator left no summary.
        EvaluationError: The evaluator failed.
    """
    out, n = folder / SCORES / module, len(export.modules[module].cases)
    responses = ('--llm-response-path', str(folder.resolve()))
    log = package.run('evaluate_results', module, out, BEGIN_S + n * CASE_S, *responses)
    found = out / DATASET / 'evaluate_results' / module / export.model
    counts = {
        name: int(numbers[-1])
        for name, pattern in LOGGED[module].items()
        if (numbers := re.findall(pattern, log))
    }
    cases = found / 'error_info.json'
    if cases.is_file():
        counts |= Counter(map(_class_of, read_json(cases).values()))
    return Scored(
        module=module,
        n=n,
        without_answer=len(export.modules[module].without_answer),
        metrics=dict(flat(read_json(found / 'summary.json'))),
        counts=counts,
    )


def flat(summary: Mapping[str, Any], before: str = '') -> Iterator[tuple[str, float]]:
    """Yield the figures of a summary, with dots between the names of its levels."""
    for name, value in summary.items():
        if isinstance(value, Mapping):
            yield from flat(value, f'{before}{name}.')
        else:
            yield f'{before}{name}', float(value)


def _class_of(case: Mapping[str, Any]) -> str:
    """Return the evaluator's word for how a case ended, in one of its two forms."""
    if 'info' in case:
        return next(iter(re.findall(r"\('(\w+)'", case['info'] or '')), 'not judged')
    return case['error_type'] or 'executable'


def grid_for(scored: Scored) -> Grid:
    """Return the table of a module: its metrics, and below them the classes of failures."""
    counts = {'n': scored.n, 'without answer': scored.without_answer, **scored.counts}
    return grid_of(
        scored.module,
        [{'metric': k, 'value': f'{v:g}'} for k, v in scored.metrics.items()],
        [{'metric': k, 'value': str(v)} for k, v in counts.items()],
    )
