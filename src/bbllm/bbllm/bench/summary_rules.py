"""What a terminal is told of faithfulness; see bench.faithfulness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bbllm.bench.checkers.parts import count_of
from bbllm.bench.summary import interval_text

CAPTION = (
    '\nfaithful: broke no rule, of which one is to hold one thing at a time; '
    'two hands: the same without that one'
)


def is_ruled(summary: Mapping[str, Any]) -> bool:
    """Tell whether faithfulness is shown: in houses, and wherever a rule was broken."""
    broken = any(group.get('broken_rules') for group in summary['by_k'])
    return broken or summary.get('world') == 'household'


def lines_on_rules(groups: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return which rules were broken, and how many lines of replies were left out, for each K."""
    lines = [_broken_line(group) for group in groups if group.get('broken_rules')]
    return lines + [_discarded_line(group) for group in groups if group.get('discarded')]


def _broken_line(group: Mapping[str, Any]) -> str:
    named = ', '.join(f'{count} {rule}' for rule, count in group['broken_rules'].items())
    strict, two_hands = (
        f'{group[key]:.2f} {interval_text(group[f"{key}_low"], group[f"{key}_high"])}'
        for key in ('faithful', 'faithful_two_hands')
    )
    return (
        f'Rules broken with K = {group["k"]}: {named}. '
        f'Faithful {strict}, two hands allowed {two_hands}.'
    )


def _discarded_line(group: Mapping[str, Any]) -> str:
    told = count_of(group['discarded'], 'line')
    return f"Left out of the model's replies with K = {group['k']}: {told}."
