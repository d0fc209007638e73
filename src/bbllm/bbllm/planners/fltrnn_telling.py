"""
Of which things FLTRNN's prompts tell.

A goal in predicates names the classes, and all of them is told. A sentence names none that a
program could read, and a house has hundreds of things: told is what is nearest to the sentence, up
to a length, each thing with all that it is in or on; classes of which nothing is told are named.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence

from bbllm.core.instances import class_of
from bbllm.core.protocols import Embedder
from bbllm.planners.fltrnn_wording import remembered, remembered_of, with_places
from bbllm.planners.goal_predicates import GoalPredicate
from bbllm.planners.memory_graph import MemoryGraph
from bbllm.planners.nearness import Nearness

LONGEST = 2200
"""How much is told for a sentence where a prompt has some 3800 beside it [characters]."""
LONGEST_IN_WORDS = 4100
"""The same for planners that are never told which classes there are: one thing of each class that
can be carried, filled or switched finds room in it, in each of the houses [characters]."""
USEFUL = ('grabbable', 'can_open', 'has_switch', 'sittable', 'containers', 'surfaces')
"""What makes a thing worth telling of; floors are surfaces too, and nobody means them."""
DEVICE = ('has_switch', 'containers')
"""What things become warm, clean or put away by, though few goals name it."""
FIXED_WORTH = 0.005
"""How much nearer such a thing counts that cannot be carried about, and how much less near another
that cannot, such as a window; so little that it only decides between equals."""
CHANCE = 0.22
"""Up to here nearness says nothing: by spelling alone, words that have nothing in common come as
near."""
CONTENT = 0.5
"""What is in or on a thing is as near as this share of it: who clears a table means its things."""
AGAIN = 0.02
"""How much less near the second of a class counts than the first, and so on: one of each class
comes before many of one that the sentence does not mean."""


class Telling:
    """
    Chooses and words what is told.

    Args:
        embedder: What tells how near a class is to a sentence.
        longest: How much is told for a sentence [characters].
    """

    def __init__(self, embedder: Embedder, *, longest: int = LONGEST):
        self._nearness = Nearness(embedder)
        self._longest = longest
        self._found: tuple[str, Sequence[str], Mapping[str, float]] = ('', (), {})
        """What was asked for last, and how near it was: a goal is asked for many times in turn."""

    def of(self, graph: MemoryGraph, goal: str, predicates: Sequence[GoalPredicate] | None) -> str:
        """
        Write what a memory graph knows of what matters to a goal.

        Args:
            graph: What is known.
            goal: As it is said.
            predicates: The same as predicates; none where it is a sentence.

        Raises:
            ModelError: The embedder could not be reached.
        """
        if predicates:
            return remembered(graph, predicates)
        names = self.nearest_first(graph, goal)
        n_told = bisect_right(
            range(len(names)), self._longest, key=lambda n: len(_told(graph, names, n + 1))
        )
        return _told(graph, names, n_told)

    def nearest_first(self, graph: MemoryGraph, sentence: str) -> list[str]:
        """Return all things that are of use, those that matter most to a sentence first."""
        useful = [name for name in graph.names if is_useful(graph, name)]
        near = self._near(sentence, sorted({class_of(name) for name in useful}))
        n_before: Counter[str] = Counter()
        worth: dict[str, float] = {}
        # Of one class, what is at hand comes before what is shut in.
        for name in sorted(useful, key=lambda name: graph.closed_around(name) is not None):
            places = [CONTENT * near.get(class_of(place), 0) for _, place in graph.places(name)]
            near_by = max([near[class_of(name)], *places])
            worth[name] = near_by if near_by > CHANCE else 0.0
            if not graph.affords(name, 'grabbable'):
                device = any(graph.affords(name, word) for word in DEVICE)
                worth[name] += FIXED_WORTH if device else -FIXED_WORTH
            worth[name] -= AGAIN * n_before[class_of(name)]
            n_before[class_of(name)] += 1
        return sorted(worth, key=lambda name: -worth[name])

    def _near(self, sentence: str, classes: Sequence[str]) -> Mapping[str, float]:
        """Return how near classes are to a sentence, or to one of its words, or to two of them."""
        if self._found[:2] == (sentence, classes):
            return self._found[2]
        words = [word for word in re.findall(r'\w+', sentence.lower()) if len(word) > 2]
        pairs = [first + second for first, second in zip(words, words[1:], strict=False)]
        texts = [sentence, *words, *pairs]
        self._nearness.look_up([*texts, *classes])
        found = [self._nearness.of(text, classes) for text in dict.fromkeys(texts)]
        nearest = {name: max(near[name] for near in found) for name in classes}
        self._found = (sentence, classes, nearest)
        return nearest


def is_useful(graph: MemoryGraph, name: str) -> bool:
    """Tell whether a thing is told of where a sentence leaves room for it."""
    return class_of(name) != 'floor' and any(graph.affords(name, word) for word in USEFUL)


def _told(graph: MemoryGraph, names: Sequence[str], n: int) -> str:
    """Write what is known of the first `n` things, and which classes the others are of."""
    told = {class_of(name) for name in with_places(graph, names[:n])}
    left_out = sorted({class_of(name) for name in names[n:]} - told)
    also = f'\n# Left out, as far from the goal: {", ".join(left_out)}' if left_out else ''
    return remembered_of(graph, names[:n], terse=True) + also
