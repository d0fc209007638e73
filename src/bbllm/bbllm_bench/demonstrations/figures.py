"""What a data set of demonstrations has: counts by task, and the page README.md with them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import jinja2

from bbllm.core.types import Status
from bbllm_bench.demonstrations.columns import Played
from bbllm_bench.demonstrations.drawing import LOOPS, MODEL, PLANNER, RANDOM, SUITE, DemoSettings
from bbllm_bench.demonstrations.playing import FPS
from bbllm_bench.report.grid import Grid, grid_of, markdown_of

NOTES = {
    'succeeded': 'succeeded: episodes that the hidden checker passed',
    'failed calls': 'failed calls: calls of skills that were refused or failed on the way',
    'repairs': 'repairs: failed steps that the planner planned anew for (feedback loops)',
    'repaired': 'repaired: episodes with a repair that succeeded',
}
TABLE_AT = 2
"""Line of a grid's Markdown after its heading, which the page has itself."""


def counts_of(played: Played) -> Counter[str]:
    """Return what an episode adds to the counts of a data set."""
    result, calls = played.result, played.demo.calls
    return Counter({
        'episodes': 1,
        'frames': len(played.demo),
        'succeeded': result.passed,
        'failed': not result.passed,
        'calls': len(calls),
        'failed_calls': sum(call.status != Status.SUCCEEDED.name for call in calls),
        'repairs': result.loops,
        'repaired': result.passed and result.loops > 0,
    })  # fmt: skip


@dataclass
class DemoFigures:
    """Counts of a data set as it grows."""

    total: Counter[str] = field(default_factory=Counter)
    """By the words of `counts_of`."""
    tasks: dict[str, Counter[str]] = field(default_factory=dict)
    codes: Counter[str] = field(default_factory=Counter)
    """What went wrong in the calls, by how often."""
    endings: Counter[str] = field(default_factory=Counter)
    left_out: int = 0
    """Episodes that were played, but not kept, as the checker failed them."""
    lost: int = 0
    """Episodes without a table, or that could not be judged."""

    @property
    def episodes(self) -> int:
        return self.total['episodes']

    def add(self, played: Played, *, kept: bool) -> None:
        """Count an episode that was played."""
        if not kept:
            self.left_out += 1
            return
        case = played.spec.case
        name = RANDOM if case.suite == RANDOM else case.task
        for counts in (self.tasks.setdefault(name, Counter()), self.total):
            counts.update(counts_of(played))
        self.codes.update(call.code for call in played.demo.calls if call.code != 'NONE')
        self.endings[played.result.ending] += 1

    def grid(self) -> Grid:
        rows = [_row(name, counts) for name, counts in self.tasks.items()]
        return grid_of('', rows, [_row('all', self.total)], NOTES)

    def as_json(self) -> Mapping[str, object]:
        return {
            **self.total,
            'left_out': self.left_out,
            'lost': self.lost,
            'codes': dict(self.codes.most_common()),
            'endings': dict(self.endings.most_common()),
            'tasks': self.tasks,
        }


def _row(task: str, counts: Counter[str]) -> dict[str, str]:
    shown = {name.replace('_', ' '): f'{count:,}' for name, count in counts.items()}
    return {'task': task, **shown, 'minutes': f'{counts["frames"] / FPS / 60:.1f}'}


def card_page(settings: DemoSettings, figures: DemoFigures) -> str:
    """Return README.md; the same for equal settings, so that whole data sets can be compared."""
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader('bbllm_bench.demonstrations', ''),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # the output is Markdown
    )
    return templates.get_template('card.md.j2').render(
        settings=settings,
        figures=figures,
        table='\n'.join(markdown_of(figures.grid())[TABLE_AT:]),
        fps=FPS,
        planner=PLANNER,
        model=MODEL,
        loops=LOOPS,
        suite=SUITE,
    )
