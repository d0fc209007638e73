"""
A suite of your own: tasks with goals in a file, and scores of planners on them.

    python examples/own_suite.py [MODEL] [PLANNER ...]

The file own_suite.yaml has the tasks. The bench plays each on tables made from a seed, in
processes of its own, and judges where objects came to rest, by checkers that no planner sees.
Without MODEL, the rule-based `offline` plans, so the scores test the suite and not a planner.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bbllm import errors, load_planner, load_suite

SUITE = Path(__file__).with_suffix('.yaml')
TRIALS = 2


def play(planner: str, model: str, folder: Path) -> dict[str, Any]:
    """Play the suite by the command line, and return the summary that it writes."""
    command = [sys.executable, '-m', 'bbllm', 'bench', str(SUITE), '--planner', planner]
    command += ['--brain', model, '--body', model, '--trials', str(TRIALS), '--seed', '7']
    command += ['--out', str(folder), '--json']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def main(model: str = 'offline', *planners: str) -> int:
    """Check the suite, then score each planner on it."""
    # A mistake in the file is an error that names the task, the field and what would do.
    try:
        suite = load_suite(SUITE)
    except errors.ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    print(f'{suite.name}: {suite.description}')
    for task in suite.tasks:
        print(f'  {task.name} ({task.difficulty}): {task.instruction}')

    with tempfile.TemporaryDirectory() as folder:
        for planner in planners or ('brain_body', 'base_llm'):
            # A planner of this name must be installed and play on tables.
            if 'tabletop' not in load_planner(planner).domains:
                print(f'{planner} plays in houses only')
                continue
            path = Path(folder) / planner.replace(':', '_')
            summary = play(planner, model, path)
            # The same folder has results.jsonl, a journal of each episode, and report.html.
            for group in summary['by_k']:
                rate = group['metrics']['sr']
                low, high = rate['low'], rate['high']
                print(
                    f'{planner}, K = {group["k"]}: success {rate["value"]:.2f} '
                    f'[{low:.2f}, {high:.2f}] of {rate["n"]} episodes'
                )
            print(f'  files: {", ".join(sorted(item.name for item in path.iterdir()))}')
    return 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
