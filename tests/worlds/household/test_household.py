"""What every mode has in common, and the faults of VirtualHome that two of them keep."""

import pytest
from hypothesis import given

from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.rules import RULES, SANE_RULES
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import HANDS, Relation, State
from tests.drawn import examples
from tests.worlds.household.small_houses import SCRIPTS, Id, do, household, two_rooms

ORIGINAL = (Mode.PERSISTENT, Mode.FRESH)


@pytest.mark.parametrize('mode', Mode)
@examples(60)
@given(script=SCRIPTS)
def test_a_step_changes_states_alone_or_nothing_with_the_check_that_failed(
    mode: Mode, script: list[ScriptLine]
) -> None:
    home = household(mode)
    known = {
        check.name for rules in (RULES, SANE_RULES) for r in rules.values() for check in r.checks
    }
    known |= {'not_found', 'unsupported', 'no_room', 'sitting'}
    for step in script:
        before = home.graph.to_dict()
        result = home.step(step)
        if not result.succeeded:
            assert home.graph.to_dict() == before
            assert result.broken in known
        else:
            assert result.broken == ''
        assert all(text.endswith(f' when executing "{step}"') for text in result.messages)
    still = two_rooms().nodes
    for node_id, node in home.graph.nodes.items():
        node.states = still[node_id].states
    assert home.graph.nodes == still
    assert sum(len(home.graph.targets(Id.ME, hand)) for hand in HANDS) <= 2


def test_the_graph_that_was_given_does_not_change() -> None:
    graph = two_rooms()
    home = Household(graph)

    assert do(home, 'walk table', 'grab mug').succeeded
    assert graph == two_rooms()


@pytest.mark.parametrize('mode', ORIGINAL)
@pytest.mark.parametrize('text', ['putoff shirt', 'lookat_long tv', 'walk 999', 'walk mug'])
def test_where_the_original_breaks_off_or_searches_without_end_the_step_fails(
    mode: Mode, text: str
) -> None:
    graph = two_rooms()
    graph.remove(Id.MUG, Relation.INSIDE, Id.KITCHEN)
    graph.add(Id.MUG, Relation.INSIDE, Id.MUG)

    result = do(Household(graph, mode=mode), text)

    assert (result.succeeded, result.broken) == (False, 'unsupported')


def test_the_embodied_agent_interface_sees_that_the_character_sits() -> None:
    for mode, walks in ((Mode.PERSISTENT, True), (Mode.EAI, False)):
        home = Household(two_rooms(), mode=mode)
        assert do(home, 'walk chair', 'sit chair').succeeded
        assert do(home, 'find bed').succeeded is walks
        assert do(home, 'standup').succeeded is not walks


def test_the_embodied_agent_interface_takes_clothes_off_and_watches_nothing_shut_in() -> None:
    home = Household(two_rooms(), mode=Mode.EAI)
    assert do(home, 'walk shirt', 'grab shirt', 'puton shirt', 'putoff shirt').succeeded
    assert not home.graph.targets(Id.SHIRT, Relation.ON)
    assert do(home, 'putoff shirt').broken == 'not_worn'

    home.graph.nodes[Id.BOX].states = {State.CLOSED}
    home.graph.add(Id.TV, Relation.INSIDE, Id.BOX)
    assert do(home, 'walk tv', 'turnto tv', 'watch tv').broken == 'inside_closed'


@pytest.mark.parametrize('mode', ORIGINAL)
@pytest.mark.parametrize('rest', [None, State.SITTING, State.LYING])
def test_who_rests_watches_only_what_they_face_themselves(mode: Mode, rest: State | None) -> None:
    graph = two_rooms()
    graph.remove(Id.ME, Relation.INSIDE, Id.KITCHEN)
    graph.add(Id.ME, Relation.INSIDE, Id.BEDROOM)
    graph.add(Id.SHELF, Relation.FACING, Id.TV)
    graph.nodes[Id.ME].states = {rest} if rest else set()
    home = Household(graph, mode=mode)

    assert do(home, 'turnto shelf', 'watch tv').broken == ('not_facing' if rest else '')
    assert do(home, 'turnto tv', 'watch tv').succeeded


def test_without_a_character_in_a_room_the_clean_rules_still_do_nothing_by_half() -> None:
    graph: Graph = two_rooms()
    graph.remove(Id.ME, Relation.INSIDE, Id.KITCHEN)
    home = Household(graph, mode=Mode.SANE)

    assert do(home, 'walk table', 'grab mug').succeeded
    assert home.graph.room_of(Id.ME) == Id.KITCHEN
