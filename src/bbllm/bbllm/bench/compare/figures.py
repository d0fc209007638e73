"""
What the runs of several planners on the same cases come to: the content of `compare.json`.

Each planner is counted at its largest K. Figures that depend on cases (success, goal conditions,
executable steps, faithfulness, calls, tokens) have 95 % intervals; so have the differences from
the first planner, over the pairs of cases that both played. Where several planners are held
against one, some difference looks real by chance: `holm_p` is what is left of McNemar's p after
the correction of S. Holm (Scandinavian Journal of Statistics 6 (1979) 65-70).

Tokens are those that servers counted, and an estimate of the prompts' where one did not count
(core.prompt_size).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import linear_regression
from typing import Any

from bbllm.bench.log.intervals import Estimate, mean_of
from bbllm.bench.log.results import EpisodeResult
from bbllm.bench.log.saved_run import SavedRun
from bbllm.bench.metrics.metrics import figures_of
from bbllm.bench.metrics.pairs import compare, ks_of, pair_up
from bbllm.bench.metrics.suite_parts import parts_of
from bbllm.bench.report.summary import comparison_values, estimate_values, figures_values, rounded
from bbllm.bench.suites.task_spec import TaskSpec

SHARED = ('suite', 'suite_sha256', 'world', 'brain', 'seed', 'trials', 'limits')
"""What is the same for all."""
PART_FIGURES = ('n', 'passed', 'sr', 'sr_low', 'sr_high', 'gcr', 'gcr_low', 'gcr_high')


@dataclass(frozen=True, slots=True)
class Entry:
    """The run of one planner."""

    planner: str
    run: SavedRun
    per_minute: float | None
    """Episodes a minute, over all sessions of its run."""

    @property
    def k(self) -> int:
        """The largest number of feedback loops that it was played with."""
        return ks_of(self.run.results)[-1]

    @property
    def results(self) -> tuple[EpisodeResult, ...]:
        """Its episodes with that number."""
        return tuple(result for result in self.run.results if result.key.k == self.k)


def comparison_of(
    entries: Sequence[Entry], tasks: Sequence[TaskSpec], *, against: str
) -> dict[str, Any]:
    """
    Return the comparison as plain values.

    Args:
        entries: Runs with at least one result each.
        tasks: Those of the suite.
        against: The planner that the others are held against; none are while it has no result.
    """
    settings = entries[0].run.settings
    first = next((entry for entry in entries if entry.planner == against), None)
    played = {result.key.task for entry in entries for result in entry.results}
    paired = [_paired(entry, first) for entry in entries if first and entry is not first]
    # A verdict by no pair at all is no test, and must not cost the others anything.
    tested = [pair for pair in paired if pair['pairs'] > pair['lost_pairs']]
    for pair, p in zip(tested, holm([pair['mcnemar_p'] for pair in tested]), strict=True):
        pair['holm_p'] = rounded(p)
    return {
        **{name: settings.get(name) for name in SHARED},
        'own_limits': any(task.limit_steps for task in tasks if task.name in played),
        'against': against,
        'planners': [_row(entry) for entry in entries],
        'paired': paired,
        'parts': {
            by: {name: _part(entries, names) for name, names in parts.items()}
            for by, parts in parts_of(task for task in tasks if task.name in played).items()
        },
    }


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p values that are corrected for their number, in the order given."""
    n = len(p_values)
    order = sorted(range(n), key=lambda i: p_values[i])
    raised = (min(1.0, (n - rank) * p_values[i]) for rank, i in enumerate(order))
    corrected = dict(zip(order, accumulate(raised, max), strict=True))
    return tuple(corrected[i] for i in range(n))


def tokens_of_step(result: EpisodeResult) -> float | None:
    """Return the tokens of all prompts of an episode by its steps; None where there was none."""
    steps = result.attempted
    return max(result.prompt_tokens, result.sent_tokens) / steps if steps else None


def growth_of(result: EpisodeResult) -> float | None:
    """
    Return by how many tokens a prompt of the Brain grows with each step that is done.

    That is the slope of the line of least squares, below 0 where later prompts are of a shorter
    kind; None where prompts came at fewer than three moments, of which each line seems straight.
    """
    steps = [done for done, _ in result.prompt_growth]
    tokens = [size for _, size in result.prompt_growth]
    return linear_regression(steps, tokens).slope if len(set(steps)) > 2 else None


def stable_share(result: EpisodeResult) -> float | None:
    """Return which share of the prompts began an earlier one too; None of a single prompt."""
    if result.model_calls < 2 or not result.prompt_chars:
        return None
    return result.stable_chars / result.prompt_chars


MEANS: Mapping[str, Callable[[EpisodeResult], float | None]] = {
    'calls': lambda result: result.model_calls,
    'tokens': lambda result: result.tokens,
    'steps': lambda result: result.attempted,
    'step_tokens': tokens_of_step,
    'stable_share': stable_share,
    'growth': growth_of,
}
"""Means over the episodes that were not lost and have such a figure."""


def _row(entry: Entry) -> dict[str, Any]:
    results, settings = entry.results, entry.run.settings
    values: dict[str, Any] = {
        'planner': entry.planner,
        'folder': str(entry.run.path),
        'k': entry.k,
    }
    values |= {name: settings.get(name) for name in ('body', 'mapping')}
    values |= figures_values(figures_of(results))
    judged = [result for result in results if not result.lost]
    for name, measure in MEANS.items():
        values |= estimate_values(name, _mean(map(measure, judged)))
    values['planned'] = len(settings.get('tasks', ())) * settings.get('trials', 0)
    values['tokens_estimated'] = any(r.sent_tokens > r.prompt_tokens for r in results)
    values['episodes_per_minute'] = entry.per_minute
    return values


def _mean(values: Iterable[float | None]) -> Estimate:
    return mean_of(value for value in values if value is not None)


def _paired(entry: Entry, first: Entry) -> dict[str, Any]:
    pairing = pair_up(entry.results, first.results, k_a=entry.k, k_b=first.k)
    return {'planner': entry.planner, **comparison_values(compare(pairing, times=False))}


def _part(entries: Sequence[Entry], tasks: frozenset[str]) -> dict[str, Any]:
    """Return the figures of a part of the suite by planner."""
    found = {}
    for entry in entries:
        group = [result for result in entry.results if result.key.task in tasks]
        values = figures_values(figures_of(group))
        found[entry.planner] = {name: values[name] for name in PART_FIGURES}
    return found
