"""What was collected: pairs that stand up to all checks, and by rule those that do not."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from bbllm_bench.benchmarks.finetuning.pairs import Pair
from bbllm_bench.benchmarks.finetuning.reading import PairError, check_physics, read_pair


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
            if pair.words in self.known:
                self.refuse('duplicate', pair.id)
            else:
                self.keep([pair])

    def keep(self, pairs: Sequence[Pair]) -> None:
        self.known.update(pair.words for pair in pairs)
        self.pairs += pairs

    @property
    def seen(self) -> int:
        return len(self.pairs) + self.refused.total()

    @property
    def refused_share(self) -> float:
        """Share of those that are refused, 0 to 1."""
        return self.refused.total() / self.seen if self.seen else 0.0


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
class Collected(Checked):
    """What was collected: episode by episode, so that a folder can be read into it again."""

    endings: Counter[str] = field(default_factory=Counter)
    """How many episodes ended how, see `EpisodeNote`."""
    tables: Counter[str] = field(default_factory=Counter)
    """By the name of a task that gave pairs: on how many tables it did."""
    reason: str = ''
    """Why it ended before there were pairs enough; empty where there are."""
    stopped: bool = False
    """Whether a person wanted that end."""
    hopeless: bool = False
    """Whether to go on would not help."""

    @property
    def episodes(self) -> int:
        return self.endings.total()

    def add(self, note: EpisodeNote, pairs: Sequence[Pair]) -> None:
        """Count an episode, with the pairs that are kept of it."""
        self.endings[note.ending] += 1
        for rule, found, count in note.refused:
            self.refuse(rule, found, count)
        self.keep(pairs)
        if pairs:
            self.tables[note.task] += 1
