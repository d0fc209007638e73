"""Sub-goals of a goal: whether a list of them omits or invents something, and how it is mended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.instance_names import class_of
from bbllm.core.protocols import Body, Embedder, EpisodeContext
from bbllm.core.types import Scene, Task
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.planners.common.goal_predicates import (
    GoalPredicate,
    GoalRelation,
    all_in_sight,
    goal_text,
    parse_goal,
    refuse_contradiction,
    refuse_empty,
)
from bbllm.planners.common.matching import MatchingBody
from bbllm.planners.common.reply_diagnostics import RejectedLine
from bbllm.planners.common.scene_graph import classes

DEMONSTRATIONS = 3
"""How many a prompt shows, as in the paper."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What is asked for."""

    text: str
    """Predicates as `goal_text` writes them, or the sentence as it was said."""
    predicates: tuple[GoalPredicate, ...] | None
    """None where it is a plain sentence."""


def read_goal(task: Task, scene: Scene, context: EpisodeContext) -> Goal:
    """
    Read what a task asks for.

    Where only a part of the house is in sight, what is missing is warned of and not refused.

    Raises:
        GaveUpError: Nothing is in the house; the goal cannot be read, contradicts itself (both
            predicates are named), or wants more things than there are.
    """
    refuse_empty(scene)
    try:
        predicates = parse_goal(task.instruction, classes(scene))
    except ParseError as error:
        raise GaveUpError(f'The goal cannot be read. {error}') from error
    if predicates is None:
        return Goal(task.instruction, None)
    refuse_contradiction(predicates, scene, context)
    counts = Counter(map(class_of, scene.names))
    if all_in_sight(scene):
        _refuse_missing(predicates, counts, scene)
    unseen = {word for item in predicates for word in (item.thing, item.place) if word}
    unseen -= set(counts)
    if unseen:
        context.warn(
            f'No {" and no ".join(sorted(unseen))} is in sight. This method plans on the whole '
            'house, as in its paper; what is not seen it can only be lucky with. It sees all '
            'with the visibility `full`.'
        )
    return Goal(goal_text(predicates), predicates)


def embedder_of(body: Body) -> Embedder:
    """Return what compares goals: the Body's own where it matches by embedding, else `lexical`."""
    return body.embedder if isinstance(body, MatchingBody) else LexicalEmbedder()


def _refuse_missing(
    predicates: Sequence[GoalPredicate], counts: Counter[str], scene: Scene
) -> None:
    for predicate in predicates:
        for word, wanted in ((predicate.thing, predicate.things), (predicate.place, 1)):
            if word and counts[word] < wanted:
                raise GaveUpError(
                    f'`{predicate}` wants {wanted} of {word}, but the house has {counts[word]}. '
                    f'There are: {", ".join(classes(scene))}.'
                )


MAX_SENTENCE = 300
"""Longest sub-goal that is a sentence [characters]."""

_What = tuple[GoalRelation, str, str]


@dataclass(frozen=True, slots=True)
class SubGoal:
    """A part of a goal."""

    text: str
    """As prompts write it."""
    predicates: tuple[GoalPredicate, ...] = ()
    """None where it is a plain sentence."""


@dataclass(frozen=True, slots=True)
class SubGoalFault:
    """Something that is wrong with a list of sub-goals."""

    text: str
    """The part that it is about."""
    why: str

    malformed: bool = False
    """Whether it fits no grammar; else it can be read, and is against the goal."""

    def __str__(self) -> str:
        return f'`{self.text}` {self.why}'

    @property
    def discarded(self) -> RejectedLine:
        """The same as a line that is left out."""
        return RejectedLine(self.text, self.why, refused=not self.malformed)


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A list of sub-goals that fits its goal, and what had to be done for that."""

    sub_goals: tuple[SubGoal, ...]
    faults: tuple[SubGoalFault, ...] = ()
    """What the reply had wrong; the sub-goals have it no more."""


def whole(goal: str, predicates: Sequence[GoalPredicate] | None) -> SubGoal:
    """Return a goal as one part."""
    return SubGoal(goal_text(predicates) if predicates else goal, tuple(predicates or ()))


def decompose(
    texts: Sequence[str],
    goal: str,
    predicates: Sequence[GoalPredicate] | None,
    classes: Collection[str] | None,
) -> Decomposition:
    """
    Make sub-goals of what a model wrote.

    Of a goal in predicates the parts must have all predicates, and no others. Where the same one
    comes in several parts, their counts may add up to that of the goal, or the last may have it.
    A goal in words can be split in any way, into predicates of classes that are there, or words.

    Args:
        texts: The parts as they are written.
        goal: The goal as it was said.
        predicates: The goal's own; None where it is a plain sentence.
        classes: What there is; None where not all is in sight, so that any may be.
    """
    known = _Known(predicates, classes)
    parts = [part for text in texts if (part := known.read(text)) is not None]
    if predicates is not None:
        parts = known.complete(parts, predicates)
    if not parts:
        known.faults.append(SubGoalFault(goal, 'has no part that could be worked on'))
        parts = [whole(goal, predicates)]
    return Decomposition(tuple(parts), tuple(known.faults))


class _Known:
    """Reads parts of one goal one after the other, and collects their faults."""

    def __init__(self, goal: Sequence[GoalPredicate] | None, classes: Collection[str] | None):
        self.faults: list[SubGoalFault] = []
        self._in_words = goal is None
        self._all_known = classes is not None
        self._classes = set(classes or ())
        self._wanted = {_what(predicate): predicate.count for predicate in goal or ()}
        self._so_far: dict[_What, int] = {}
        if goal is not None:
            self._classes |= {word for item in goal for word in (item.thing, item.place) if word}

    def read(self, text: str) -> SubGoal | None:
        """Return a part without what it invents; None where nothing is left of it."""
        try:
            predicates = parse_goal(text, self._classes)
        except ParseError as error:
            self._fault(text, f'cannot be read. {error}', malformed=True)
            return None
        if predicates is None:
            if self._in_words and len(text) <= MAX_SENTENCE:
                return SubGoal(text)
            self._fault(
                text[:80],
                f'has {len(text)} characters, of {MAX_SENTENCE}'
                if self._in_words
                else 'is no part of the goal, which is predicates',
            )
            return None
        kept = [item for predicate in predicates if (item := self._kept(predicate)) is not None]
        return SubGoal(goal_text(kept), tuple(kept)) if kept else None

    def complete(self, parts: Sequence[SubGoal], goal: Sequence[GoalPredicate]) -> list[SubGoal]:
        """Return the parts with what they omit of the goal as one more part for each thing."""
        omitted: dict[str, list[GoalPredicate]] = {}
        for predicate in goal:
            if self._so_far.get(_what(predicate), 0) < predicate.count:
                self.faults.append(
                    SubGoalFault(str(predicate), 'is in the goal, and in no part of it')
                )
                # What is put into a microwave, and that it is closed and on, belong together.
                omitted.setdefault(predicate.place or predicate.thing, []).append(predicate)
        return [*parts, *(SubGoal(goal_text(items), tuple(items)) for items in omitted.values())]

    def _fault(self, text: str, why: str, *, malformed: bool = False) -> None:
        self.faults.append(SubGoalFault(text, why, malformed))

    def _kept(self, predicate: GoalPredicate) -> GoalPredicate | None:
        if self._in_words:
            strange = {predicate.thing, predicate.place} - self._classes - {''}
            if strange and self._all_known:
                self._fault(str(predicate), f'names {min(strange)}, of which there is none')
                return None
            return predicate
        wanted = self._wanted.get(_what(predicate))
        if wanted is None:
            self._fault(str(predicate), 'is not in the goal')
            return None
        before = self._so_far.get(_what(predicate), 0)
        if before >= wanted or predicate.count > wanted:
            self._fault(str(predicate), f'is more than the goal wants, which is {wanted}')
            if before >= wanted:
                return None
        # A second part with one more milk is reached with two.
        count = min(before + predicate.count, wanted)
        self._so_far[_what(predicate)] = count
        return replace(predicate, count=count)


def _what(predicate: GoalPredicate) -> _What:
    return predicate.relation, predicate.thing, predicate.place
