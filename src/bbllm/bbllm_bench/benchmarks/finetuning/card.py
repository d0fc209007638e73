"""The card of a data set: what it contains, where it comes from, and what was refused and why."""

import shlex
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import jinja2

from bbllm_bench.benchmarks.finetuning.collected import Collected
from bbllm_bench.benchmarks.finetuning.collecting import BRAIN, K
from bbllm_bench.benchmarks.finetuning.folder import Begun
from bbllm_bench.benchmarks.finetuning.pairs import Pair
from bbllm_bench.benchmarks.finetuning.reading import read_pair
from bbllm_bench.benchmarks.finetuning.tasks import DataTask, starred_share
from bbllm_bench.log.versions import describe_machine, find_versions

NOTICE = (
    'The answers are those of `expert`, a deterministic stand-in that receives the goal of each '
    'task, and no language model. The observations are measured in the simulator, with its '
    'noise; none is made up.'
)
FRAMES = (
    'Poses are x y z qx qy qz qw in the frame of the robot base, in metres; that of `place` and '
    '`reach` is of the tool centre point, not of the block; forces are in newtons, in the same '
    'axes, with an offset that stays the same in an episode.'
)


def make_card(
    begun: Begun, tasks: Sequence[DataTask], found: Collected, wall_s: float
) -> dict[str, Any]:
    """Return the card of a data set on which was worked for some time, as JSON values."""
    used = [task for task in tasks if task.name in found.tables]
    return {
        'command': shlex.join(['bbllm', *sys.argv[1:]]),
        'made': time.strftime('%Y-%m-%d %H:%M %Z'),
        'seed': begun.settings.seed,
        'planner': begun.settings.planner,
        'wordings': begun.wordings,
        'wordings_refused': dict(begun.refused),
        'wall_s': round(wall_s, 1),
        'versions': find_versions(),
        'machine': describe_machine(),
        'notice': NOTICE,
        'frames': FRAMES,
        'brain': BRAIN,
        'k': K,
        'pairs': len(found.pairs),
        'pairs_of_starred_tasks': sum(pair.task.endswith('*') for pair in found.pairs),
        'pairs_by_question': dict(Counter(map(_question, found.pairs)).most_common()),
        'pairs_by_tag': dict(_tags(found.pairs)),
        'exchanges': found.seen,
        'refused': found.refused.total(),
        'refused_share': round(found.refused_share, 4),
        'refused_by_rule': dict(found.refused.most_common()),
        'refused_examples': dict(found.examples),
        'episodes': found.episodes,
        'episodes_by_ending': dict(found.endings.most_common()),
        'ended_early': found.reason,
        'tables_of_a_task': {
            'least': min(found.tables.values(), default=0),
            'most': max(found.tables.values(), default=0),
        },
        'tasks': [str(task) for task in used],
        'starred_share': round(starred_share(used), 4) if used else 0.0,
    }


def card_page(card: Mapping[str, Any]) -> str:
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader('bbllm_bench.benchmarks.finetuning', ''),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # the output is Markdown
    )
    templates.globals['counts'] = _counts
    return templates.get_template('card.md.j2').render(card)


def _question(pair: Pair) -> str:
    return read_pair(pair).question.name.lower()


def _tags(pairs: Sequence[Pair]) -> Counter[str]:
    tags: Counter[str] = Counter()
    for pair in pairs:
        found = [tag for tag in ('<weight>', '<move>', '<three>') if tag in pair.task]
        tags.update(found or ['none'])
    return tags


def _counts(values: Mapping[str, object]) -> str:
    return ', '.join(f'{name} {value}' for name, value in values.items()) or 'none'
