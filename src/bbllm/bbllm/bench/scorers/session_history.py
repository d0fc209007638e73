"""The episodes of a session before the judged one: what they took, and when they lose it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from bbllm.bench.log.episodes import EpisodeSpec
from bbllm.bench.log.prices import cost_of
from bbllm.bench.log.results import Earlier, EpisodeResult
from bbllm.bench.scorers.scoring import fault_of, lost
from bbllm.core.events import Episode


def with_earlier(
    result: EpisodeResult, job: EpisodeSpec, episodes: Sequence[Episode]
) -> EpisodeResult:
    """Return a result with the cost of the episodes before; the same if there are none."""
    return replace(result, earlier=_taken(job, episodes)) if episodes else result


def lost_before(job: EpisodeSpec, episodes: Sequence[Episode]) -> EpisodeResult | None:
    """
    Return the result of an episode that cannot be played as its case wants; None if it can.

    Where a model or a world failed before it, less was found out than by who plays it whole.

    Args:
        job: What was to be played.
        episodes: Those before it that were played, in their order.
    """
    for i, episode in enumerate(episodes):
        reason, error = fault_of(episode)
        if reason:
            told = f'Episode {i + 1} of the {len(job.case.earlier)} before this one: {reason}'
            least = job.case.least_loops
            result = lost(job.key, told, error, least_loops=least, case=job.case)
            return with_earlier(result, job, episodes)
    return None


def earlier_lines(results: Iterable[EpisodeResult], currency: str) -> list[str]:
    """Return one sentence on what episodes before the judged ones took; none without such."""
    found = [result.earlier for result in results if result.earlier is not None]
    if not found:
        return []
    tokens = sum(each.tokens for each in found)
    costs = [each.cost for each in found if each.cost is not None]
    parts = [f'{sum(each.model_calls for each in found)} model calls']
    parts += [f'{tokens:,} tokens'] if tokens else []
    parts += [f'{math.fsum(costs):.4g} {currency}'.rstrip()] if len(costs) == len(found) else []
    episodes = sum(each.episodes for each in found)
    return [
        f'The {episodes} episodes before the judged ones took {", ".join(parts)} more, which no '
        'other figure counts.'
    ]


def _taken(job: EpisodeSpec, episodes: Sequence[Episode]) -> Earlier:
    calls = [call for episode in episodes for call in episode.model_calls]
    asked = {'brain': episodes[0].brain, 'body': episodes[0].body}
    prompts = sum(call.prompt_tokens for call in calls)
    sent = sum(call.size_tokens for call in calls)
    return Earlier(
        episodes=len(episodes),
        model_calls=len(calls),
        tokens=max(prompts, sent) + sum(call.completion_tokens for call in calls),
        cost=cost_of(tuple(calls), job.config.prices, asked=asked),
    )
