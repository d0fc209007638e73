"""
The classical planner: Kairos, a program of its own, as a process with a time limit.

It is never imported. Domain and problem are files in a folder that is removed.
"""

import shutil
import signal
import subprocess
import sysconfig
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bbllm import errors
from bbllm_planners.pddl.formulas import Action, Problem

PROGRAM = 'kairos'
SEARCHES = ('novelty', 'lama-novelty')
"""Its searches that are run beside each other: neither is the better one for all tables."""
SOLVE_S = 15
"""So much processor time a search has: what it finds does not depend on the load [s]."""
BUSY = 8
"""How many times as long it may take on a busy machine."""
OVER_S = 20.0
"""How much longer its process may take: to begin and to end [s]."""
MEMORY_MB = 3000
UNSOLVABLE = 10
"""Exit code: it has proved that there is no plan."""
NO_PLAN = (11, 12, 14, -signal.SIGXCPU, 128 + signal.SIGXCPU, -signal.SIGKILL)
"""Exit codes: time or memory was used up, or no engine has found a plan."""


class NoPlanError(Exception):
    """There is no plan; the text is why."""

    found = 'No plan leads to this goal'
    """What is certain about the goal."""


class NotFoundError(NoPlanError):
    """Time or memory was used up before a plan was found."""

    found = 'No plan for this goal was found, though there may be one'


def program() -> str:
    """Return the path of the planner; raises ConfigError where it is not installed."""
    beside = Path(sysconfig.get_path('scripts')) / PROGRAM
    found = str(beside) if beside.exists() else shutil.which(PROGRAM)
    if found is None:
        raise errors.ConfigError(
            'This goal needs the classical planner Kairos, which is not installed: the search '
            'for a shortest plan was too large. '
            'Install it with `pip install kairos-planner`, or take another planner.'
        )
    return found


def solve(problem: Problem, *, seconds: int | None = None, enough: int = 0) -> Sequence[Action]:
    """
    Return the cheapest plan that one of the searches finds within a time.

    A search ends earlier with a plan that costs no more than is enough.

    Raises:
        NoPlanError: There is none.
        NotFoundError: None is found.
        ConfigError: The planner is not installed.
    """
    command, seconds = program(), SOLVE_S if seconds is None else seconds
    with tempfile.TemporaryDirectory(prefix='bbllm-pddl-') as folder:
        at = Path(folder)
        for name, text in zip(('domain.pddl', 'problem.pddl'), problem.texts(), strict=True):
            (at / name).write_text(text, encoding='utf-8')
        with ThreadPoolExecutor(len(SEARCHES)) as pool:
            ended = [*pool.map(partial(_search, command, at, seconds, enough), SEARCHES)]
    plans = [[problem.actions[i] for i in plan] for each in ended for plan in each.plans]
    if plans := [plan for plan in plans if problem.is_solved_by(plan)]:
        return min(plans, key=lambda plan: sum(action.cost for action in plan))
    if any(each.code == UNSOLVABLE for each in ended):
        raise NoPlanError('it is proved that no sequence of calls leads there')
    raise NotFoundError(ended[0].why)


@dataclass(frozen=True, slots=True)
class _Ended:
    """How one search has ended."""

    code: int | None
    plans: tuple[list[int], ...] = ()
    """Numbers of actions; the last one may have been cut where the search was ended."""
    why: str = ''


def _search(command: str, at: Path, seconds: int, enough: int, name: str) -> _Ended:
    words = [command, 'domain.pddl', 'problem.pddl', '--search', name, '--output', f'{name}.plan']
    words += ['--threads', '1', '--seed', '0', '--format', 'ipc', '--memory', str(MEMORY_MB)]
    words += ['--target-cost', str(enough)] if enough else []
    limit_s = max(1, seconds) * BUSY + OVER_S
    limited = ['sh', '-c', 'ulimit -t "$0" && exec "$@"', str(max(1, seconds)), *words]
    try:
        ended = subprocess.run(
            [*limited, '--timeout', str(round(limit_s))],
            cwd=at,
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        why = f'{PROGRAM} was waited for {limit_s:.0f} s, and has not ended'
        return _Ended(None, why=why)
    files = sorted(at.glob(f'{name}.plan*'), key=_number)
    if files or ended.returncode == 0:  # without a file, nothing has to be done
        plans = (_numbers(path.read_text(encoding='utf-8')) for path in files)
        return _Ended(ended.returncode, (*plans,) or ([],))
    if ended.returncode in (UNSOLVABLE, *NO_PLAN):
        return _Ended(ended.returncode, why=f'no plan was found in {seconds} s')
    words_of = ' '.join(ended.stderr.split())[-300:]
    why = f'{PROGRAM} ended with the code {ended.returncode}: {words_of}'
    return _Ended(ended.returncode, why=why)


def _number(path: Path) -> int:
    return int(path.suffix[1:]) if path.suffix[1:].isdigit() else 0


def _numbers(text: str) -> list[int]:
    lines = (line.partition(';')[0].strip(' ()\t\r') for line in text.splitlines())
    return [int(line[1:]) for line in lines if line.startswith('a') and line[1:].isdigit()]
