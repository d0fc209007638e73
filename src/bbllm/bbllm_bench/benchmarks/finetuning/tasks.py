"""
The tasks of a data set: kinds in turn, each with a sentence of its own, as a suite to be played.

LLM-POP, section 4.2, has a model make up tasks. Here kinds and goals are fixed, so that what is
played can be judged; what a model may make up is how people would say them (paraphrases).
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bbllm.core.errors import ConfigError
from bbllm_bench.benchmarks.finetuning.kinds import KINDS, Kind
from bbllm_bench.suites.suite import Suite, TaskSpec

SUITE = 'data'
"""Name of the suite; with the tasks' names and the seed it makes the tables."""
STARRED_LEAST = 0.3
"""Least share of tasks that need to find something out; LLM-POP, appendix A.3."""
TABLES_OF_A_TASK = 3
PAIRS_OF_AN_EPISODE = 4
"""More than an episode gives on average: two questions, or four with finding out (and more)."""
MASS_KG = (0.05, 0.2)
MASS_RATIO = 1.5
AREA = (0.40, 0.60, -0.20, 0.20)
"""Where blocks stand at first: least x, greatest x, least y, greatest y [m]."""
SPACING_M = 0.12
TABLES: tuple[tuple[tuple[float, float], tuple[float, float]], ...] = (
    ((0.5, 0.0), (0.36, 0.60)),
    ((0.5, 0.0), (0.30, 0.52)),
    ((0.48, 0.02), (0.34, 0.56)),
)
"""Middle and size of the tables, in turn; the hand can come down on all their corners [m]."""


@dataclass(frozen=True, slots=True)
class DataTask:
    """One task."""

    name: str
    kind: Kind
    instruction: str

    def __str__(self) -> str:
        star = '*' if self.kind.starred else ''
        return f'{"".join(self.kind.tags)} {self.instruction}{star}'.strip()


def default_count(pairs: int) -> int:
    """
    Return of how many tasks so many pairs are: each of them is played on several tables.

    LLM-POP, appendix A.4, item 9, starts each task from other states at least twice. One of each
    kind is the least, so that a few pairs are of fewer tables.
    """
    return min(max(len(KINDS), pairs // (TABLES_OF_A_TASK * PAIRS_OF_AN_EPISODE)), count_tasks())


def count_tasks(more: Mapping[str, Sequence[str]] | None = None) -> int:
    """Return how many different tasks there are; `more` as for `generate_tasks`."""
    return len(_turns(random.Random(0), more))


def check_count(count: int, seed: int, *, asked: int = 0) -> None:
    """
    Check a number of tasks, before a model is *asked* for so many sentences.

    Raises:
        ConfigError: There cannot be as many, or too few of them need to find something out.
    """
    own = count_tasks()
    if count > own + asked:
        model = f', and a model is asked for {asked} more' if asked else ''
        way = '' if asked else '; or name a model that makes up more sentences: --brain MODEL'
        raise ConfigError(
            f'There are {own} different tasks{model}, but {count} are wanted. Ask for '
            f'{own + asked} or fewer (--tasks {own + asked}){way}.'
        )
    generate_tasks(min(count, own), seed)


def generate_tasks(
    count: int, seed: int, *, more: Mapping[str, Sequence[str]] | None = None
) -> tuple[DataTask, ...]:
    """
    Return tasks, no two of which say the same; sentences of *more*, by kind, come first.

    Raises:
        ConfigError: There are not as many, or too few of them need to find something out.
    """
    turns = _turns(random.Random(f'{SUITE}/{seed}'), more)
    if count > len(turns):
        raise ConfigError(
            f'There are {len(turns)} different tasks, but {count} are wanted. Ask for '
            f'{len(turns)} or fewer (--tasks {len(turns)}).'
        )
    names = [f'{kind.name}_{i:03d}' for i, (kind, _) in enumerate(turns)]
    tasks = [
        DataTask(name, kind, sentence)
        for name, (kind, sentence) in zip(names[:count], turns, strict=False)
    ]
    share = starred_share(tasks)
    if share < STARRED_LEAST:
        raise ConfigError(
            f'Only {share:.0%} of {count} tasks need to find something out, but '
            f'{STARRED_LEAST:.0%} have to; {len(KINDS)} tasks or more would do.'
        )
    return tuple(tasks)


def _turns(
    dice: random.Random, more: Mapping[str, Sequence[str]] | None
) -> list[tuple[Kind, str]]:
    """Return all kinds in turn, each time with another sentence, as long as it has one."""
    known: set[str] = set()
    rows = []
    for kind in KINDS:
        own = list(kind.sentences)
        dice.shuffle(own)
        new = [s for s in [*(more or {}).get(kind.name, ()), *own] if fresh(s, kind, known)]
        rows.append([(kind, sentence) for sentence in new])
    most = max(len(row) for row in rows)
    return [row[i] for i in range(most) for row in rows if i < len(row)]


def fresh(sentence: str, kind: Kind, known: set[str]) -> bool:
    """Return whether a sentence is new for its number of blocks, and know it from now on."""
    key = f'{kind.blocks} {" ".join(re.findall(r"[a-z]+", sentence.lower()))}'
    if key in known:
        return False
    known.add(key)
    return True


def starred_share(tasks: Sequence[DataTask]) -> float:
    return sum(task.kind.starred for task in tasks) / len(tasks)


def suite_of(tasks: Sequence[DataTask]) -> Suite:
    specs = tuple(_spec(task, TABLES[i % len(TABLES)]) for i, task in enumerate(tasks))
    return Suite(name=SUITE, description='Tasks of a data set.', tasks=specs)


def _spec(task: DataTask, table: tuple[tuple[float, float], tuple[float, float]]) -> TaskSpec:
    kind = task.kind
    blocks: dict[str, object] = {
        'kind': 'cube',
        'count': kind.blocks,
        'area': AREA,
        'mass': MASS_KG,
        'fixed': kind.fixed,
    }
    if kind.differ:
        blocks['mass_ratio'] = MASS_RATIO
    return TaskSpec.model_validate(
        {
            'name': task.name,
            'instruction': task.instruction,
            'difficulty': 'medium' if kind.starred else 'easy',
            'least_loops': int(kind.starred),
            'goal': kind.goal,
            'needs': kind.needs,
            'generate': {
                'objects': [blocks],
                'spacing_m': SPACING_M,
                'table': {'xy': table[0], 'size': table[1]},
            },
        }
    )
