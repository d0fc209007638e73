"""Results of tasks in which something had to be found out, made by hand."""

from typing import Any

from made_results import make_result, make_settings

from bbllm.bench.log.results import EpisodeResult
from bbllm.bench.report.summary import RunSummary, summarize_run

KNOWING = {'informed': True, 'information': 'every block was weighed'}
GUESSED = {'informed': False, 'information': 'Not weighed: blue_cube.'}

MIXED = (
    make_result('stack', 0),
    make_result('stack', 1),
    make_result('pick_heavier', 0, **KNOWING),
    make_result('pick_heavier', 1, **GUESSED),
    make_result('pick_heavier', 2, 3, 'failed', **GUESSED, false_success=True),
    make_result('pick_heavier', 3, 3, 'lost', informed=False),
)


def summary_of(results: tuple[EpisodeResult, ...], **changes: Any) -> RunSummary:
    tasks = sorted({result.key.task for result in results})
    settings = make_settings(**{'suite': 'partial', 'trials': 4, 'tasks': tasks, **changes})
    return summarize_run(settings, results, [])
