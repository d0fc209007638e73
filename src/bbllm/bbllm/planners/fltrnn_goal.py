"""What FLTRNN and its baselines are asked for, looked at before any model is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.instances import class_of
from bbllm.core.protocols import Body, Embedder, EpisodeContext
from bbllm.core.types import Scene, Task
from bbllm.llm.lexical import LexicalEmbedder
from bbllm.planners.body_matching import MatchingBody
from bbllm.planners.goal_predicates import (
    GoalPredicate,
    contradiction,
    goal_text,
    nested_places,
    parse_goal,
)
from bbllm.planners.surroundings import classes, surroundings

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
    if not classes(scene):
        raise GaveUpError(
            'The house is empty: the scene tells of no things and no rooms. A house with things '
            'in it can be worked in.'
        )
    try:
        predicates = parse_goal(task.instruction, classes(scene))
    except ParseError as error:
        raise GaveUpError(f'The goal cannot be read. {error}') from error
    if predicates is None:
        return Goal(task.instruction, None)
    counts = Counter(map(class_of, scene.names))
    if all_in_sight(scene):
        _refuse(predicates, counts, scene)
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


def all_in_sight(scene: Scene) -> bool:
    """
    Tell whether a scene shows all of its house.

    Who sees one room sees the others empty; who has been in all of them, and has not looked into
    what is closed, sees nothing in anything closed.
    """
    around = surroundings(scene)
    seen = {room for thing, room in around.rooms.items() if class_of(thing) != 'character'}
    if not {item.name for item in scene.objects if item.kind.value == 'location'} <= seen:
        return False
    return bool(around.hidden) or not any('closed' in states for states in around.states.values())


def _refuse(predicates: Sequence[GoalPredicate], counts: Counter[str], scene: Scene) -> None:
    portable = {class_of(f.subject) for f in scene.facts if f.object == 'grabbable'}
    lies_in: dict[str, list[str]] = {}
    for fact in scene.facts:
        if fact.predicate in ('on', 'inside', 'in_room'):
            lies_in.setdefault(fact.subject, []).append(fact.object)
    if found := contradiction(predicates, counts, portable, nested_places(lies_in, class_of)):
        told = ' and '.join(f'`{item}`' for item in found)
        both, which = ('both', 'Either') if len(found) == 2 else ('all', 'Some')
        raise GaveUpError(
            f'The goal contradicts itself: {told} cannot {both} be so, as there are '
            f'{counts[found[0].thing]} of {found[0].thing}. {which} of them could be done.'
        )
    for predicate in predicates:
        for word, wanted in ((predicate.thing, predicate.count), (predicate.place, 1)):
            if word and counts[word] < wanted:
                raise GaveUpError(
                    f'`{predicate}` wants {wanted} of {word}, but there are {counts[word]}. '
                    f'There are: {", ".join(classes(scene))}.'
                )
