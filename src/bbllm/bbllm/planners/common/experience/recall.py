"""The entries that are most similar to a task in a scene, by words and structure."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from operator import mul

from bbllm.core.events import Event
from bbllm.core.types import Scene, Task
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.planners.common.experience.entry import Entry, in_roles, mishaps, roles_of, situation

SHOWN = 2
"""How many entries a prompt has at most."""
LEAST = 0.65
"""Entries that are less similar are of other tasks (design/experience.md)."""
BY_TASK, BY_SITUATION, BY_CODE = 0.7, 0.3, 0.1
"""What the cosines of task and situation count, and a code that fails here as it did there."""


class Recall:
    """Finds entries in a fixed list; nothing is asked over a network."""

    def __init__(self, entries: Iterable[Entry]):
        self._entries = tuple(entries)

    def __call__(
        self, task: Task, scene: Scene, events: Sequence[Event] = ()
    ) -> Mapping[str, str]:
        """Return the texts of similar entries by their ids, the most similar first."""
        words = ' '.join((task.instruction, *task.added))
        codes = {failure.code for failure in mishaps(events)}
        roles = roles_of(scene, words)
        asked, given = _vectors(in_roles(words, scene, roles), situation(scene, roles))
        scores = {
            entry: BY_TASK * sum(map(mul, asked, of_task))
            + BY_SITUATION * sum(map(mul, given, of_situation))
            + BY_CODE * bool(entry.codes & codes)
            for entry, (of_task, of_situation) in self._known.items()
            if entry.domain == scene.domain
        }
        # Of equals the newest.
        ranked = sorted(scores, key=lambda entry: (-scores[entry], -entry.made_s))
        found = dict[tuple[str, ...], Entry]()
        for entry in ranked:
            if scores[entry] >= LEAST:  # one of those with the same failures
                found.setdefault(tuple(x.cause for x in entry.failures), entry)
        return {entry.id: entry.text for entry in [*found.values()][:SHOWN]}

    @cached_property
    def _known(self) -> Mapping[Entry, Sequence[Sequence[float]]]:
        return {entry: _vectors(entry.task, entry.situation) for entry in self._entries}


def _vectors(task: str, situation: Iterable[str]) -> Sequence[Sequence[float]]:
    return LexicalEmbedder().embed([task, '\n'.join(situation)]).vectors
