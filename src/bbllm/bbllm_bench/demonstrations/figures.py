"""What a data set of demonstrations has: episodes, frames, failures and repairs, by task."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from bbllm.core.types import Status
from bbllm_bench.demonstrations.columns import Played
from bbllm_bench.demonstrations.drawing import RANDOM
from bbllm_bench.demonstrations.playing import FPS
from bbllm_bench.report.grid import Grid, grid_of

NOTES = {
    'succeeded': 'succeeded: episodes that the hidden checker passed',
    'failed calls': 'failed calls: calls of skills that were refused or failed on the way',
    'repairs': 'repairs: failed steps that the planner planned anew for (feedback loops)',
    'repaired': 'repaired: episodes with a repair that succeeded',
}


@dataclass
class TaskCounts:
    """The episodes of one task."""

    episodes: int = 0
    frames: int = 0
    succeeded: int = 0
    failed: int = 0
    calls: int = 0
    failed_calls: int = 0
    repairs: int = 0
    repaired: int = 0

    def add(self, played: Played) -> None:
        result, calls = played.result, played.demo.calls
        self.episodes += 1
        self.frames += len(played.demo)
        self.succeeded += result.passed
        self.failed += not result.passed
        self.calls += len(calls)
        self.failed_calls += sum(call.status != Status.SUCCEEDED.name for call in calls)
        self.repairs += result.loops
        self.repaired += result.passed and result.loops > 0

    def shown(self, name: str) -> dict[str, str]:
        counts = {key.replace('_', ' '): f'{count:,}' for key, count in asdict(self).items()}
        return {'task': name, **counts, 'minutes': f'{self.frames / FPS / 60:.1f}'}


@dataclass
class DemoFigures:
    """Counts of a data set as it grows."""

    rows: dict[str, TaskCounts] = field(default_factory=dict)
    total: TaskCounts = field(default_factory=TaskCounts)
    codes: Counter[str] = field(default_factory=Counter)
    """What went wrong in the calls, by how often."""
    endings: Counter[str] = field(default_factory=Counter)
    left_out: int = 0
    """Episodes that were played, but not kept, as the checker failed them."""
    lost: int = 0
    """Episodes without a table, or that could not be judged."""

    @property
    def episodes(self) -> int:
        return self.total.episodes

    def add(self, played: Played, *, kept: bool) -> None:
        """Count an episode that was played."""
        if not kept:
            self.left_out += 1
            return
        case = played.spec.case
        name = RANDOM if case.suite == RANDOM else case.task
        for row in (self.rows.setdefault(name, TaskCounts()), self.total):
            row.add(played)
        self.codes += Counter(call.code for call in played.demo.calls if call.code != 'NONE')
        self.endings[played.result.ending] += 1

    def grid(self) -> Grid:
        rows = [row.shown(name) for name, row in self.rows.items()]
        return grid_of('', rows, [self.total.shown('all')], NOTES)

    def as_json(self) -> Mapping[str, object]:
        return {
            **asdict(self.total),
            'left_out': self.left_out,
            'lost': self.lost,
            'codes': dict(self.codes.most_common()),
            'endings': dict(self.endings.most_common()),
            'tasks': {name: asdict(row) for name, row in self.rows.items()},
        }
