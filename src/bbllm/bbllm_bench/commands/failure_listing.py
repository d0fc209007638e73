"""`bbllm show --failures`: lists the failures of the journals below a folder."""

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from bbllm.api.config import planners
from bbllm.api.settings import flag_of
from bbllm.cli.support.requests import beginning, flag, given, option
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.paths import state_dir
from bbllm.core.text import count_of, escape_line
from bbllm.core.types import Code

if TYPE_CHECKING:
    from bbllm_bench.ledger.failures import FailureRow

NOTE = (
    "n: failures, in how many episodes; recovered: with Wilson's 95 % interval; requests, tokens, "
    'arm: median from a failure to its recovery'
)
MOST_FAULTS = 5
"""Damaged journals that are named on a terminal."""


@dataclass(frozen=True, kw_only=True)
class FailureOptions:
    """Which failures are listed."""

    panel: ClassVar[str] = 'Failures'
    failures: bool = flag(
        'List the failures of all own episodes and bench runs, or of those below the FOLDER that '
        'is named in place of EPISODE, and which error which planner and model recovers from.',
        '--failures',
    )
    planner: str | None = option(
        'Those of this planner: brain_body, with any options; brain_body:reach=no, with these.',
        autocompletion=beginning(planners),
    )
    brain: str | None = option('Those of this Brain.')
    code: str | None = option(
        'Those with this code, such as COVERED; NONE for those without a code.',
        autocompletion=beginning(lambda: Code.__members__),
    )


def check_failure_options(options: FailureOptions) -> None:
    """Raise ConfigError for options that are without effect."""
    if late := given(options):
        raise ConfigError(
            f'{", ".join(map(flag_of, late))}: only of failures. Add --failures, as in '
            '`bbllm show --failures --code COVERED`.'
        )


def show_failures(folder: str | None, options: FailureOptions, output: Output) -> None:
    """
    List the failures of the journals below a folder.

    Raises:
        ConfigError: There is no journal in it.
        UnknownNameError: There is no such code.
    """
    from bbllm_bench.ledger.ledger import read_ledger

    code = (options.code or '').upper()
    if code and code not in Code.__members__:
        raise UnknownNameError('code', code, Code.__members__)
    place = Path(folder).expanduser() if folder is not None else state_dir()
    with output.bar() as bar:

        def show(done: int, total: int) -> None:
            bar(completed=done, description=f'{done} of {total} journals', total=total)

        ledger = read_ledger(place, show)
    failures = ledger.chosen(options.planner or '', options.brain or '', code)
    for fault in ledger.faults[:MOST_FAULTS]:
        output.print(fault, style='yellow')
    if (more := len(ledger.faults) - MOST_FAULTS) > 0:
        output.print(f'{more} more are skipped; --json has them.', style='yellow')
    _print(failures, output)
    output.result(
        {
            'folder': str(place),
            'journals': ledger.journals,
            'skipped': list(ledger.faults),
            **_values(failures),
        }
    )


def _values(failures: tuple['FailureRow', ...]) -> dict[str, object]:
    from bbllm_bench.ledger.recoveries import recoveries

    return {
        'failures': [asdict(each) for each in failures],
        'recoveries': [
            {'n': len(row.failures), **asdict(replace(row, failures=()))}
            for row in recoveries(failures)
        ],
    }


def _print(failures: tuple['FailureRow', ...], output: Output) -> None:
    from bbllm_bench.ledger.recoveries import episodes_of, recoveries
    from bbllm_bench.report import words
    from bbllm_bench.report.grid import grid_of, print_grid

    for each in failures:
        when = time.strftime('%Y-%m-%d %H:%M', time.localtime(each.stamp_s))
        text = f'{each.episode}  {each.code} {each.call or each.step}: {each.sentence}'
        output.print_line(escape_line(f'{when}  {text} {_end(each)}'))
    if failures:
        output.print()
        rows = [
            {
                'error': row.error,
                'planner, Brain': str(row.configuration),
                'n': f'{len(row.failures)} in {row.episodes}',
                'recovered': words.two(row.recovered.value),
                '95 %': words.interval(row.recovered.low, row.recovered.high),
                'requests': words.median(row.requests),
                'tokens': words.median(row.tokens),
                'arm': words.duration(row.arm_s),
            }
            for row in recoveries(failures)
        ]
        print_grid(grid_of('Recoveries', rows, notes={'n': NOTE}), output.console)
    recovered = sum(each.recovered != '' for each in failures)
    output.print(
        f'{count_of(len(failures), "failure")} in {count_of(episodes_of(failures), "episode")}, '
        f'{recovered} recovered.'
    )


def _end(failure: 'FailureRow') -> str:
    if not failure.recovered:
        return '[not recovered]'
    loops, requests = count_of(failure.loops, 'loop'), count_of(failure.requests, 'request')
    return f'[recovered: {loops}, {requests}, {failure.arm_s:.1f} s of the arm]'
