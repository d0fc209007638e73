"""Prints an episode on record: its plan, or what its models were asked."""

import sys
from pathlib import Path

from bbllm.cli.views.output import Output
from bbllm.cli.views.plain_view import LineView
from bbllm.cli.views.rich_view import print_progress
from bbllm.core.events import Episode, EpisodeEnded
from bbllm.core.journal import summarize
from bbllm.core.progress import progress_of
from bbllm_viewer.commands.prompt_view import chosen, exchange_data, print_exchanges
from bbllm_viewer.replay.exchanges import read_exchanges


def print_episode(record: Episode, output: Output) -> None:
    """Print plan, repairs and counts: as a table on a terminal, else line by line."""
    if output.live:
        print_progress(output.console, progress_of(record))
        output.print()
        return
    view = LineView(sys.stdout)
    for event in record.events:
        view(event)
    if not isinstance(record.events[-1].data, EpisodeEnded):
        output.print(f'{"":9}  broken    {record.message}')


def print_prompts(record: Episode, path: Path, call: int | None, output: Output) -> None:
    """Print what models were asked, or one call alone."""
    exchanges = read_exchanges(record, path)
    if not output.json:
        print_exchanges(record, exchanges, output, call)
    calls = [exchange_data(each) for each in chosen(exchanges, call)]
    output.result({**summarize(record), 'journal': str(path), 'calls': calls})
