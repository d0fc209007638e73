"""`bbllm bench report`: writes summary and report of a run again."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from bbllm.cli.support.options import JsonOption
from bbllm.cli.support.requests import flag
from bbllm.cli.views.output import Output
from bbllm_bench.log.files import write_atomically
from bbllm_bench.log.store import SUMMARY, read_run
from bbllm_bench.report.summary import closing_line, summarize_run, summary_text
from bbllm_bench.report.write import write_report


def report(
    folder: Annotated[
        Path, typer.Argument(metavar='DIR', help='Folder of a run: what --out named.')
    ],
    open_page: bool = flag('Open the page in the browser too.', '--open'),
    json: JsonOption = False,
) -> None:
    """
    Write summary.json, report.html and the pages of episodes again.

    Works while the run still goes on, and for one that was killed.

    Examples:
      bbllm bench report bench/tabletop
      bbllm bench report bench/tabletop --open
    """
    output = Output(json)
    run = read_run(folder)
    summary = summarize_run(run.settings, run.results, run.sessions)
    write_atomically(folder / SUMMARY, summary_text(summary))
    path = write_report(folder).resolve()
    output.print_path('report', path)
    if open_page and not webbrowser.open(path.as_uri()):
        output.print('No browser could be started; open the file yourself.')
    output.print(closing_line(summary))
    output.result({'report': str(path), 'summary': str(folder.resolve() / SUMMARY)})
