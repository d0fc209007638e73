"""
Summarize results of `trials` by suite and model: `python -m bbllm_robouse.summary RESULTS.jsonl`.

A task that bbllm cannot play counts as not solved. A verdict that its server has not signed is no
result, and is counted beside.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bbllm_bench.log.intervals import wilson

HEAD = (
    '| suite | model | tasks | success (95 %) | refused by type | not signed |\n'
    + '| --- ' * 6
    + '|'
)


def summary(lines: Iterable[Mapping[str, Any]]) -> str:
    """Return a table in Markdown; of several lines of a task and model, the last counts."""
    newest = {(line['model'], line['suite'], line['task']): line for line in lines}
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for (model, suite, _), line in newest.items():
        groups.setdefault((suite, model), []).append(line)
    rows = [HEAD]
    for (suite, model), each in groups.items():
        signed = [line for line in each if line['verdict'] == 'signed']
        n, good = len(signed), sum(bool(line['success']) for line in signed)
        rate = 'none'
        if n:
            low, high = wilson(good, n)
            rate = f'{good / n:.2f} [{low:.2f}, {high:.2f}]'
        refused = sum('refused' in line for line in signed)
        rows.append(f'| {suite} | {model} | {n} | {rate} | {refused} | {len(each) - n} |')
    return '\n'.join(rows)


def main() -> None:
    """Print the table of the files of the command line."""
    lines = [
        json.loads(line)
        for name in sys.argv[1:]
        for line in Path(name).read_text(encoding='utf-8').splitlines()
    ]
    print(summary(lines))


if __name__ == '__main__':
    main()
