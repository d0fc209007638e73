"""
What a run comes to: the content of `summary.json`, and the last line on the terminal.

Apart from `episodes_per_minute` and `timing` a summary is a pure function of settings and
results and does not depend on their order, so that a run which was killed and resumed gives the
same one. Floats are rounded to six digits after the point: what lies behind is rounding noise.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from bbllm.bench.log.intervals import Estimate
from bbllm.bench.log.prices import asked_model
from bbllm.bench.log.results import EpisodeResult
from bbllm.bench.metrics.metrics import Figures, figures_of
from bbllm.bench.metrics.pairs import Comparison, Difference, compare, ks_of, pair_up
from bbllm.bench.metrics.task_groups import groups_of
from bbllm.bench.scorers.session_history import earlier_lines
from bbllm.bench.stand_ins import notices_about
from bbllm.llm.expert.brief import TOLD

DIGITS = 6
NAMES = ('suite', 'planner', 'brain', 'body', 'mapping', 'world', 'seed', 'trials')
"""What a summary repeats of the settings."""


def summarize_run(
    settings: Mapping[str, Any],
    results: Sequence[EpisodeResult],
    sessions: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """
    Return the summary of a run as plain values.

    The figures at the top are those of the largest K; `by_k` has them for every K.

    Args:
        settings: What `settings.json` holds.
        results: What `results.jsonl` holds, in any order; also of a run that is not through.
        sessions: One entry for each time the program ran: started_s, ended_s, episodes.

    Raises:
        ValueError: An episode is there twice.
    """
    results = sorted(results, key=lambda result: result.key)
    _refuse_doubles(results)
    ks = sorted({*settings.get('ks', ()), *ks_of(results)})
    by_k = [{'k': k, **_figures_of_k(settings, results, k)} for k in ks]
    top = by_k[-1] if by_k else {'k': None, **_figures_of_k(settings, results, None)}
    models = _models(results)
    return {
        **{name: settings.get(name) for name in NAMES},
        'notices': notices_about(TOLD, settings, models),
        **top,
        'planned': len(settings.get('tasks', ())) * settings.get('trials', 0) * len(ks),
        'played': len(results),
        'models': models,
        'currency': _price_table(settings).get('currency'),
        'unpriced_models': _unpriced(results, settings),
        'earlier': earlier_lines(results, _price_table(settings).get('currency') or ''),
        'by_k': by_k,
        'paired': [_paired(results, *two) for two in zip(ks[1:], ks, strict=False)],
        'episodes_per_minute': _per_minute(sessions),
        'timing': _timing(results, sessions, ks),
    }


def closing_line(summary: Mapping[str, Any]) -> str:
    """Return the last line that a run prints; programs read it."""
    sr = f'{_two_digits(summary["sr"])} {interval_text(summary["sr_low"], summary["sr_high"])}'
    return (
        f'{summary["suite"]} planner={summary["planner"]} brain={summary["brain"]} '
        f'SR={sr.rstrip()} GCR={_two_digits(summary["gcr"])} EXEC={_two_digits(summary["exec"])} '
        f'{_knowing_part(summary)}n={summary["n"]}'
    )


def _knowing_part(summary: Mapping[str, Any]) -> str:
    """
    Return both kinds of success where something had to be found out, else ''.

    Over the episodes that need something alone: who guesses has there about one half, and nothing.
    """
    if not summary.get('needing'):
        return ''
    rates = ' '.join(
        f'{name}={_two_digits(summary[key])} '
        f'{interval_text(summary[f"{key}_low"], summary[f"{key}_high"])}'
        for name, key in (('STATE', 'needing_sr'), ('INFORMED', 'needing_informed'))
    )
    return f'{rates} needing={summary["needing"]} '


def interval_text(low: float | None, high: float | None) -> str:
    """Return `[lo, hi]`, '' where there is none."""
    if low is None or high is None:
        return ''
    return f'[{low:.2f}, {high:.2f}]'


def comparison_values(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as plain values, for summary.json and `bbllm bench diff --json`."""
    pairing = comparison.pairing
    return {
        'k_a': pairing.k_a,
        'k_b': pairing.k_b,
        'pairs': len(pairing.pairs),
        'lost_pairs': comparison.lost_pairs,
        'lost_a': comparison.lost_a,
        'lost_b': comparison.lost_b,
        'verdict': comparison.verdict,
        'unpaired': {
            'other_case': _cases(pairing.other_case),
            'only_a': _cases(pairing.only_a),
            'only_b': _cases(pairing.only_b),
        },
        'mcnemar_p': rounded(comparison.mcnemar_p),
        'only_a_passed': _cases(comparison.only_a_passed),
        'only_b_passed': _cases(comparison.only_b_passed),
        'other_needs': _cases(comparison.other_needs),
        'differences': {item.measure: _difference(item) for item in comparison.differences},
    }


def _figures_of_k(
    settings: Mapping[str, Any], results: Sequence[EpisodeResult], k: int | None
) -> dict[str, Any]:
    """Return the figures of one K, over everything and by task."""
    group = [result for result in results if result.key.k == k]
    tasks = settings.get('tasks', ())
    planned = {task['name']: task for task in tasks}
    unplanned = sorted({result.key.task for result in results} - planned.keys())
    rows = []
    for name in (*planned, *unplanned):
        task = planned.get(name, {})
        of_task = [result for result in group if result.key.task == name]
        head = {key: task.get(key) for key in ('label', 'instruction', 'difficulty')}
        values = figures_values(figures_of(of_task))
        # What the suite demands is known also of a task that was not played yet.
        values['least_loops'] = task.get('least_loops', values['least_loops'])
        rows.append({'task': name, 'name': name, **head, **values})
    groups = [
        {'by': by, 'name': name, 'n_tasks': n, **figures_values(figures_of(members))}
        for by, name, n, members in groups_of(tasks, group)
    ]
    whole = {**figures_values(figures_of(group)), 'tasks': rows}
    return {**whole, 'groups': groups} if groups else whole


def figures_values(figures: Figures) -> dict[str, Any]:
    """Return figures as plain values, each estimate with its interval."""
    values: dict[str, Any] = {}
    for name, value in asdict(figures).items():
        estimate = getattr(figures, name)
        values.update(estimate_values(name, estimate) if isinstance(estimate, Estimate) else {})
        if not isinstance(estimate, Estimate):
            values[name] = rounded(value) if isinstance(value, float) else value
    ran = figures.n - figures.infrastructure_failures
    values['ran'] = rounded(ran / figures.n) if figures.n else None
    return values


def estimate_values(name: str, estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as plain values, under a name."""
    return {
        name: rounded(estimate.value),
        f'{name}_low': rounded(estimate.low),
        f'{name}_high': rounded(estimate.high),
        f'{name}_n': estimate.n,
    }


def _difference(item: Difference) -> dict[str, Any]:
    return {
        'a': rounded(item.a),
        'b': rounded(item.b),
        'difference': rounded(item.difference.value),
        'low': rounded(item.difference.low),
        'high': rounded(item.difference.high),
        'n': item.difference.n,
        'better': item.winner,
        'certain': item.certain,
        'p': rounded(item.p),
    }


def _paired(results: Sequence[EpisodeResult], k_a: int, k_b: int) -> dict[str, Any]:
    """Return what the larger of two K adds; wall times would differ with every run."""
    return comparison_values(compare(pair_up(results, results, k_a=k_a, k_b=k_b), times=False))


def _models(results: Iterable[EpisodeResult]) -> dict[str, list[str]]:
    """Return all names that servers gave themselves, by role."""
    names: dict[str, set[str]] = {}
    for result in results:
        for role, listed in result.models.items():
            names.setdefault(role, set()).update(listed.split(', '))
    return {role: sorted(names[role]) for role in sorted(names)}


def _price_table(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the table as bench.prices has it, empty where there is none."""
    return settings.get('prices') or {}


def _unpriced(results: Sequence[EpisodeResult], settings: Mapping[str, Any]) -> list[str]:
    """Name the models whose cost is not known although there is a price table."""
    known = _price_table(settings).get('models', {})
    asked = {role: asked_model(settings.get(role) or '') for role in ('brain', 'body')}
    missing = {
        name
        for result in results
        if known and result.cost is None
        for role, listed in result.models.items()
        for name in listed.split(', ')
        if name not in known and asked.get(role) not in known
    }
    return sorted(missing)


def _per_minute(sessions: Sequence[Mapping[str, Any]]) -> float | None:
    wall_s = _wall_s(sessions)
    episodes = sum(session.get('episodes', 0) for session in sessions if _closed(session))
    return round(60 * episodes / wall_s, 2) if wall_s else None


def _timing(
    results: Sequence[EpisodeResult], sessions: Sequence[Mapping[str, Any]], ks: Sequence[int]
) -> dict[str, Any]:
    """Return everything that the wall clock says; a second run would give other figures."""
    return {
        'wall_s': round(_wall_s(sessions), 3),
        'sessions': len(sessions),
        **_times(results),
        'by_k': [
            {'k': k, **_times([result for result in results if result.key.k == k])} for k in ks
        ],
    }


def _times(results: Sequence[EpisodeResult]) -> dict[str, float]:
    return {
        'episode_s': round(math.fsum(result.wall_s for result in results), 3),
        'model_s': round(math.fsum(result.model_s for result in results), 3),
    }


def _wall_s(sessions: Sequence[Mapping[str, Any]]) -> float:
    return math.fsum(
        max(0.0, session['ended_s'] - session['started_s'])
        for session in sessions
        if _closed(session)
    )


def _closed(session: Mapping[str, Any]) -> bool:
    # A session that was killed may not have said when it ended.
    return session.get('ended_s') is not None and session.get('started_s') is not None


def _refuse_doubles(results: Sequence[EpisodeResult]) -> None:
    counts = Counter(result.key for result in results)
    doubles = sorted(key.name for key, count in counts.items() if count > 1)
    if doubles:
        raise ValueError(
            f'A run holds each episode once, but these are there twice: {", ".join(doubles)}.'
        )


def _cases(cases: Iterable[tuple[str, int]]) -> list[dict[str, Any]]:
    return [{'task': task, 'trial': trial} for task, trial in cases]


def rounded(value: float | None) -> float | None:
    """Return a figure without its rounding noise."""
    # `+ 0.0` makes the same zero of both zeros.
    return None if value is None else round(value, DIGITS) + 0.0


def _two_digits(value: float | None) -> str:
    return 'none' if value is None else f'{value:.2f}'
