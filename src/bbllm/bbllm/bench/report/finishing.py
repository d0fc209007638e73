"""What is written when a session of a run has ended, however it ended: figures and report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bbllm.bench.log.store import SUMMARY, RunFolder
from bbllm.bench.report.summary import summarize_run
from bbllm.bench.report.write import write_report
from bbllm.core.errors import BbllmError


@dataclass(frozen=True, slots=True)
class Finished:
    """What a run comes to so far."""

    summary: Mapping[str, Any]
    report: Path | None
    """The report; None where it was not asked for, or could not be written."""
    problem: str = ''
    """Why not everything could be written."""


def finish(folder: RunFolder, *, report: bool = True) -> Finished:
    """
    Sum up what is on record; a disk that takes no more does not hide the figures.

    Args:
        folder: That of the run.
        report: Whether to write the report too, for which every journal is read.
    """
    settings = folder.settings
    assert settings is not None  # a run begins with writing them
    results = [folder.results[key] for key in sorted(folder.results)]
    summary = summarize_run(settings.to_json(), results, folder.sessions)
    try:
        folder.write_summary(summary)
        return Finished(summary, write_report(folder.path) if report else None)
    except BbllmError as error:
        return Finished(summary, None, str(error))
    except OSError as error:
        reason = error.strerror or str(error)
        return Finished(summary, None, f'{SUMMARY} or the report cannot be written ({reason}).')
