"""From a household and a goal to a script: condition by condition, the most promising first."""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count, islice, permutations, product

from bbllm.bench.household_expert.costs import NEVER, Costs, of_class
from bbllm.bench.household_expert.lessons import NOTHING, Lessons
from bbllm.bench.household_expert.moves import (
    Focus,
    Said,
    Standing,
    focus_on,
    moves,
)
from bbllm.bench.household_expert.stages import (
    fit_to_begin,
    holds,
    made_of,
    made_together,
    stages_of,
)
from bbllm.bench.household_expert.wording import said
from bbllm.bench.optimal.least_steps import short_plan
from bbllm.bench.optimal.relaxed_house import NotProvenError
from bbllm.bench.suites.house_goals import HouseCondition, HouseholdGoal
from bbllm.core.errors import BbllmError
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.visibility import FULL, Visibility
from bbllm.worlds.household.vocabulary import HANDS, Relation, State

EFFORT = 6000
"""How many situations one search looks at: for all conditions, in all orders."""
SHARE = 0.5
"""How much of it one order may take, so that another is tried too."""
EFFORT_FOR_WORDS = 150
"""The same where a plan is known already that cannot be told in classes."""
EFFORT_AT_ONCE = 600
"""The same for making something of two things at once."""
ORDERS = 24
"""How many orders of the conditions are tried."""


class NoPlanError(BbllmError):
    """No plan was found; says for which condition."""


def search(
    household: Household,
    goal: HouseholdGoal,
    *,
    seen: Iterable[tuple[int, str]] = (),
    found: int | None = None,
    sight: Visibility = FULL,
    in_classes: bool = True,
    lessons: Lessons = NOTHING,
) -> tuple[ScriptLine, ...]:
    """
    Return the lines that reach a goal; none where it is reached.

    Only actions that all planners of households offer are used. Told by class and grounded by the
    policy `nearest`, the lines mean the same things again wherever a plan is found that does so.
    Where none is, for example because three plates of one class stand in two cabinets, they are
    those of a short plan of things with ids (bench.least_steps), which only a planner that
    names the things themselves can follow.

    Args:
        household: Where it begins; it stays as it is.
        goal: What must be so.
        seen: What has become of things so far, see `worlds.household.derived`.
        found: What was gone to last.
        sight: How much can be named; where that is not all, rooms are entered before their
            things are gone to.
        in_classes: Whether a plan that can be told in classes is looked for first; who names
            things by their ids is quicker without, and can take a second thing of a class.
        lessons: What failed steps have taught. It is heeded where any plan is found that does so;
            where none is, what failed is tried again.

    Raises:
        NoPlanError: There is none that is found with reasonable effort.
    """
    start = Standing.beginning(household, seen=seen, found=found, sight=sight)
    start = replace(start, by_id=not in_classes)
    if lessons:
        wiser = replace(start, household=lessons.heeded_in(household), gripless=lessons.gripless)
        try:
            return _search(wiser, goal)
        except NoPlanError:
            pass
    return _search(start, goal)


def _search(start: Standing, goal: HouseholdGoal) -> tuple[ScriptLine, ...]:
    # Who tells classes may mean by them what was gone to last; who names things never does.
    whole = start.sight == FULL and (start.by_id or start.found is None)
    by_id = _by_id(start.household, goal) if whole else None
    if by_id is not None and (start.by_id or _tells_by_class(start, by_id, goal)):
        return by_id
    reason = ''
    effort = iter(range(EFFORT if by_id is None else EFFORT_FOR_WORDS))
    for begun in _chosen(start, goal):
        for order in _orders(goal.all):
            try:
                return _in_order(begun, order, islice(effort, int(EFFORT * SHARE))).lines
            except NoPlanError as error:
                reason = reason or str(error)
    if by_id is not None:
        return by_id
    raise NoPlanError(reason)


def _chosen(start: Standing, goal: HouseholdGoal) -> Iterable[Standing]:
    """Return where it begins with each choice of the things of `same`, the easiest first."""
    graph = start.household.graph
    choices = [
        replace(start, only=dict(zip(goal.same, ids, strict=True)))
        for ids in product(*(of_class(graph, name) for name in goal.same))
    ]
    # Without any thing of such a class no plan is found, and it is told for which condition.
    return sorted(choices or [start], key=lambda begun: _cost(begun, goal.all))


def _by_id(household: Household, goal: HouseholdGoal) -> tuple[ScriptLine, ...] | None:
    """Return a short plan; None where none is known, or the goal is of another kind."""
    try:
        return short_plan(household, goal).lines
    except NotProvenError:
        return None


def _tells_by_class(start: Standing, lines: Sequence[ScriptLine], goal: HouseholdGoal) -> bool:
    """Tell whether lines reach the goal when they are said in classes."""
    standing = start
    for item in said(lines):
        after = standing.after(item)
        if after is None:
            return False
        standing = after
    return holds(goal.all, standing.household.graph, standing.derived, goal.same)


def _orders(conditions: Sequence[HouseCondition]) -> Iterable[tuple[HouseCondition, ...]]:
    """Yield the conditions in different orders; who sits down does it last."""
    first = sorted(conditions, key=lambda condition: condition.person is not None)
    for _, order in zip(range(ORDERS), permutations(first), strict=False):
        yield order


def _in_order(
    standing: Standing, order: Sequence[HouseCondition], effort: Iterator[int]
) -> Standing:
    for n_done, condition in enumerate(order):
        before = order[:n_done]
        if standing.by_id and made_together(condition):
            try:
                few = islice(effort, EFFORT_AT_ONCE)
                standing = _in_stages(standing, before, condition, few, at_once=len(HANDS))
                continue
            except NoPlanError:
                pass
        standing = _in_stages(standing, before, condition, effort)
    return standing


def _in_stages(
    standing: Standing,
    before: Sequence[HouseCondition],
    condition: HouseCondition,
    effort: Iterator[int],
    *,
    at_once: int = 1,
) -> Standing:
    for stage in stages_of(condition, standing, at_once=at_once):
        if at_once > 1 and fit_to_begin(standing, stage):
            standing = _with_full_hands(standing, before, stage, effort)
        standing = _reach(standing, (*before, stage), effort)
    return standing


def _with_full_hands(
    standing: Standing,
    before: Sequence[HouseCondition],
    stage: HouseCondition,
    effort: Iterator[int],
) -> Standing:
    """Take two things at once of which something is to be made."""
    two = HouseCondition(held=stage.thing, count=len(HANDS))
    apart = replace(standing, gripless=standing.gripless | made_of(standing, stage))
    return replace(_reach(apart, (*before, two), effort), gripless=standing.gripless)


def _reach(start: Standing, wanted: Sequence[HouseCondition], effort: Iterator[int]) -> Standing:
    """Make the last condition true, and leave those before it so or make them so again."""
    graph = start.household.graph
    focus = [focus_on(condition, graph) for condition in wanted]
    watched = sorted({n for item in focus for name in item.all for n in of_class(graph, name)})
    ticket = count()
    waiting = [(_cost(start, wanted), 0, next(ticket), start)]
    known = {_key(start, watched)}
    for _ in effort:
        if not waiting or waiting[0][0] >= NEVER:
            break
        _, n_steps, _, standing = heapq.heappop(waiting)
        if holds(wanted, standing.household.graph, standing.derived, standing.only):
            return standing
        for item in _moves(standing, focus):
            after = standing.after(item)
            if after is None or (key := _key(after, watched)) in known:
                continue
            known.add(key)
            cost = n_steps + 1 + _cost(after, wanted)
            heapq.heappush(waiting, (cost, n_steps + 1, next(ticket), after))
    raise NoPlanError(_no_plan(wanted[-1]))


def _no_plan(condition: HouseCondition) -> str:
    return (
        f'No plan was found that makes it so that {condition}. What can be reached by walking, '
        'grabbing, opening, closing, putting, switching and sitting is found; choose other tasks '
        'with --tasks, or a language model for the Brain.'
    )


def _moves(standing: Standing, focus: Sequence[Focus]) -> list[Said]:
    """Return each move once, in order: about the latest condition first."""
    return list(dict.fromkeys(move for item in reversed(focus) for move in moves(standing, item)))


def _cost(standing: Standing, wanted: Sequence[HouseCondition]) -> int:
    graph, known = standing.household.graph, standing.derived
    costs = Costs(graph, known, standing.known, gripless=standing.gripless, only=standing.only)

    def missing(condition: HouseCondition) -> int:
        if standing.only.keys() & set(condition.classes):  # that others fit is of no use
            return costs.of(condition)
        return 0 if holds([condition], graph, known) else max(1, costs.of(condition))

    return sum(map(missing, wanted))


def _key(standing: Standing, watched: Sequence[int]) -> Hashable:
    """Tell situations apart by all that matters to the conditions."""
    graph = standing.household.graph
    me = graph.character
    assert me is not None  # a household has one
    return (
        standing.found,
        standing.derived,
        frozenset(graph.nodes[me].states),
        *(frozenset(graph.targets(me, relation)) for relation in Relation),
        *(
            (
                frozenset(graph.nodes[node_id].states),
                frozenset(graph.targets(node_id, Relation.INSIDE)),
                frozenset(graph.targets(node_id, Relation.ON)),
            )
            for node_id in watched
        ),
        frozenset(node_id for node_id, node in graph.nodes.items() if State.CLOSED in node.states),
        standing.known,
    )
