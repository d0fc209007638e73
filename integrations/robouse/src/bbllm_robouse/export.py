"""Write tasks of our tables as folders of Robo Use: `python -m bbllm_robouse.export FOLDER`."""

import sys
from collections.abc import Mapping
from pathlib import Path

import yaml

from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.suite import load_suite

TASKS = {
    'tabletop': (
        'right_side', 'letter_l', 'color_line', 'pairs_a_side', 'red_triangle', 'plus_sign',
        'segregate',
    ),
    'tabletop_hard': (
        'towers', 'retrieve_one', 'retrieve_two', 'retrieve_three', 'insert_three',
    ),
}  # fmt: skip
"""Twelve tasks, by suite."""
SEED = 1711
"""The seed of the recorded runs of bbllm."""
MOST_CALLS = 60
READY_S = 900
"""How long a puzzle may be drawn before its episode begins, on a busy machine [s]."""
TEXT = """
# {name}

A Franka Research 3 with a parallel gripper stands at a table. You move it by named skills alone.

**Goal:** {goal}

## How to control the robot

```
robo info                      # skills with their parameters, step budget
robo observe                   # objects, relations between them, what the hand holds
robo observe --image           # also saves a picture of the table
robo skill pick NAME           # a call is one step of the budget
robo skill place TARGET        # a location, an object, or "x y z" [m]
robo done "short summary"      # ends the episode, which is then judged
robo give-up "reason"
```

Positions are in metres, x away from the robot, y to its left, z up. A call that fails or is
refused answers with a status, a code and a sentence. Each call is asked for approval before
anything moves, and is refused where a rule of the safety envelope or of the task forbids it. There
is no other way to move the robot; the table itself is judged once everything rests.
"""
VERIFIER = """#!/bin/bash
# The episode server has judged the table; this copies its verdict.
set -euo pipefail
python3 - "$ROBOUSE_EPISODE_DIR/result.json" "$ROBOUSE_VERIFIER_DIR/reward.txt" <<'END'
import json, sys
verdict = json.load(open(sys.argv[1]))
open(sys.argv[2], 'w').write('1' if verdict.get('success') else '0')
END
"""
SOLUTION = """#!/bin/bash
# Calls the solution that search has found for this puzzle; other tasks have none.
set -euo pipefail
python -m bbllm_robouse.reference
"""


def export(folder: Path) -> list[Path]:
    """Write the tasks, each into a folder of its own, and return these."""
    written: list[Path] = []
    for suite, names in TASKS.items():
        for name in names:
            case = make_case(load_suite(suite), name, seed=SEED, trial=0)
            front = {
                'schema_version': '1.3',
                'task': {'name': f'bbllm/{suite}-{name}', 'description': name},
                'metadata': {'source_benchmark': 'bbllm', 'suite': f'bbllm-{suite}'},
                'agent': {'timeout_sec': 1800},
                'verifier': {'timeout_sec': 120},
                'robouse': {
                    'id': f'bbllm-{suite}-{name}',
                    'backend': 'bbllm_table',
                    'suite': suite,
                    'case': name,
                    'seed': SEED,
                    'approval': 'program',
                    'max_steps': MOST_CALLS,
                    'ready_timeout_s': READY_S,
                },
            }
            place = folder / f'bbllm-{suite}' / name
            text = TEXT.format(name=name, goal=' '.join(case.instruction.split()))
            write_task(place, front, text, solution=SOLUTION)
            written.append(place)
    return written


def write_task(place: Path, front: Mapping[str, object], text: str, *, solution: str = '') -> None:
    """Write a task into its folder: what the runner reads, the text of agents, and the scripts."""
    head = yaml.safe_dump(dict(front), sort_keys=False)
    parts = {'task.md': f'---\n{head}---\n{text}', 'verifier/test.sh': VERIFIER}
    if solution:
        parts['oracle/solve.sh'] = solution
    for path, content in parts.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(content, encoding='utf-8')


def main() -> None:
    """Write the tasks into the folder of the command line."""
    for place in export(Path(sys.argv[1])):
        print(place)


if __name__ == '__main__':
    main()
