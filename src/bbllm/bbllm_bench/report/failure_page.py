"""Failures and recoveries as a table, for a terminal, for Markdown and as a page."""

import time
from collections.abc import Sequence

from bbllm_bench.ledger.failures import FailureRow
from bbllm_bench.ledger.recoveries import episodes_of, recoveries
from bbllm_bench.report import words
from bbllm_bench.report.grid import Grid
from bbllm_bench.report.pages import render_page

MOST = 200
"""How many failures of one error and configuration a page has, the newest."""
NOTE = (
    "recovered: with Wilson's 95 % interval; requests, tokens, arm: median from a failure to its "
    'recovery'
)


def recovery_grid(failures: Sequence[FailureRow]) -> Grid:
    """Return which error which planner and model recovers from, and at what cost."""
    return Grid(
        title='Recoveries',
        header=('error', 'planner, Brain', 'n', 'recovered', '95 %', 'requests', 'tokens', 'arm'),
        rows=tuple(
            (
                row.error,
                str(row.configuration),
                f'{len(row.failures)} in {row.episodes}',
                words.two(row.recovered.value),
                words.interval(row.recovered.low, row.recovered.high),
                *(_median(value) for value in (row.requests, row.tokens)),
                words.duration(row.arm_s),
            )
            for row in recoveries(failures)
        ),
        caption=f'n: failures, in how many episodes; {NOTE}',
    )


def render_failures(
    failures: Sequence[FailureRow], ledger: str, faults: Sequence[str] = ()
) -> str:
    """Return the page of a ledger: errors by configuration, and the failures of each field."""
    rows = {f'g{number}': row for number, row in enumerate(recoveries(failures))}
    return render_page(
        'failures.html.j2',
        n=len(failures),
        episodes=episodes_of(failures),
        ledger=ledger,
        faults=faults,
        rows=rows,
        errors=sorted({row.error for row in rows.values()}),
        configurations=sorted({row.configuration for row in rows.values()}),
        ids={(row.error, row.configuration): name for name, row in rows.items()},
        date=lambda stamp_s: time.strftime('%Y-%m-%d %H:%M', time.gmtime(stamp_s)),
        median=_median,
        most=MOST,
    )


def _median(value: float | None) -> str:
    return words.NONE if value is None else f'{value:,.10g}'.replace(',', words.THIN)
