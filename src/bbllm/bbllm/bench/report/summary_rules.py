"""What a terminal is told of faithfulness; see bench.faithfulness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bbllm.bench.report.summary import interval_text
from bbllm.core.phrases import count_of

CAPTION = (
    '\nfaithful: broke no rule, of which one is to hold one thing at a time; '
    'two hands: the same without that one'
)


def is_ruled(summary: Mapping[str, Any]) -> bool:
    """Tell whether faithfulness is shown: in houses, and wherever a rule was broken."""
    broken = any(group.get('broken_rules') for group in summary['by_k'])
    return broken or summary.get('world') == 'household'


def lines_on_rules(groups: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what was broken and left out, and how often the goal was held at all, by K."""
    lines = [_broken_line(group) for group in groups if group.get('broken_rules')]
    lines += [_left_out_line(group) for group in groups if group.get('discarded')]
    return lines + [_held_once_line(group) for group in groups if group.get('held_once_n')]


def _broken_line(group: Mapping[str, Any]) -> str:
    named = ', '.join(f'{count} {rule}' for rule, count in group['broken_rules'].items())
    strict, two_hands = _rate(group, 'faithful'), _rate(group, 'faithful_two_hands')
    return (
        f'Rules broken with K = {group["k"]}: {named}. '
        f'Faithful {strict}, two hands allowed {two_hands}.'
    )


def _left_out_line(group: Mapping[str, Any]) -> str:
    told = count_of(group['discarded'], 'line')
    kinds = f'{group["malformed"]} malformed, {group["refused"]} refused'
    return f"Left out of the model's replies with K = {group['k']}: {told}: {kinds}."


def _held_once_line(group: Mapping[str, Any]) -> str:
    return (
        f'All conditions of the goal held at once, at the start or after some step, with '
        f'K = {group["k"]}: {_rate(group, "held_once")} of all episodes. '
        'So FLTRNN counts a success.'
    )


def _rate(group: Mapping[str, Any], key: str) -> str:
    return f'{group[key]:.2f} {interval_text(group[f"{key}_low"], group[f"{key}_high"])}'
