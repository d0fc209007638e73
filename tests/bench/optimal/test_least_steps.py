"""The least number of steps is what trying everything finds; what cannot be proven is refused."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from itertools import permutations
from typing import Any

import pytest

from bbllm.worlds.household.constraints import Constraint
from bbllm.worlds.household.derived import derived
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.houses import build, load_house
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action
from bbllm_bench.optimal.least_bound import bound
from bbllm_bench.optimal.least_steps import followers, least_steps, short_plan
from bbllm_bench.optimal.relaxed_house import (
    NOWHERE,
    NotProvenError,
    RelaxedHouse,
    RelaxedState,
)
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.house_goals import HouseCondition, HouseholdGoal
from bbllm_bench.suites.household import judge_household
from bbllm_bench.suites.suite import load_suite
from tests.bench.device_bound import device_bound

# --- The least number of steps in a small house, by trying every line in every situation

STEADY = (Constraint(puts_only_on='furniture'),)


# Actions that change nothing here, or do what another one does as well.
IDLE = frozenset(
    {
        Action.RUN, Action.TURNTO, Action.LOOKAT, Action.LOOKAT_SHORT, Action.LOOKAT_LONG,
        Action.POINTAT, Action.TOUCH, Action.WATCH, Action.GREET, Action.READ, Action.DRINK,
        Action.EAT, Action.TYPE, Action.PUSH, Action.PULL, Action.MOVE, Action.SQUEEZE,
        Action.CUT, Action.SLEEP, Action.WAKEUP, Action.LIE, Action.WASH, Action.RINSE,
        Action.SCRUB, Action.WIPE, Action.PLUGIN,
    }
)  # fmt: skip


def house(*items: Any, **rooms: Any) -> Household:
    return Household(
        build({'rooms': {'kitchen': list(items), **rooms}}, 'made up'), constraints=STEADY
    )


def goal(*conditions: dict[str, Any]) -> HouseholdGoal:
    return HouseholdGoal(
        kind='household', all=tuple(HouseCondition.model_validate(c) for c in conditions)
    )


def brute_force(household: Household, wanted: HouseholdGoal, most: int) -> int | None:
    """Return the least number of steps by trying every line in every situation."""
    lines = list(all_lines(household.graph))
    known = {situation(household)}
    front = [household]
    for n_steps in range(most + 1):
        if any(holds(wanted, each) for each in front):
            return n_steps
        after = []
        for each in front:
            for line in lines:
                if not each.can(line):
                    continue
                copy = each.copy()
                copy.step(line)
                if (key := situation(copy)) not in known:
                    known.add(key)
                    after.append(copy)
        front = after
    return None


def all_lines(graph: Graph) -> Iterator[ScriptLine]:
    things = [(n.class_name, i) for i, n in sorted(graph.nodes.items()) if i != graph.character]
    for action in Action:
        if action not in IDLE:
            for objects in permutations(things, action.arity):
                yield ScriptLine(action, objects)


def situation(household: Household) -> Hashable:
    states = tuple(sorted((i, tuple(sorted(n.states))) for i, n in household.graph.nodes.items()))
    return tuple(household.graph.edges()), states


def holds(wanted: HouseholdGoal, household: Household) -> bool:
    graph = household.graph
    return judge_household(wanted, graph, derived(graph)).passed


# --- The least number of steps is what trying everything finds, and what cannot be proven is told

SMALL = [
    # a thing in something closed, and brought into another room
    (house({'fridge': {'inside': ['apple']}}, bedroom=['desk']),
     goal({'thing': 'apple', 'on': 'desk'})),
    # into something that runs and has to be closed again
    (house('plum', {'microwave': {'is': ['on', 'closed']}}),
     goal({'thing': 'plum', 'inside': 'microwave'}, {'thing': 'microwave', 'is': 'closed'})),
    # a hand has to be free to open: here one goes there first
    (house({'stool': {'on': ['plum', 'apple']}}, 'fridge'),
     goal({'thing': 'plum', 'inside': 'fridge'}, {'thing': 'apple', 'inside': 'fridge'})),
    # three things, two hands
    (house({'stool': {'on': ['plum*3']}}, 'desk'),
     goal({'thing': 'plum', 'on': 'desk', 'count': 2}, {'held': 'plum'})),
    # what stands in a device on a counter is on the counter too
    (house({'kitchencounter': {'on': ['toaster']}}, {'stool': {'on': ['plum']}}),
     goal({'thing': 'plum', 'on': 'kitchencounter'}, {'thing': 'toaster', 'is': 'on'})),
    # the same zone: no way between taking and putting
    (house({'kitchencounter': {'on': ['plum*2', 'toaster']}}),
     goal({'thing': 'plum', 'inside': 'toaster', 'count': 2})),
    # any two of three
    (house('lightswitch', bedroom=['lightswitch'], bathroom=['lightswitch']),
     goal({'thing': 'lightswitch', 'is': 'off', 'count': 2})),
    # open and closed ones of a class, all to be closed
    (house({'kitchencabinet': {'is': ['open']}}, {'kitchencabinet': {'inside': ['plum']}}),
     goal({'thing': 'kitchencabinet', 'is': 'closed', 'count': 2}, {'held': 'plum'})),
    # near each other, yet not close: something more has to be gone to, or looked for
    (house({'bed': {'near': [{'nightstand': {'is': ['open'], 'inside': ['plum']}}]}}, 'lime'),
     goal({'held': 'plum'}, {'held': 'lime'})),
]  # fmt: skip


# Also with hundreds of situations, too many to try every line in each.
FULLER = [
    *SMALL,
    (house({'fridge': {'inside': ['plum*2']}}, {'stool': {'on': ['lime']}}, bedroom=['desk']),
     goal({'thing': 'plum', 'on': 'desk', 'count': 2}, {'thing': 'lime', 'inside': 'fridge'},
          {'thing': 'fridge', 'is': 'closed'})),
    (house({'microwave': {'is': ['on', 'closed'], 'inside': ['lime']}},
           {'stool': {'on': ['plum*2']}}, bedroom=['desk']),
     goal({'thing': 'plum', 'on': 'desk', 'count': 2}, {'held': 'lime'},
          {'thing': 'microwave', 'is': 'on'})),
]  # fmt: skip


@pytest.mark.parametrize('number', range(len(FULLER)))
def test_the_bound_never_says_more_than_is_missing_whatever_was_done_before(number: int) -> None:
    household, wanted = FULLER[number]
    house_here = RelaxedHouse(household.graph, wanted)
    first = house_here.start()

    missing = all_missing(house_here, first)

    assert missing[first] == len(least_steps(household, wanted).lines)
    for here, n_steps in missing.items():
        assert bound(house_here, here) <= n_steps
        assert (bound(house_here, here) == 0) is reached(house_here, here)


def all_missing(house_here: RelaxedHouse, first: RelaxedState) -> dict[RelaxedState, int]:
    """Return the true number of missing steps of all situations that can come about."""
    before: dict[RelaxedState, list[RelaxedState]] = {first: []}
    waiting = [first]
    while waiting:
        here = waiting.pop()
        for _, after in followers(house_here, here):
            if after not in before:
                before[after] = []
                waiting.append(after)
            before[after].append(here)
    front = [here for here in before if reached(house_here, here)]
    missing = dict.fromkeys(front, 0)
    while front:
        earlier = {each: missing[here] + 1 for here in front for each in before[here]}
        front = [here for here in earlier if here not in missing]
        missing |= {here: earlier[here] for here in front}
    return missing


def reached(house_here: RelaxedHouse, here: RelaxedState) -> bool:
    def is_so(node_id: int, word: str) -> bool:
        now = here.open if word in ('open', 'closed') else here.on
        return (node_id in now) is (word in ('open', 'on'))

    def n_there(i: int, c: int) -> int:
        placed = [house_here.spots[s] for s in here.things[c] if s != NOWHERE]
        return sum(i in spot.counts_for for spot in placed)

    return (
        all(n_there(i, c) >= house_here.conditions[i].count for i, c in house_here.placing)
        and all(here.things[c].count(NOWHERE) >= n for c, n in house_here.holding.items())
        and all(sum(is_so(each, word) for each in ids) >= n for n, ids, word in house_here.states)
    )


def test_piling_up_in_a_hand_would_be_shorter_and_is_why_the_constraint_is_there() -> None:
    rooms = {'rooms': {'kitchen': [{'stool': {'on': ['plum*4']}}, 'desk']}}
    wanted = goal({'thing': 'plum', 'on': 'desk', 'count': 4})
    strict = Household(build(rooms, 'made up'), constraints=STEADY)
    free = Household(build(rooms, 'made up'))
    pile = ['walk stool_100', 'grab plum_101', 'putback plum_101 plum_102',
            'grab plum_103', 'putback plum_103 plum_102', 'grab plum_102', 'grab plum_104',
            'walk desk_105', 'putback plum_102 desk_105', 'putback plum_104 desk_105']  # fmt: skip

    least = least_steps(strict, wanted)

    assert len(least.lines) == 12
    for text in pile:
        line = line_of(text)
        assert free.step(line).succeeded, text
        strict.step(line)
    assert holds(wanted, free)
    assert not holds(wanted, strict)


def test_nothing_is_claimed_of_other_rules_or_where_things_may_be_piled_up() -> None:
    rooms = {'rooms': {'kitchen': [{'stool': {'on': ['plum*4']}}, 'desk']}}
    wanted = goal({'thing': 'plum', 'on': 'desk', 'count': 4})
    free = Household(build(rooms, 'made up'))
    fresh = Household(free.graph, mode=Mode.FRESH, constraints=STEADY)

    with pytest.raises(NotProvenError, match=r'without the constraint {puts_only_on: furni'):
        least_steps(free, wanted)
    assert len(short_plan(free, wanted).lines) == 12
    with pytest.raises(NotProvenError, match='for the clean rules, not for fresh'):
        least_steps(fresh, wanted)


def line_of(text: str) -> ScriptLine:
    word, *names = text.split()
    things = tuple((name.rpartition('_')[0], int(name.rpartition('_')[2])) for name in names)
    return ScriptLine(Action(word.upper()), things)


BOXED = house({'box': {'inside': ['candle'], 'is': ['open']}}, 'desk')
FAMILY = Household(load_house('family_flat').graph, constraints=STEADY)


@pytest.mark.parametrize(
    ('household', 'condition'),
    [
        (FAMILY, {'thing': 'apple', 'is': 'heated'}),
        (FAMILY, {'thing': 'apple', 'on': 'desk', 'not': True}),
        (FAMILY, {'person': 'sitting', 'on': 'sofa'}),
        (FAMILY, {'thing': 'apple', 'on': 'plate'}),
        (FAMILY, {'thing': 'apple', 'inside': 'kitchen'}),
        (FAMILY, {'thing': 'clothesshirt', 'on': 'desk'}),
        (FAMILY, {'held': 'milk'}),
        (FAMILY, {'thing': 'milk', 'inside': 'sink'}),
        (FAMILY, {'thing': 'book', 'is': 'open'}),
        (BOXED, {'thing': 'candle', 'on': 'desk'}),
    ],
)
def test_goals_for_which_the_argument_does_not_hold_are_told(
    household: Household, condition: dict[str, Any]
) -> None:
    with pytest.raises(NotProvenError, match='goals of that kind are not searched'):
        least_steps(household, goal(condition))


def test_too_much_effort_is_told() -> None:
    with pytest.raises(NotProvenError, match='3 situations were looked at'):
        least_steps(FAMILY, goal({'thing': 'plate', 'on': 'kitchentable', 'count': 4}), effort=3)


# --- Least steps: what is shut in is opened first, and of which beginnings nothing is claimed

MICROWAVE = {'closet': {'inside': ['microwave']}}
IN_MICROWAVE = {'thing': 'plum', 'inside': 'microwave'}
IN_CABINET = {'thing': 'plum', 'inside': 'kitchencabinet'}


@pytest.mark.parametrize(
    ('items', 'conditions', 'n_steps', 'included'),
    [
        # what is so already
        ([{'fridge': {'inside': ['plum']}}], [{'thing': 'plum', 'inside': 'fridge'}], 0, []),
        # a device in a closed cabinet, a door behind a door, and what stands on what is shut in
        ([{'kitchencabinet': {'inside': ['toaster']}}], [{'thing': 'toaster', 'is': 'on'}], 3,
         ['open kitchencabinet', 'switchon toaster']),
        ([MICROWAVE], [{'thing': 'microwave', 'is': 'open'}], 3,
         ['open closet', 'open microwave']),
        ([{'closet': {'inside': [{'microwave': {'on': ['toaster']}}]}}],
         [{'thing': 'toaster', 'is': 'on'}], 3, ['open closet', 'switchon toaster']),
        # behind two doors, of which one has to be closed again
        (['plum', MICROWAVE], [IN_MICROWAVE], 6, ['open closet', 'open microwave']),
        (['plum', MICROWAVE], [IN_MICROWAVE, {'thing': 'closet', 'is': 'closed'}], 7,
         ['open closet', 'open microwave', 'close closet']),
        # on top of something closed nothing has to be opened; on and inside are two places
        (['plum', 'kitchencabinet'], [{'thing': 'plum', 'on': 'kitchencabinet'}], 4,
         ['putback plum']),
        ([{'kitchencabinet': {'on': ['plum']}}], [IN_CABINET], 4, ['open kitchencabinet']),
        # another plum is shut in, and need not be had; another cabinet need not be used
        ([{'fridge': {'inside': ['plum']}}, {'stool': {'on': ['plum']}}, 'desk'],
         [{'thing': 'plum', 'on': 'desk'}], 4, []),
        (['plum', {'kitchencabinet': {'is': ['open']}}, 'kitchencabinet'], [IN_CABINET], 4, []),
        # opened once, for the plum and for good
        (['plum', 'fridge'],
         [{'thing': 'plum', 'inside': 'fridge'}, {'thing': 'fridge', 'is': 'open'}], 5, []),
    ],
)  # fmt: skip
def test_doors_are_opened_where_one_cannot_do_without_and_once(
    items: list[Any], conditions: list[dict[str, Any]], n_steps: int, included: list[str]
) -> None:
    household, wanted = house(*items), goal(*conditions)

    lines = least_steps(household, wanted).lines

    relaxed = RelaxedHouse(household.graph, wanted)
    assert bound(relaxed, relaxed.start()) <= len(lines) == n_steps
    done = [f'{line.action.value.lower()} {line.objects[0][0]}' for line in lines]
    assert [item for item in done if item in included] == included
    assert all(household.step(line).succeeded for line in lines)


FLAT = {
    'rooms': {
        'kitchen': [{'fridge': {'inside': ['plum']}}, {'kitchencounter': {'on': ['toaster']}}],
        'livingroom': ['sofa', 'tv', 'clothesshirt', {'desk': {'on': ['lime']}}],
    }
}


Change = Callable[[dict[str, Any], Callable[[str], int]], None]


def edge(source: str, relation: str, target: str) -> Change:
    """Return what adds an edge between the first things of two classes."""

    def change(graph: dict[str, Any], id_of: Callable[[str], int]) -> None:
        graph['edges'].append(
            {'from_id': id_of(source), 'relation_type': relation, 'to_id': id_of(target)}
        )

    return change


def states(thing: str, *words: str) -> Change:
    """Return what gives a thing other states."""

    def change(graph: dict[str, Any], id_of: Callable[[str], int]) -> None:
        node = next(node for node in graph['nodes'] if node['id'] == id_of(thing))
        node['states'] = [*words]

    return change


def changed(*changes: Change) -> Household:
    graph = build(FLAT, 'made up').to_dict()

    def id_of(word: str) -> int:
        return next(node['id'] for node in graph['nodes'] if node['class_name'] == word)

    for change in changes:
        change(graph, id_of)
    return Household(Graph.from_dict(graph), constraints=STEADY)


PLUM_ON_DESK = goal({'thing': 'plum', 'on': 'desk'})
WATCH = goal({'thing': 'tv', 'is': 'on'})
TWICE = goal({'thing': 'plum', 'on': 'kitchencounter'}, {'thing': 'plum', 'inside': 'toaster'})
STANDS = (edge('character', 'CLOSE', 'fridge'), states('tv', 'OFF', 'PLUGGED_IN'))


@pytest.mark.parametrize(
    ('changes', 'wanted', 'told'),
    [
        ([edge('clothesshirt', 'ON', 'character')], PLUM_ON_DESK, 'sits or wears something'),
        ([edge('plum', 'ON', 'desk')], PLUM_ON_DESK, 'is in two places at the start'),
        ([states('fridge')], PLUM_ON_DESK, 'in no state to be opened'),
        ([STANDS[0], edge('character', 'CLOSE', 'sofa')], PLUM_ON_DESK, 'stands in two zones'),
        ([edge('character', 'ON', 'sofa')], PLUM_ON_DESK, 'sits or wears something'),
        ([states('tv', 'CLEAN', 'PLUGGED_IN')], WATCH, 'in no state to be opened'),
        ([states('tv', 'OFF', 'PLUGGED_OUT')], WATCH, 'in no state to be opened'),
        ([], TWICE, 'one place counts for two conditions'),
        ([], PLUM_ON_DESK.model_copy(update={'same': ('plum',)}), 'one and the same object'),
    ],
)
def test_of_a_beginning_that_the_argument_does_not_know_nothing_is_claimed(
    changes: list[Change], wanted: HouseholdGoal, told: str
) -> None:
    assert least_steps(changed(*STANDS), PLUM_ON_DESK).lines
    with pytest.raises(NotProvenError, match=told):
        least_steps(changed(*changes), wanted)


# --- Least steps and plans with something in a hand at the start: what `expert` has on its way

GOALS = load_suite('household_goals')

PLUMS = [{'stool': {'on': ['plum*2']}}, 'fridge']

LIMES = [{'stool': {'on': ['plum', 'lime*2']}}, 'fridge']

TWO_IN_FRIDGE = goal({'thing': 'plum', 'inside': 'fridge', 'count': 2})

ONE_IN_FRIDGE = goal({'thing': 'plum', 'inside': 'fridge'})


def holding(*words: str, items: Any = LIMES, **rooms: Any) -> Household:
    """Return a house in which things of these classes were taken, one after the other."""
    household = house(*items, **rooms)
    nodes = household.graph.nodes
    taken: list[int] = []
    for word in words:
        node_id = next(n for n in nodes if nodes[n].class_name == word and n not in taken)
        taken.append(node_id)
        for action in (Action.WALK, Action.GRAB):
            assert household.step(ScriptLine(action, ((word, node_id),))).succeeded
    return household


STARTS = [
    # both that are wanted: one is laid down so that a hand can open
    (holding('plum', 'plum', items=PLUMS), TWO_IN_FRIDGE),
    # one hand is full of what nobody asked for, and may stay so
    (holding('lime', 'plum'), ONE_IN_FRIDGE),
    # both are full of it: one has to be laid down
    (holding('lime', 'lime'), ONE_IN_FRIDGE),
    # what is to be held is held already
    (holding('lime', 'lime'), goal({'held': 'lime'}, {'thing': 'fridge', 'is': 'open'})),
    # to another room
    (holding('plum', 'lime', items=LIMES[:1], bedroom=['desk']),
     goal({'thing': 'plum', 'on': 'desk'}, {'held': 'lime'})),
]  # fmt: skip


@pytest.mark.parametrize(
    ('household', 'wanted'),
    [*SMALL, *STARTS[:2], pytest.param(*STARTS[2], marks=pytest.mark.slow), *STARTS[3:]],
)
def test_the_least_is_what_trying_every_line_in_every_situation_finds(
    household: Household, wanted: HouseholdGoal
) -> None:
    before = household.graph.copy()

    least = least_steps(household, wanted)

    assert household.graph == before
    assert len(least.lines) == brute_force(household, wanted, len(least.lines))
    copy = household.copy()
    assert all(copy.step(line).succeeded for line in least.lines)
    assert holds(wanted, copy)


def test_after_each_step_of_a_long_plan_what_is_left_is_one_step_less() -> None:
    case = make_case(GOALS, 'in_distribution_008', seed=1, trial=0)
    wanted = case.house_goal
    assert isinstance(wanted, HouseholdGoal)
    household = Household(case.house.build(), mode=case.house.mode)
    lines = short_plan(household, wanted).lines

    for n_done, line in enumerate(lines, 1):
        assert household.step(line).succeeded
        assert len(short_plan(household, wanted).lines) == len(lines) - n_done

    assert len(lines) >= 33
    assert holds(wanted, household)


def test_what_is_counted_without_a_search_is_never_more_than_the_least() -> None:
    suite = load_suite('household_goals')
    total = Counter[str]()
    for task in suite.tasks[::7]:
        case = make_case(suite, task.name, seed=0, trial=0)
        wanted = case.house_goal
        assert isinstance(wanted, HouseholdGoal)
        moved = [each.thing for each in wanted.all if each.place]
        if len({*moved}) == len(moved):
            counted, least = device_bound(case.house.household(), wanted), task.least_steps or 0
            assert counted <= least, task.name
            total += Counter(counted=counted, least=least)
    assert total['counted'] > 0.7 * total['least']
