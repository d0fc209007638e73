"""What nobody can do, refused before a model is asked: goals against themselves, empty houses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bbllm.core.errors import GaveUpError, ParseError
from bbllm.core.instance_names import class_of
from bbllm.core.protocols import EpisodeContext
from bbllm.core.types import Kind, Scene, Task
from bbllm.planners.common.goal_predicates import (
    AT_ONCE,
    GoalPredicate,
    GoalRelation,
    contradiction,
    nested_places,
    parse_goal,
    too_much_for_a_body,
)
from bbllm.planners.common.scene_graph import CHARACTER, HOUSEHOLD, classes

_BODILY = {GoalRelation.HOLDS: 'hold', GoalRelation.SIT: 'sit on'}


def refuse_empty(scene: Scene) -> None:
    """
    Refuse a scene with nothing but rooms, or with nothing at all.

    Raises:
        GaveUpError: It is such a scene.
    """
    things = [item for item in scene.objects if class_of(item.name) != CHARACTER]
    if all(item.kind is Kind.LOCATION for item in things):
        what = 'house' if scene.domain == HOUSEHOLD else 'table'
        raise GaveUpError(
            f'The {what} is empty: there is nothing that could be worked with. A {what} with at '
            'least one thing in it would do.'
        )


def refuse_impossible(task: Task, scene: Scene, context: EpisodeContext) -> None:
    """
    Refuse a task whose words are predicates that can never all be so; other tasks pass.

    Args:
        task: What is asked for.
        scene: What is seen at the start.
        context: Warned of what can only be so if there is more than is in sight.

    Raises:
        GaveUpError: It is such a task; the predicates are named.
    """
    if scene.domain != HOUSEHOLD:
        return
    try:
        predicates = parse_goal(task.instruction, classes(scene))
    except ParseError:
        return  # whoever reads sentences may make something of it
    if predicates is not None:
        refuse_contradiction(predicates, scene, context)


def refuse_contradiction(
    predicates: Sequence[GoalPredicate], scene: Scene, context: EpisodeContext
) -> None:
    """
    Refuse predicates that can never all be so.

    How many things there are of a class is known only where all of the house is in sight. Where
    it is not, a second one may stand in another room, so that what one cannot be is warned of;
    what nobody can hold or sit on at once is refused all the same.

    Raises:
        GaveUpError: They contradict each other.
    """
    if greedy := too_much_for_a_body(predicates):
        relation = greedy[0].relation
        raise GaveUpError(
            f'The goal contradicts itself: {_listed(greedy)} want more at once than the '
            f'{AT_ONCE[relation]} that a person can {_BODILY[relation]}. Fewer could be done.'
        )
    counts = Counter(map(class_of, scene.names))
    portable = {class_of(f.subject) for f in scene.facts if f.object == 'grabbable'}
    lies_in: dict[str, list[str]] = {}
    for fact in scene.facts:
        if fact.predicate in ('on', 'inside', 'in_room'):
            lies_in.setdefault(fact.subject, []).append(fact.object)
    found = contradiction(predicates, counts, portable, nested_places(lies_in, class_of))
    if not found:
        return
    both, which = ('both', 'Either') if len(found) == 2 else ('all', 'Some')
    told = f'{_listed(found)} cannot {both} be so'
    things = f'{counts[found[0].thing]} of {found[0].thing}'
    if all_in_sight(scene):
        raise GaveUpError(
            f'The goal contradicts itself: {told}, as the house has {things}. {which} of them '
            'could be done.'
        )
    context.warn(
        f'The goal may contradict itself: {told} with what is in sight, which is {things}. More '
        'may be in rooms, or in closed things, that nobody has looked into yet.'
    )


def all_in_sight(scene: Scene) -> bool:
    """
    Tell whether a scene shows all of its house, by what the world says of it.

    What is seen does not tell: who has been in all rooms and looked into one cupboard sees as
    well as who is shown all that some things are shut in, and others are empty.
    """
    return scene.whole


def _listed(predicates: Sequence[GoalPredicate]) -> str:
    return ' and '.join(f'`{item}`' for item in predicates)
