"""`bbllm doctor --fitness`: for which planners the configured models are fit."""

from typing import TYPE_CHECKING

from bbllm.api.config import ModelChoice, RecordChoice
from bbllm.cli.views.output import Output
from bbllm.core.records import to_json
from bbllm.core.text import cut

if TYPE_CHECKING:
    from bbllm_bench.fitness.fitness import PlannerFitness

SHOWN = 240
"""How much of what is wrong with an answer is printed; --json has all of it [characters]."""
STYLES = {'fit': 'green', 'partly': 'yellow', 'not': 'bold red'}


def check_fitness(chosen: ModelChoice, recording: RecordChoice, output: Output) -> bool:
    """
    Ask the questions, print a table and return whether a model is fit for any planner.

    Raises:
        ConfigError: A model is a stand-in, or cannot be built.
        ModelError: A model could not be asked.
    """
    from bbllm.llm.models.factory import load_config, make_models
    from bbllm.llm.recording.replay import ReplayModel
    from bbllm_bench.fitness.fitness import AT_ONCE, examine
    from bbllm_bench.fitness.questions import QUESTIONS

    named = {'brain': chosen.brain, 'body': chosen.body}
    models = make_models(
        load_config(chosen.llm_config),
        overrides={role: str(name) for role, name in named.items() if name is not None},
        record=recording.record,
        replay=recording.replay,
    )
    recorded = any(isinstance(model, ReplayModel) for model in (models.brain, models.body))
    with output.bar(len(QUESTIONS)) as update:
        found = examine(
            models,
            # A recording answers equal questions in the order in which they were asked.
            at_once=1 if recorded else AT_ONCE,
            on_progress=lambda done, what: update(completed=done, description=what),
        )
    if not output.json:
        _print(found, output)
        names = {item.planner for item in found if item.grade.value == 'fit'}
        fit = ', '.join(item.planner for item in found if item.planner in names) or 'none of them'
        output.print()
        output.print(f'{models.brain.name} (Brain) and {models.body.name} (Body): fit for {fit}.')
    output.result(
        {'brain': models.brain.name, 'body': models.body.name, 'fitness': to_json(found)}
    )
    return any(item.grade.value == 'fit' for item in found)


def _print(found: tuple['PlannerFitness', ...], output: Output) -> None:
    for item in found:
        grade = item.grade.value
        output.print(f'{grade:<6}  {item.planner:<16} {item.right} of {item.asked}', STYLES[grade])
        for wrong in item.wrong:
            output.print_item(f'{wrong.question}: {cut(wrong.fault, SHOWN)}')
