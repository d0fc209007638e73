"""The memory graph: what it refuses, what it remembers, and what the published one forgets."""

from __future__ import annotations

import pytest
from house_player import Studio, id_of
from made_scenes import made_scene

from bbllm.core.types import Code, Outcome, SkillCall, Status
from bbllm.planners.belief.rule_state_estimator import RuleEstimator
from bbllm.planners.common.goal_predicates import GoalPredicate, GoalRelation
from bbllm.planners.common.open_state import OpenState
from bbllm.planners.fltrnn.context_selection import remembered
from bbllm.planners.fltrnn.grammar import parse_thing
from bbllm.planners.fltrnn.memory_graph import ARITY, MemoryGraph, PaperMemoryGraph
from bbllm.worlds.household.visibility import Visibility

MILK_ON_SOFA = GoalPredicate(GoalRelation.ON, 'milk', 'sofa')


def do(text: str) -> SkillCall:
    """Return a call of `grab milk`, on the first things of these classes."""
    verb, *words = text.split()
    names = (parse_thing(id_of(word)) for word in words)
    return SkillCall(verb, tuple(name for name in names if name))


def after(*texts: str, graph: type[MemoryGraph] = MemoryGraph) -> MemoryGraph:
    memory = graph(Studio().observe())
    for text in texts:
        memory.apply(do(text))
    return memory


@pytest.mark.parametrize(
    ('before', 'call', 'why'),
    [
        ([], 'grab milk', 'is in kitchen_'),
        (['walk kitchen'], 'grab milk', 'which is closed; it has to be opened first'),
        (['walk kitchen', 'open fridge'], 'grab milk', None),
        (['walk kitchen', 'open fridge', 'grab milk'], 'grab juice', 'only one thing may be held'),
        (['walk kitchen', 'open fridge'], 'open fridge', 'is open already'),
        (['walk kitchen'], 'close fridge', 'is not open'),
        (['walk kitchen'], 'open kitchencounter', 'nothing that can be opened'),
        (['walk kitchen'], 'putback plum fridge', 'is not held'),
        (['walk kitchen', 'grab plum'], 'putin plum fridge', 'fridge_130 is closed'),
        (['walk kitchen', 'grab plum'], 'putback plum plum', 'cannot be put into itself'),
        (['walk kitchen', 'open microwave'], 'switchon microwave', 'has to be closed before'),
        (['walk kitchen', 'switchon microwave'], 'open microwave', 'has to be switched off'),
        (['walk kitchen', 'switchon microwave'], 'switchon microwave', 'is not off'),
        (['walk kitchen'], 'switchoff microwave', 'is not on'),
        (['walk sofa', 'sit sofa'], 'walk kitchen', 'has to stand up first'),
        (['walk sofa', 'sit sofa', 'standup'], 'walk kitchen', None),
        (['walk kitchen'], 'grab fridge', 'cannot be grabbed'),
        ([], 'wash milk', "no action 'wash'"),
        ([], 'grab', 'takes 1 things, but got 0'),
    ],
)
def test_what_a_rule_forbids_is_refused_with_what_would_have_to_be_done(
    before: list[str], call: str, why: str | None
) -> None:
    refusal = after(*before).refusal(do(call))

    if why is None:
        assert refusal is None
    else:
        fridge = parse_thing(id_of('fridge')) or ''
        assert why.replace('fridge_130', fridge) in str(refusal)


def test_a_thing_that_is_not_there_is_refused_with_the_nearest() -> None:
    refusal = after().refusal(SkillCall('walk', ('milk_9999',)))

    assert parse_thing(id_of('milk')) in str(refusal).replace(',', ' ').split()


def test_a_thing_is_where_it_was_put_and_goes_where_its_place_goes() -> None:
    memory = after('walk kitchen', 'open fridge', 'grab milk', 'walk sofa', 'putback milk sofa')

    assert memory.is_satisfied(MILK_ON_SOFA)
    assert memory.held == ()
    (milk,) = memory.of_class('milk')
    assert memory.room_of(milk) == memory.room_of(memory.of_class('sofa')[0])
    assert not memory.is_satisfied(GoalPredicate(GoalRelation.INSIDE, 'milk', 'fridge'))
    assert memory.is_satisfied(GoalPredicate(GoalRelation.INSIDE, 'milk', 'livingroom'))


def test_what_stands_on_a_closed_thing_is_not_shut_in() -> None:
    memory = after()
    (microwave,) = memory.of_class('microwave')  # on a kitchen cabinet, which is closed

    assert memory.closed_around(microwave) is None


def test_a_copy_changes_for_itself() -> None:
    memory = after('walk kitchen')
    other = memory.copy()
    for text in ('open fridge', 'grab milk', 'sit sofa'):
        other.apply(do(text))

    assert memory.held == () and memory.seat is None
    assert memory.refusal(do('open fridge')) is None


def test_what_comes_into_sight_is_taken_in_and_what_is_remembered_stays() -> None:
    world = Studio(Visibility(reach='room', accumulating=True))
    memory = MemoryGraph(world.observe())
    assert memory.of_class('fridge') == []
    sofa = parse_thing(id_of('sofa')) or ''
    memory.apply(SkillCall('sit', (sofa,)))

    world.execute(do('walk kitchen'))
    memory.see(world.observe())

    assert memory.states(memory.of_class('fridge')[0]) >= {'closed'}
    assert memory.seat == sofa


def test_the_published_one_refuses_nothing_and_loses_open_doors_and_what_is_put() -> None:
    paper = after('open fridge', 'grab milk', 'putback milk sofa', graph=PaperMemoryGraph)
    (fridge,), (milk,) = paper.of_class('fridge'), paper.of_class('milk')

    assert 'opened' in paper.states(fridge) and 'open' not in paper.states(fridge)
    assert paper.held == (milk,)
    assert paper.refusal(do('grab juice')) is None
    paper.apply(do('close fridge'))
    assert 'opened' in paper.states(fridge)
    toggled = after('close fridge', graph=PaperMemoryGraph)
    assert 'open' in toggled.states(fridge)
    on = after('walk tv', 'switchon tv', 'switchoff tv', graph=PaperMemoryGraph)
    assert 'on' in on.states(on.of_class('tv')[0])


def test_a_prompt_tells_of_the_goal_s_things_and_of_what_they_are_in() -> None:
    text = remembered(after(), [MILK_ON_SOFA])

    milk, fridge, kitchen, sofa = map(id_of, ('milk', 'fridge', 'kitchen', 'sofa'))
    assert f"('{milk}', 'INSIDE', '{fridge}')" in text
    assert f"('{fridge}', 'INSIDE', '{kitchen}')" in text
    assert f'{fridge} is closed' in text
    assert sofa in text and 'juice' not in text


def test_every_action_that_is_offered_is_one_of_the_household() -> None:
    takes = {skill.name: len(skill.params) for skill in Studio().skills}

    assert {name: takes[name] for name in ARITY} == ARITY


def test_who_sits_at_first_sight_has_to_stand_up_before_it_walks() -> None:
    world = Studio()
    for text in ('walk sofa', 'sit sofa'):
        assert world.execute(do(text)).succeeded
    memory = MemoryGraph(world.observe())

    assert memory.seat == do('walk sofa').args[0]
    assert 'has to stand up first' in (memory.refusal(do('walk kitchen')) or '')
    assert world.execute(SkillCall('standup')).succeeded
    assert MemoryGraph(world.observe()).seat is None


SCENE = made_scene('milk_2 bread_3 microwave_4 oven_5')


def believed(*history: Outcome) -> dict[str, tuple[str, ...]]:
    state = RuleEstimator().estimate(OpenState(), history, SCENE)
    return {name: words for name, words in state.attributes.items() if words}


def done(text: str, code: Code = Code.NONE) -> Outcome:
    skill, *args = text.split()
    status = Status.SUCCEEDED if code is Code.NONE else Status.FAILED
    return Outcome(call=SkillCall(skill, tuple(args)), status=status, code=code)


def test_what_was_put_down_is_not_what_is_lost_or_misplaced_afterwards() -> None:
    given = [done('pick red_cube'), done('place location_A')]

    assert believed(*given, done('place location_B', Code.OBJECT_LOST)) == {}
    assert believed(*given, done('place location_B', Code.MISPLACED)) == {}


def test_a_heater_warms_what_is_in_it_and_nothing_in_another() -> None:
    history = ['putin milk_2 microwave_4', 'putin bread_3 oven_5', 'switchon microwave_4']

    assert believed(*map(done, history)) == {'milk_2': ('warm',)}
