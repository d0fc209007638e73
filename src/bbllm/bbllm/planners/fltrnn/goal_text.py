"""What FLTRNN and its baselines are asked for, looked at before any model is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.instance_names import class_of
from bbllm.core.protocols import Body, Embedder, EpisodeContext
from bbllm.core.types import Scene, Task
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.planners.common.goal_predicates import GoalPredicate, goal_text, parse_goal
from bbllm.planners.common.impossible_goals import all_in_sight, refuse_contradiction, refuse_empty
from bbllm.planners.common.matching import MatchingBody
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
