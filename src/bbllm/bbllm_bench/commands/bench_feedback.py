"""`bbllm bench feedback SUITE`: brain_body on the same cases with each form of feedback."""

from __future__ import annotations

from typing import Annotated

import typer

from bbllm.api.config import MAX_K
from bbllm.cli.support.options import count
from bbllm.cli.support.requests import given, option
from bbllm.cli.views.output import Output
from bbllm_bench.commands.bench_compare import end_comparison, play_choice, print_results
from bbllm_bench.commands.options import BenchOptions
from bbllm_bench.compare.feedback import FORMS, feedback_grids, planner_with, read_forms
from bbllm_bench.log.choices import ReplayChoice


def feedback(
    *,
    suite: Annotated[
        str, typer.Argument(metavar='[SUITE]', help='Name of a suite, or path of a suite file.')
    ] = 'tabletop_hard',
    forms: str = option(
        f'Which forms to compare with the first: {",".join(FORMS)}.',
        default=','.join(FORMS),
        metavar='LIST',
    ),
    k: int = count('How often the Brain may plan anew.', '-k', default=1, min=1, max=MAX_K),
    bench: BenchOptions,
    recording: ReplayChoice,
) -> None:
    """
    Compare forms of feedback: what a planner is sent when a step has failed.

    brain_body plays the same cases with each form: all that is known (full),
    nothing (none), the code of the failure, its sentence, the raw text of the
    controller, what has changed in the scene (difference), or a picture. The
    first plan is asked for in the same words in all of them. Writes success, loops
    and tokens with intervals, and the paired differences from the first form.

    --record takes a folder, with a file for each form; --replay takes such a
    folder, or a file that answers all. With both, the models are asked only
    what --replay lacks.

    Exit code: as `bbllm bench SUITE`.

    Examples:
      bbllm bench feedback --brain expert --body expert --trials 3
      bbllm bench feedback --brain MODEL --record talk --out runs/feedback
      bbllm bench feedback tabletop -k 3 --forms full,none,code --brain MODEL
      bbllm bench feedback --replay talk
    """
    from bbllm_bench.compare.choice import choose
    from bbllm_bench.compare.feedback import CHART, TABLES, write_feedback
    from bbllm_bench.compare.files import compare_folder
    from bbllm_bench.runner.conversations import check_recording

    run = bench.run_request(suite, ks=(k,), **given(recording))
    output = Output(bench.json)
    folder = bench.folder('feedback', suite)
    choice = choose(run, ','.join(map(planner_with, read_forms(forms))), folder)
    for item in choice.contenders:
        plan = item.prepared.plan
        check_recording(plan.record, plan.settings, folder / item.folder)
    ran = play_choice(choice, folder, bench, output)
    compared = compare_folder(folder, choice, ran)
    grids = feedback_grids(compared) if compared else ()
    print_results(compared, grids, choice, ran, folder, output)
    if compared is not None:
        write_feedback(compared, folder)
        output.print_path('table', folder / TABLES)
        output.print_path('chart', folder / CHART)
    end_comparison(compared, choice, ran, folder, output)
