"""The figures of `summary.json` as records; nothing is computed anew here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bbllm.bench.log.intervals import Estimate
from bbllm.bench.report import words

MEASURES = {'sr': 'SR', 'gcr': 'GCR', 'exec': 'EXEC'}
"""The three rates of the papers, by their key in the summary."""
KNOWING = {'sr': 'State', 'informed': 'Informed', 'gcr': 'GCR', 'exec': 'EXEC'}
"""The same where something had to be found out: success is of two kinds then."""
COMPARED = {
    'sr': 'SR',
    'sr_judged': 'SR, none lost',
    'informed': 'Informed',
    'false_success': 'False success',
    'faithful': 'Faithful',
    'gcr': 'GCR',
    'exec': 'EXEC',
    'loops': 'Loops',
    'model_calls': 'Calls',
    'tokens': 'Tokens',
    'cost': 'Cost',
    'robot_s': 'Robot [s]',
}
"""What pairs are compared by, as the table calls it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """What a group of episodes comes to, as the summary says."""

    k: int | None
    n: int
    passed: int
    disputed: int
    lost: int
    sr: Estimate
    gcr: Estimate
    exec: Estimate
    loops: Estimate
    least_loops: float | None
    model_calls: int | None
    tokens: int | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    robot_s: float | None
    unsafe: int | None
    unsafe_measured: int
    codes: Mapping[str, int]
    errors: Mapping[str, int]
    lost_errors: Mapping[str, int]
    needing: int
    """Episodes in which something had to be found out; 0 in reports of other suites."""
    needing_sr: Estimate
    needing_informed: Estimate
    false_success: int
    faithful: Estimate
    faithful_two_hands: Estimate
    broken_rules: Mapping[str, int]
    discarded: int
    malformed: int | None
    refused: int | None
    held_once: Estimate

    def rate(self, key: str) -> Estimate:
        """
        Return one of the rates that MEASURES and KNOWING name.

        Informed success is over the episodes in which something had to be found out.
        """
        rates = {'sr': self.sr, 'informed': self.needing_informed}
        return {**rates, 'gcr': self.gcr, 'exec': self.exec}[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """One task at one K."""

    name: str
    label: str
    """What its paper calls it, '' where none does."""
    instruction: str
    difficulty: str
    sums: Sums

    @property
    def title(self) -> str:
        """What the page calls it: `T3 pick heavier`."""
        return words.titled(self.label, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCell:
    """How two values of K differ in one measure."""

    text: str
    interval: str
    certain: bool
    """Whether the interval excludes no difference."""
    good: bool
    """Whether the larger K is the better one."""
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """The larger of two K against the smaller one, on the same cases."""

    k_a: int
    k_b: int
    pairs: int
    lost_pairs: int
    unpaired: int
    gained: tuple[str, ...]
    """Cases that only the larger K passed."""
    spoilt: tuple[str, ...]
    p: float | None
    cells: tuple[PairCell, ...]
    """In the order of the table's columns."""


def sums_of(data: Mapping[str, Any]) -> Sums:
    """Return the figures of one entry of a summary; what it does not have is None."""
    tokens = [data.get('prompt_tokens'), data.get('completion_tokens')]
    known = [value for value in tokens if value is not None]
    return Sums(
        k=data.get('k'),
        n=data.get('n') or 0,
        passed=data.get('passed') or 0,
        disputed=data.get('disputed') or 0,
        lost=data.get('infrastructure_failures') or 0,
        sr=_estimate(data, 'sr'),
        gcr=_estimate(data, 'gcr'),
        exec=_estimate(data, 'exec'),
        loops=_estimate(data, 'loops'),
        least_loops=data.get('least_loops'),
        model_calls=data.get('model_calls'),
        tokens=sum(known) if known else None,
        prompt_tokens=tokens[0],
        completion_tokens=tokens[1],
        cost=data.get('cost'),
        robot_s=data.get('robot_s'),
        unsafe=data.get('unsafe'),
        unsafe_measured=data.get('unsafe_measured') or 0,
        codes=data.get('codes') or {},
        errors=data.get('errors') or {},
        lost_errors=data.get('lost_errors') or {},
        needing=data.get('needing') or 0,
        needing_sr=_estimate(data, 'needing_sr'),
        needing_informed=_estimate(data, 'needing_informed'),
        false_success=data.get('false_success') or 0,
        faithful=_estimate(data, 'faithful'),
        faithful_two_hands=_estimate(data, 'faithful_two_hands'),
        broken_rules=data.get('broken_rules') or {},
        discarded=data.get('discarded') or 0,
        malformed=data.get('malformed'),
        refused=data.get('refused'),
        held_once=_estimate(data, 'held_once'),
    )


def measures_of(sums: Sums) -> dict[str, str]:
    """Return the rates that a page is about, by their key, and what it calls them."""
    return KNOWING if sums.needing else MEASURES


def task_rows(data: Mapping[str, Any]) -> tuple[TaskRow, ...]:
    """Return the tasks of one entry of a summary."""
    return tuple(
        TaskRow(
            name=row.get('name') or row.get('task') or words.NONE,
            label=row.get('label') or '',
            instruction=row.get('instruction') or '',
            difficulty=row.get('difficulty') or words.NONE,
            sums=sums_of(row),
        )
        for row in data.get('tasks') or ()
    )


def by_k(summary: Mapping[str, Any]) -> tuple[Sums, ...]:
    """Return the figures of every K, the least first."""
    return tuple(sums_of(entry) for entry in summary.get('by_k') or ())


def pair_rows(summary: Mapping[str, Any]) -> tuple[PairRow, ...]:
    """Return what the summary says of pairs; only pairs that there are."""
    return tuple(_pair_row(entry) for entry in summary.get('paired') or () if entry['pairs'])


def compared(summary: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the measures for which any pair has a figure."""
    paired = [entry for entry in summary.get('paired') or () if entry['pairs']]
    entries = [entry['differences'] for entry in paired]
    lost = any(entry.get('lost_pairs') for entry in paired)
    return tuple(
        key
        for key in COMPARED
        # Where nothing was lost, it says the same as SR.
        if (lost or key != 'sr_judged')
        and any(entry.get(key, {}).get('difference') is not None for entry in entries)
    )


def _pair_row(entry: Mapping[str, Any]) -> PairRow:
    differences = entry['differences']
    return PairRow(
        k_a=entry['k_a'],
        k_b=entry['k_b'],
        pairs=entry['pairs'],
        lost_pairs=entry.get('lost_pairs') or 0,
        unpaired=sum(len(cases) for cases in (entry.get('unpaired') or {}).values()),
        gained=_cases(entry.get('only_a_passed') or ()),
        spoilt=_cases(entry.get('only_b_passed') or ()),
        p=entry.get('mcnemar_p'),
        cells=tuple(_pair_cell(key, differences.get(key) or {}) for key in COMPARED),
    )


def _pair_cell(key: str, data: Mapping[str, Any]) -> PairCell:
    digits = {'tokens': 0, 'robot_s': 1, 'cost': 4}.get(key, 2)
    low, high = data.get('low'), data.get('high')
    limits = '' if low is None else f'[{words.signed(low, digits)}, {words.signed(high, digits)}]'
    return PairCell(
        text=words.signed(data.get('difference'), digits),
        interval=limits,
        certain=bool(data.get('certain')),
        good=data.get('better') == 'A',
        n=data.get('n') or 0,
    )


def _cases(cases: Any) -> tuple[str, ...]:
    return tuple(f'{case["task"]} {case["trial"]}' for case in cases)


def _estimate(data: Mapping[str, Any], key: str) -> Estimate:
    return Estimate(
        data.get(key), data.get(f'{key}_low'), data.get(f'{key}_high'), data.get(f'{key}_n') or 0
    )
