"""`bbllm show --browser`: a page that replays an episode."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bbllm.cli.support.requests import flag
from bbllm.cli.views.output import Output
from bbllm.core.events import Episode
from bbllm_viewer.commands.browser import (
    BrowserOptions,
    check_packages,
    served,
    until_interrupted,
)


@dataclass(frozen=True, kw_only=True)
class ReplayOptions(BrowserOptions):
    """Whether there is a page that replays, and where."""

    browser: bool = flag(
        'Serve a page that replays the episode: plan, prompts, beliefs and the arm in 3D, with a '
        'time line (docs/console.md).'
    )


def replay_in_browser(
    episode: Episode, journal: Path, faults: Sequence[str], options: ReplayOptions, output: Output
) -> None:
    """Serve the page of an episode on record until Ctrl-C."""
    check_packages('bbllm show --browser')
    from bbllm_viewer.console.record_desk import RecordDesk

    with served(RecordDesk(episode, journal, faults), options.page, output, 'read the episode'):
        output.print('Ctrl-C ends it.', 'dim')
        until_interrupted()
