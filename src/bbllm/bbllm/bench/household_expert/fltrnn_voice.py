"""
What `expert` says to FLTRNN, planning-only and planning-reasoning.

It names only things that the prompt tells of. Where what a goal needs is not in sight and the
prompt has no list of rooms to look in, it says that it cannot.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from bbllm.bench.household_expert.costs import makers_of
from bbllm.bench.household_expert.errands import errands
from bbllm.bench.household_expert.fltrnn_told import read_told
from bbllm.bench.household_expert.lessons import Lessons
from bbllm.bench.household_expert.moves import focus_on
from bbllm.bench.household_expert.search import NoPlanError, search
from bbllm.bench.household_expert.told import Told
from bbllm.bench.suites.house_goals import HouseCondition, HouseholdGoal
from bbllm.bench.suites.house_predicates import predicates_of
from bbllm.core.instance_names import class_of, id_of, instance_name
from bbllm.core.types import SkillCall
from bbllm.planners.common.goal_predicates import (
    PLACING,
    GoalPredicate,
    GoalRelation,
    goal_sentence,
    goal_text,
    parse_goal,
)
from bbllm.planners.fltrnn.grammar import shown
from bbllm.planners.fltrnn.memory_graph import MemoryGraph
from bbllm.planners.fltrnn.prompting import ACT, CELL, GOAL, REASON, SPLIT, WHOLE
from bbllm.planners.fltrnn.sub_goals import MAX_SENTENCE
from bbllm.worlds.household.checks import hand_is_full, in_state, no
from bbllm.worlds.household.derived import WORDS
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.rule import Check
from bbllm.worlds.household.vocabulary import Action, Property, State

_RULES = {
    Action.GRAB: Check('two_at_once', no(hand_is_full), '{C} holds something already'),
    Action.SWITCHON: Check('on_while_open', no(in_state(0, State.OPEN)), '{a} is open'),
}
"""What the memory graph refuses and a household does not."""
_LAST = (GoalRelation.HOLDS, GoalRelation.SIT)
"""What keeps the hand full, or the robot in its seat."""
_TASK_GOAL = re.compile(r'^Task goal: (.*)$', re.MULTILINE)
_CLASSES = re.compile(r'^# Classes(?: in sight)?: (.*)$', re.MULTILINE)
_COMPLETED = re.compile(r'^# Completed so far: (.*)$', re.MULTILINE)
_TRIED = re.compile(r'^# Tried before, and not reached: .*\bgrab\((\w+)\) failed', re.MULTILINE)


def fltrnn_voice(prompt: str, told: Told) -> str | None:
    """Answer a prompt of FLTRNN or its baselines; see `told.Voice`."""
    opening = prompt.partition('\n')[0]
    if opening == SPLIT:
        parts = _parts(prompt, told)
        texts = (text if group else _with_classes(text, prompt, told) for text, group in parts)
        return ', '.join(f'subgoal{{{text}}}' for text in texts)
    if opening == REASON:
        return '\n'.join(f'{i}. {words}' for i, (words, _) in enumerate(_said(told, prompt), 1))
    if opening not in (CELL, WHOLE, ACT):
        return None
    thoughts = '# Rule thought:' in prompt
    calls = _calls(prompt, opening, told)
    names = read_told(prompt).names
    if untold := [name for call in calls for name in call.args if name not in names]:
        raise NoPlanError(f'There is no {class_of(untold[0])} in sight.')
    return '\n'.join(_body(calls, thoughts))


def _parts(prompt: str, told: Told) -> list[tuple[str, tuple[GoalPredicate, ...]]]:
    """Return the goal's parts: as predicates where these can say it, else as it was said."""
    goal = _TASK_GOAL.findall(prompt)[-1]
    household, wanted = told.case()
    predicates = parse_goal(goal, _classes(household.graph)) or _in_predicates(
        wanted, household.graph
    )
    if predicates is None:
        return [(goal, ())]
    groups = _grouped(predicates)
    return [(goal_text(group), group) for group in groups]


def _with_classes(text: str, prompt: str, told: Told) -> str:
    """Write a goal in words with the classes that it takes, of those that a prompt lists."""
    household, goal = told.case()
    matters = {name for item in goal.all for name in focus_on(item, household.graph).all}
    listed = _CLASSES.findall(prompt)[-1].split(', ')
    text = text.rstrip('.')
    for name in listed:
        longer = f'{text} with {name}' if ' with ' not in text else f'{text}, {name}'
        if name in matters and len(longer) <= MAX_SENTENCE:
            text = longer
    return text


def _said(told: Told, prompt: str) -> list[tuple[str, tuple[GoalPredicate, ...]]]:
    return [
        (goal_sentence(group) if group else text, group) for text, group in _parts(prompt, told)
    ]


def _grouped(predicates: Sequence[GoalPredicate]) -> list[tuple[GoalPredicate, ...]]:
    """Put together what is about one place; what is held or sat on comes last."""
    groups: dict[str, list[GoalPredicate]] = {}
    for item in sorted(predicates, key=_rank):
        key = item.relation.value if item.relation in _LAST else item.place or item.thing
        groups.setdefault(key, []).append(item)
    return [tuple(items) for items in groups.values()]


def _rank(item: GoalPredicate) -> int:
    if item.relation in _LAST:
        return 2 + _LAST.index(item.relation)
    return 0 if item.relation in PLACING else 1


def _in_predicates(goal: HouseholdGoal, graph: Graph) -> tuple[GoalPredicate, ...] | None:
    """Return a case's goal as predicates; None where these cannot say it."""
    found: list[GoalPredicate] = []
    for condition in goal.all:
        one = predicates_of(HouseholdGoal(kind='household', all=(condition,)))
        items = one if one is not None else _made(condition, goal, graph)
        if items is None:
            return None
        found += items
    return tuple(dict.fromkeys(found))


def _made(
    condition: HouseCondition, goal: HouseholdGoal, graph: Graph
) -> tuple[GoalPredicate, ...] | None:
    """Return what makes a thing toasted, heated, washed; None where it has to go on from there."""
    thing = condition.thing
    alone = sum(thing in (item.thing, item.held) for item in goal.all) == 1
    if condition.is_ not in WORDS or condition.not_ or not thing or not alone:
        return None
    if condition.place or condition.room or condition.count > 1:
        return None
    into, switched = makers_of(graph, str(condition.is_))
    devices = sorted(into & switched)  # a sink is started by its faucet, and a phone by itself
    clothes = any(
        Property.CLOTHES in node.properties
        for node in graph.nodes.values()
        if node.class_name == thing
    )
    devices = [name for name in devices if condition.by in (None, name)]
    fitting = [name for name in devices if ('washing' in name) is clothes]
    if not fitting:
        return None
    device = fitting[0]
    openable = any(
        Property.CAN_OPEN in node.properties
        for node in graph.nodes.values()
        if node.class_name == device
    )
    return (
        GoalPredicate(GoalRelation.INSIDE, thing, device),
        *([GoalPredicate(GoalRelation.CLOSED, device)] if openable else []),
        GoalPredicate(GoalRelation.TURNON, device),
    )


# --- plans ---------------------------------------------------------------------------------------


def _calls(prompt: str, opening: str, told: Told) -> list[SkillCall]:
    wanted = prompt.rsplit(f'\n{GOAL}', 1)[-1].partition('\n')[0]
    house = read_told(prompt)
    household, goal = told.case()
    known = _classes(household.graph)
    predicates = parse_goal(wanted, known)
    whole: tuple[GoalPredicate, ...] = ()
    if predicates is None:
        whole = _in_predicates(goal, household.graph) or ()
        groups = [whole, *_grouped(whole)]
        said = [group for group in groups if group and goal_sentence(group) == wanted]
        predicates = said[0] if said else (whole if opening == WHOLE else ())
    if not predicates:
        return _searched(house.household(household), goal, set(_TRIED.findall(prompt)))
    scene = house.scene(household)
    if house.unseen:
        looks = _to_see(house.unseen, set(house.closed), MemoryGraph(scene))
        return [call for call in looks if set(call.args) <= house.names]
    memory = MemoryGraph(house.only(scene))
    # What was completed with things that this prompt does not tell of is left as it is.
    others = _completed(prompt, known) if opening == CELL else whole
    keep = [item for item in others if item not in predicates and memory.holds(item)]
    begun = [SkillCall('standup')] if house.seated else []
    avoid = set(_TRIED.findall(prompt))
    return begun + errands(memory, [*predicates, *keep], avoid=avoid)


def _searched(
    household: Household, goal: HouseholdGoal, failed: Collection[str]
) -> list[SkillCall]:
    """Return a plan for a goal that predicates cannot say."""
    ids = (id_of(name) for name in failed)
    lessons = Lessons(gripless=frozenset(n for n in ids if n is not None))
    try:
        lines = search(household.with_checks(_RULES), goal, in_classes=False, lessons=lessons)
    except NoPlanError:
        # Better one that breaks a rule than none.
        lines = search(household, goal, in_classes=False, lessons=lessons)
    return [
        SkillCall(line.action.skill, tuple(instance_name(*item) for item in line.objects))
        for line in lines
    ]


def _to_see(words: Sequence[str], closed: set[str], memory: MemoryGraph) -> Iterator[SkillCall]:
    """Go to where things of some classes were at the start, and open what hides them there."""
    for word in words:
        names = memory.of_class(word)
        name = min(names, key=lambda name: memory.closed_around(name) is not None, default=None)
        if name is None:
            continue
        shut = memory.closed_around(name)
        if shut in closed:
            closed.discard(shut)
            yield SkillCall('walk', (shut,))
            yield SkillCall('open', (shut,))
        elif room := memory.room_of(name):
            yield SkillCall('walk', (room,))


def _completed(prompt: str, known: Sequence[str]) -> tuple[GoalPredicate, ...]:
    found = _COMPLETED.search(prompt)
    parts = found[1].split('; ') if found and found[1] != 'nothing' else []
    return tuple(item for part in parts for item in parse_goal(part, known) or ())


def _classes(graph: Graph) -> list[str]:
    return sorted({class_of(instance_name(n.class_name, n.id)) for n in graph.nodes.values()})


def _body(calls: Sequence[SkillCall], thoughts: bool) -> Iterator[str]:
    for call in calls:
        if thoughts and call.skill in ('open', 'close', 'grab'):
            yield f'    # Rule thought: {_thought(call)}'
        yield f'    {call.skill}({", ".join(repr(shown(name)) for name in call.args)})'
    yield '    # done'


def _thought(call: SkillCall) -> str:
    name = shown(call.args[0])
    return {
        'open': f'{name} is closed, and what is inside is wanted, or goes there',
        'close': f'{name} is open, and shall be closed',
        'grab': f'nothing is held, so {name} may be taken',
    }[call.skill]
