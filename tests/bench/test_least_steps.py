"""The least number of steps is what trying everything finds, and what cannot be proven is told."""

from __future__ import annotations

from typing import Any

import pytest
from least_steps_by_force import STEADY, brute_force, goal, holds, house

from bbllm.bench.optimal.least_bound import bound
from bbllm.bench.optimal.least_steps import followers, least_steps, short_plan
from bbllm.bench.optimal.relaxed_house import (
    NOWHERE,
    NotProvenError,
    RelaxedHouse,
    RelaxedState,
    relax,
)
from bbllm.worlds.household.constraints import Constraint
from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.houses import build, load_house
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action

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


@pytest.mark.parametrize('number', range(len(SMALL)))
def test_the_least_is_what_trying_every_line_in_every_situation_finds(number: int) -> None:
    household, wanted = SMALL[number]
    before = household.graph.copy()

    least = least_steps(household, wanted)

    assert household.graph == before
    assert len(least.lines) == brute_force(household, wanted, len(least.lines))
    copy = household.copy()
    assert all(copy.step(line).succeeded for line in least.lines)
    assert holds(wanted, copy)


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
"""Also with hundreds of situations, too many to try every line in each."""


@pytest.mark.parametrize('number', range(len(FULLER)))
def test_the_bound_never_says_more_than_is_missing_whatever_was_done_before(number: int) -> None:
    household, wanted = FULLER[number]
    house_here = relax(household.graph, wanted)
    first = house_here.start()

    missing = all_missing(house_here, first)

    assert missing[first] == len(least_steps(household, wanted).lines)
    for here, n_steps in missing.items():
        assert bound(house_here, here) <= n_steps
        assert (bound(house_here, here) == 0) is reached(house_here, here)


def test_among_those_situations_are_some_with_full_hands_and_ends_with_things_held() -> None:
    houses = [relax(household.graph, wanted) for household, wanted in FULLER]
    found = [(each, here) for each in houses for here in all_missing(each, each.start())]

    assert sum(here.n_held == 2 for _, here in found) > 100
    assert any(here.n_held and reached(each, here) for each, here in found)


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


def test_nothing_is_claimed_where_things_may_be_piled_up_in_a_hand() -> None:
    rooms = {'rooms': {'kitchen': [{'stool': {'on': ['plum*4']}}, 'desk']}}
    wanted = goal({'thing': 'plum', 'on': 'desk', 'count': 4})

    little_room = Constraint.model_validate({'holds_at_most': {'thing': 'desk', 'count': 4}})
    for constraints in ((), (little_room,)):
        free = Household(build(rooms, 'made up'), constraints=constraints)
        with pytest.raises(NotProvenError, match=r'without the constraint {puts_only_on: furni'):
            least_steps(free, wanted)
        assert len(short_plan(free.copy(), wanted).lines) == 12
    strict = Household(build(rooms, 'made up'), constraints=STEADY)
    assert len(least_steps(strict.copy(), wanted).lines) == 12


def test_nothing_is_claimed_of_other_rules() -> None:
    fresh = Household(house('plum').graph, mode=Mode.FRESH, constraints=STEADY)

    with pytest.raises(NotProvenError, match='for the clean rules, not for fresh'):
        least_steps(fresh, goal({'held': 'plum'}))


def line_of(text: str) -> ScriptLine:
    word, *names = text.split()
    things = tuple((name.rpartition('_')[0], int(name.rpartition('_')[2])) for name in names)
    return ScriptLine(Action(word.upper()), things)


@pytest.mark.parametrize(
    ('condition', 'told'),
    [
        ({'thing': 'apple', 'is': 'heated'}, 'only open, closed, on and off'),
        ({'thing': 'apple', 'on': 'desk', 'not': True}, 'only what shall be so'),
        ({'person': 'sitting', 'on': 'sofa'}, 'only what shall be so'),
        ({'thing': 'apple', 'on': 'plate'}, 'the place can be carried'),
        ({'thing': 'apple', 'inside': 'kitchen'}, 'or is a room'),
        ({'thing': 'clothesshirt', 'on': 'desk'}, 'can be worn'),
        ({'held': 'milk'}, 'poured and held'),
        ({'thing': 'milk', 'inside': 'sink'}, 'poured and held'),
        ({'thing': 'book', 'is': 'open'}, 'it can be carried'),
    ],
)
def test_goals_for_which_the_argument_does_not_hold_are_told(
    condition: dict[str, Any], told: str
) -> None:
    household = Household(load_house('family_flat').graph, constraints=STEADY)

    with pytest.raises(NotProvenError) as caught:
        least_steps(household, goal(condition))

    assert told in str(caught.value)


def test_things_in_what_can_be_carried_and_too_much_effort_are_told() -> None:
    boxed = house({'box': {'inside': ['candle'], 'is': ['open']}}, 'desk')
    with pytest.raises(NotProvenError, match='lies in or on what can be carried'):
        least_steps(boxed, goal({'thing': 'candle', 'on': 'desk'}))
    with pytest.raises(NotProvenError, match='3 situations were looked at'):
        least_steps(
            Household(load_house('family_flat').graph, constraints=STEADY),
            goal({'thing': 'plate', 'on': 'kitchentable', 'count': 4}),
            effort=3,
        )


def test_a_goal_that_is_reached_takes_no_step() -> None:
    household = house({'fridge': {'inside': ['apple']}})

    assert least_steps(household, goal({'thing': 'apple', 'inside': 'fridge'})).lines == ()
