"""Checks pairs, and counts by rule those that are refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from benchmarks.finetuning.pairs import Pair
from benchmarks.finetuning.physics import check_physics
from benchmarks.finetuning.reading import PairError, read_pair


@dataclass
class Checked:
    """What came of checks."""

    pairs: list[Pair] = field(default_factory=list)
    """Those that may be trained on, in their order."""
    refused: Counter[str] = field(default_factory=Counter)
    """How many are refused, by rule."""
    examples: dict[str, str] = field(default_factory=dict)
    """The first of each rule."""
    known: set[tuple[str, str, str]] = field(default_factory=set, repr=False)
    """The words of all pairs that were had; may be shared."""

    def refuse(self, rule: str, found: str, count: int = 1) -> None:
        """Count some that are refused."""
        self.refused[rule] += count
        self.examples.setdefault(rule, found)

    def take(self, pairs: Iterable[Pair]) -> None:
        """Check pairs; one that was had before is refused too."""
        for pair in pairs:
            try:
                check_physics(read_pair(pair))
            except PairError as error:
                self.refuse(error.rule, f'{pair.id}: {error}' if pair.id else str(error))
                continue
            if _words(pair) in self.known:
                self.refuse('duplicate', pair.id)
                continue
            self.keep([pair])

    def keep(self, pairs: Iterable[Pair]) -> None:
        """Take pairs that are known to be good."""
        for pair in pairs:
            self.known.add(_words(pair))
            self.pairs.append(pair)

    @property
    def seen(self) -> int:
        """How many were checked."""
        return len(self.pairs) + self.refused.total()

    @property
    def refused_share(self) -> float:
        """Share of those that are refused, 0 to 1."""
        return self.refused.total() / self.seen if self.seen else 0.0


def _words(pair: Pair) -> tuple[str, str, str]:
    return pair.instruction, pair.input, pair.output
