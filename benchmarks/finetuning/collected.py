"""What was collected: episode by episode, so that it can be put together again from a folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.finetuning.checking import Checked
from benchmarks.finetuning.pairs import Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeNote:
    """What came of one episode."""

    episode: str
    """Its name."""
    task: str
    """Name of its task."""
    ending: str
    """`succeeded`, or why its pairs are not used."""
    pairs: int = 0
    """How many pairs are kept of it."""
    refused: tuple[tuple[str, str, int], ...] = ()
    """What was refused: the rule, the first that broke it, and how many did."""


@dataclass
class Collected:
    """What was collected."""

    checked: Checked = field(default_factory=Checked)
    endings: Counter[str] = field(default_factory=Counter)
    """How many episodes ended how: `succeeded`, or why their pairs are not used."""
    tables: Counter[str] = field(default_factory=Counter)
    """By the name of a task that gave pairs: on how many tables it did."""
    reason: str = ''
    """Why it ended before there were pairs enough; empty where there are."""
    stopped: bool = False
    """Whether somebody wanted that end."""
    hopeless: bool = False
    """Whether to go on would not help."""

    @property
    def episodes(self) -> int:
        """How many episodes count."""
        return self.endings.total()

    def add(self, note: EpisodeNote, pairs: Sequence[Pair]) -> None:
        """Count an episode, with the pairs that are kept of it."""
        self.endings[note.ending] += 1
        for rule, found, count in note.refused:
            self.checked.refuse(rule, found, count)
        self.checked.keep(pairs)
        if pairs:
            self.tables[note.task] += 1
