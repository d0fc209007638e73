"""Writes goals whose least steps are proven as a suite file, and says what their proofs took."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from bbllm.bench.metrics.task_groups import bin_of
from benchmarks.goals.sampling import CONSTRAINTS, SUITE, Drawing, Sampled

LIMIT_STEPS = 100
"""Calls of an episode; FLTRNN's evaluation ends after so many."""
HARD, MEDIUM = 25, 10
"""Tasks with more least steps than these are hard, or medium."""
HEAD = """\
# {n} goals in {splits} splits, drawn and proven by
# `bbllm bench sample-goals --seed {seed} --each {each}`; do not edit by hand, draw anew.
#
# split: in_distribution (words and houses that the splits share), new_houses (the same words in
# other houses), new_tasks (other words). Of the first two, every tenth is a long one where one
# was found.
# least_steps is the length of the shortest plan there is from this start, by the clean rules
# with the constraint that nothing is put on what can be carried: proven by A*, see
# docs/household.md. start_seed makes that start the same in all trials.
# `say: predicates` in place of `say: sentence` tells planners the predicates themselves.
"""


def suite_text(found: Sequence[Sampled], *, seed: int, each: int) -> str:
    """Return the suite file of goals."""
    splits = list(dict.fromkeys(item.split for item in found))
    lines = [
        HEAD.format(n=len(found), splits=len(splits), seed=seed, each=each).rstrip(),
        f'name: {SUITE}',
        f'description: {len(found)} sampled goals in {len(splits)} splits, each with its least '
        'number of steps.',
        'say: sentence',
        'tasks:',
    ]
    return '\n'.join([*lines, *map(_task, found)]) + '\n'


def timing(drawing: Drawing) -> dict[str, Any]:
    """Return how long searches took, and what was drawn anew."""
    times = sorted(item.search_s for item in drawing.found)
    return {
        'goals': len(drawing.found),
        'search_median_s': round(median(times), 4) if times else None,
        'search_p95_s': round(times[int(0.95 * (len(times) - 1))], 4) if times else None,
        'search_max_s': round(times[-1], 4) if times else None,
        'search_total_s': round(sum(times) + sum(drawing.lost_s), 2),
        'searches_without_proof': len(drawing.lost_s),
        'drawn_anew': dict(drawing.drawn_anew.most_common()),
        'by_split_and_bin': _counts(drawing.found),
    }


def _counts(found: Sequence[Sampled]) -> Mapping[str, Mapping[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for item in sorted(found, key=lambda each: len(each.least.lines)):
        of_split = counts.setdefault(item.split, {})
        name = bin_of(len(item.least.lines))
        of_split[name] = of_split.get(name, 0) + 1
    return counts


def _task(item: Sampled) -> str:
    steps = len(item.least.lines)
    difficulty = 'hard' if steps > HARD else 'medium' if steps > MEDIUM else 'easy'
    conditions = [
        condition.model_dump(by_alias=True, exclude_defaults=True) for condition in item.goal.all
    ]
    constraints = [each.model_dump(exclude_none=True) for each in CONSTRAINTS]
    task = {
        'name': item.name,
        'instruction': item.sentence,
        'difficulty': difficulty,
        'least_loops': 0,
        'limit_steps': LIMIT_STEPS,
        'split': item.split,
        'least_steps': steps,
        'houses': [item.house],
        'start_seed': item.start_seed,
        'constraints': constraints,
        'goal': {'kind': 'household', 'all': conditions},
    }
    # JSON is YAML too; one line a task keeps a file of hundreds readable and quick to read.
    return f'  - {json.dumps(task)}'
