"""
`expert` in houses: an upper bound for what a planner's loop can reach.

It receives the start and the goal of a case, and from each episode what was done and how it went.
It keeps a copy of the house up to date, plans from there, and writes the plan in the format that
the request declares. Prompts are not read, so that nothing they lack can fail. Constraints that
no scene shows it learns from the outcomes of failed actions. It names what the planner sees. Of a
goal that comes with an annotated program it plans nothing, and repeats that program.
"""

from collections.abc import Callable, Iterable, Sequence

from bbllm.core.protocols import PromptRequest, Situation
from bbllm.planners.domains.observation_text import ShortNames
from bbllm.worlds.household.derived import FOR_CLOTHES, SINKS, USED
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Property
from bbllm_bench.oracle.household import reply_format as write
from bbllm_bench.oracle.household.house_copy import HouseCopy
from bbllm_bench.oracle.household.house_state import NoPlanError
from bbllm_bench.oracle.household.subplan import MAKERS, plan_for
from bbllm_bench.oracle.model import Answer, OracleModel, our_planners
from bbllm_bench.oracle.reply_format import plan_reply
from bbllm_bench.suites.case import HouseStart
from bbllm_bench.suites.eai_suite import script_of, walked_script_of
from bbllm_bench.suites.house_goals import (
    GraphGoal,
    HouseCondition,
    HouseholdGoal,
    goal_of,
    predicates_of,
)
from bbllm_planners.goal_predicates import (
    PLACING,
    GoalPredicate,
    GoalRelation,
    goal_sentence,
    goal_text,
)

_LAST = (GoalRelation.HOLDS, GoalRelation.SIT)
"""What keeps the hand full, or the robot in its seat."""


def groups_of(goal: HouseholdGoal, graph: Graph) -> list[tuple[GoalPredicate, ...]]:
    """
    Return the predicates of a goal, those about one place together; what is held comes last.

    Empty if predicates cannot express the goal.
    """
    found: list[GoalPredicate] = []
    for condition in goal.all:
        one = predicates_of(HouseholdGoal(kind='household', all=(condition,)))
        items = one if one is not None else _made(condition, goal, graph)
        if not items or goal.same:
            return []
        found += items
    groups: dict[str, list[GoalPredicate]] = {}
    for item in sorted(dict.fromkeys(found), key=_rank):
        key = item.relation.value if item.relation in _LAST else item.place or item.noun
        groups.setdefault(key, []).append(item)
    return [tuple(items) for items in groups.values()]


def _rank(item: GoalPredicate) -> int:
    if item.relation in _LAST:
        return 2 + _LAST.index(item.relation)
    return 0 if item.relation in PLACING else 1


def _made(condition: HouseCondition, goal: HouseholdGoal, graph: Graph) -> Sequence[GoalPredicate]:
    """Return what makes an object heated, toasted or washed; empty if it goes elsewhere."""
    entity, word = condition.thing, condition.is_
    alone = sum(entity in (item.thing, item.held) for item in goal.all) == 1
    plain = not (condition.not_ or condition.place or condition.room or condition.count > 1)
    if word not in MAKERS or word == USED or entity is None or not alone or not plain:
        return ()
    nodes = graph.nodes.values()
    clothes = any(Property.CLOTHES in n.properties for n in nodes if n.class_name == entity)
    for device in sorted(nodes, key=lambda node: node.class_name):
        name = device.class_name
        makes = name.replace('_', '').lower() in MAKERS[word] - SINKS
        if makes and condition.by in (None, name) and (name in FOR_CLOTHES) is clothes:
            inside = GoalPredicate(GoalRelation.INSIDE, entity, name)
            closed = [GoalPredicate(GoalRelation.CLOSED, name)]
            door = closed if Property.CAN_OPEN in device.properties else []
            return (inside, *door, GoalPredicate(GoalRelation.TURNON, name))
    return ()


NAME = 'expert'
PLANNERS = our_planners('household')
"""Planners whose requests it answers."""
GIVES_UP_AFTER = 3
"""How often one call may fail before the oracle gives the task up."""


def house_oracle(
    start: HouseStart | None = None, goal: HouseholdGoal | GraphGoal | None = None
) -> OracleModel:
    """Return `expert` for a case; without one it answers no request."""

    def begin(situation: Situation | None) -> Answer:
        if start is None or goal is None or situation is None:
            return lambda *_: f'cannot: `{NAME}` has no case here; it works in `bbllm bench` only.'
        replies = _Replies(start, goal, situation)
        return lambda request, _: replies.to(request)

    return OracleModel(NAME, begin, PLANNERS, where=' in houses')


class _Replies:
    """Replies to the requests of one episode."""

    def __init__(self, start: HouseStart, goal: HouseholdGoal | GraphGoal, situation: Situation):
        self._goal = goal
        self._instruction = situation.task.instruction
        self._names = ShortNames()
        self._house = HouseCopy(start, situation.events, self._names.see)
        self._groups: dict[str, tuple[GoalPredicate, ...]] = {}
        """Sub-goals that were named in a reply, by their text."""

    def to(self, request: PromptRequest) -> str:
        """Return the reply to a request, or the line with the reason for none."""
        self._house.catch_up()
        try:
            return self._reply(request)
        except NoPlanError as error:
            return f'cannot: {error}'

    def _reply(self, request: PromptRequest) -> str:
        match request.kind:
            case 'plan' | 'steps' | 'calls' | 'program':
                return self._write(request, self._by_class())
            case 'repair' | 'rest':
                return self._write(request, self._tried_less(self._by_class()))
            case 'actions':
                return write.low_level_plan(self._low_level(), self._names)
            case 'tool_call':
                return write.tool_call(self._low_level(), self._names, request.scene)
            case 'code':
                return write.code(self._low_level(), self._names)
            case 'next_action':
                return write.next_action(self._low_level(), self._names)
            case 'call':
                return write.call_of_step(request.text, request.scene)
            case 'attention':
                return write.attention(self._classes(), self._house, self._names)
            case 'estimate':
                return write.estimate(request.text, self._house, self._names)
            case 'sub_goals':
                return ', '.join(f'subgoal{{{text}}}' for text in self._split(goal_text))
            case 'sub_tasks':
                texts = self._split(goal_sentence)
                return '\n'.join(f'{i}. {text}' for i, text in enumerate(texts, 1))
            case 'function':
                return write.function_body(self._in_sight(self._for_sub_goal(request.text)))
        return f'cannot: {NAME} has no reply for a request of the kind {request.kind}.'

    def _write(self, request: PromptRequest, lines: Sequence[ScriptLine]) -> str:
        putback = write.PUT if request.kind == 'calls' else write.PUTBACK
        single = self._house.shared_classes() if isinstance(self._goal, GraphGoal) else set[str]()
        plan = [write.plan_line(line, putback=putback, single=single) for line in lines]
        return plan_reply(request, plan, 'char0')

    def _by_class(self) -> tuple[ScriptLine, ...]:
        """
        Return the lines that lead to the goal, for a planner that names classes.

        Where no plan can be written in classes, it is one of objects: the planner then grounds
        the classes as it may.
        """
        if isinstance(self._goal, GraphGoal):
            return self._by_object()
        try:
            return plan_for(self._house.state(by_class=True), self._goal).lines
        except NoPlanError:
            return self._by_object()

    def _by_object(self) -> tuple[ScriptLine, ...]:
        if isinstance(self._goal, GraphGoal):
            return script_of(self._goal)[self._house.n_succeeded :]
        return plan_for(self._house.state(by_class=False), self._goal).lines

    def _low_level(self) -> list[ScriptLine]:
        """Return what comes next and is in sight, in actions that low-level plans have."""
        goal, n_done = self._goal, self._house.n_succeeded
        walks = walked_script_of(goal)[n_done:] if isinstance(goal, GraphGoal) else None
        return self._in_sight(self._tried_less(self._by_object() if walks is None else walks))

    def _classes(self) -> set[str]:
        """Return the classes that the goal is about."""
        if isinstance(self._goal, GraphGoal):
            return {name for line in script_of(self._goal) for name, _ in line.objects}
        return {name for item in self._goal.all for name in item.classes}

    def _tried_less(self, lines: tuple[ScriptLine, ...]) -> tuple[ScriptLine, ...]:
        """Return a plan; raises where its first call has failed too often."""
        if lines and self._house.failed[call := write.call_of(lines[0])] >= GIVES_UP_AFTER:
            raise NoPlanError(f'{call} failed {GIVES_UP_AFTER} times, and nothing else would do.')
        return lines

    def _in_sight(self, lines: Iterable[ScriptLine]) -> list[ScriptLine]:
        """Return the lines before the first that names what is not seen yet."""
        seen = set(self._house.observe().names)
        kept: list[ScriptLine] = []
        for line in lines:
            if not seen.issuperset(write.call_of(line).args):
                break
            kept.append(line)
        return kept

    def _split(self, text_of: Callable[[Sequence[GoalPredicate]], str]) -> list[str]:
        """Return the parts of the goal as texts, and remember what each of them means."""
        goal = self._goal
        groups = [] if isinstance(goal, GraphGoal) else groups_of(goal, self._house.graph)
        if not groups:
            return [self._instruction]
        self._groups = {text_of(group): group for group in groups}
        return list(self._groups)

    def _for_sub_goal(self, text: str) -> tuple[ScriptLine, ...]:
        """Return the lines for a part of the goal; for the whole goal where it is none."""
        if isinstance(self._goal, GraphGoal):
            return self._by_object()
        state = self._house.state(by_class=False)
        group = self._groups.get(text)
        if group is None:
            return plan_for(state, self._goal).lines
        others = [item for part in self._groups.values() for item in part if item not in group]
        keep = [each for each in goal_of(others).all if state.holds([each])] if others else []
        return plan_for(state, goal_of(group), keep=keep).lines
