"""The household behind the protocol of a world: scenes, calls and outcomes."""

import re

import pytest

from bbllm.core.naming import id_of
from bbllm.core.types import Code, Kind, Scene, SkillCall, Status
from bbllm.worlds.household.checks import A, ActionSituation, Memory, close_to
from bbllm.worlds.household.household import Mode
from bbllm.worlds.household.script import parse_line
from bbllm.worlds.household.visibility import Visibility
from bbllm.worlds.household.vocabulary import Relation, State
from bbllm.worlds.household.world import HouseholdWorld, name_of
from tests.worlds.household.small_houses import Id, execute, two_rooms


@pytest.fixture
def world() -> HouseholdWorld:
    return HouseholdWorld(two_rooms())


def reported(scene: Scene, subject: str) -> set[tuple[str, str]]:
    return {(fact.predicate, fact.object) for fact in scene.facts if fact.subject == subject}


def test_a_scene_names_every_object_by_class_and_number(world: HouseholdWorld) -> None:
    scene = world.observe()

    assert scene.domain == 'household'
    assert {id_of(name) for name in scene.names} == set(world.graph.nodes)
    assert scene.object('kitchen_1').kind is Kind.LOCATION
    assert scene.object('fridge_21').kind is Kind.FIXTURE
    assert scene.object('mug_23').kind is Kind.OTHER
    assert scene.object('character_10').kind is Kind.OTHER


def test_a_scene_has_places_states_and_affordances_of_objects(
    world: HouseholdWorld,
) -> None:
    assert reported(world.observe(), 'mug_23') == {
        ('inside', 'kitchen_1'),
        ('on', 'kitchentable_20'),
        ('in_room', 'kitchen_1'),
        ('is', 'dirty'),
        ('affords', 'grabbable'),
        ('affords', 'recipient'),
    }


def test_what_is_held_close_faced_and_heated_is_a_fact(world: HouseholdWorld) -> None:
    fetch = ('walk fridge_21', 'open fridge_21', 'find salmon_22', 'grab salmon_22')
    heat = ('walk microwave_45', 'putin salmon_22 microwave_45', 'close microwave_45')
    assert execute(world, *fetch).succeeded
    assert ('held_by', 'character_10') in reported(world.observe(), 'salmon_22')
    assert execute(world, *heat, 'switchon microwave_45', 'turnto microwave_45').succeeded

    scene = world.observe()

    assert ('is', 'heated') in reported(scene, 'salmon_22')
    assert ('held_by', 'character_10') not in reported(scene, 'salmon_22')
    assert ('close_to', 'character_10') in reported(scene, 'microwave_45')
    assert ('facing', 'microwave_45') in reported(scene, 'character_10')
    assert not any(
        fact.predicate == 'close_to' and fact.object != 'character_10' for fact in scene.facts
    )


@pytest.mark.parametrize('house', ['studio', 'old_house'])
@pytest.mark.parametrize('place', ['fridge', 'sink', 'kitchencounter', 'coffeetable'])
def test_close_to_is_what_the_checks_of_actions_take_for_close(house: str, place: str) -> None:
    world = HouseholdWorld(house, mode=Mode.SANE)
    name = next(name for name in world.observe().names if name.startswith(f'{place}_'))
    assert execute(world, f'walk {name}').succeeded

    facts = world.observe().facts
    graph = world.graph
    me = graph.nodes[graph.character]
    close = {
        name_of(graph, node.id)
        for node in graph.nodes.values()
        if node is not me and close_to(A)(ActionSituation(graph, me, (node,), Memory()))
    }
    assert {f.subject for f in facts if f.predicate == 'close_to'} == close
    assert len(close) > 2  # also what stands on it, lies inside it or belongs to it


def test_nearness_and_facing_are_facts_of_characters_alone(
    world: HouseholdWorld,
) -> None:
    facts = world.observe().facts

    assert ('facing', 'kitchentable_20') not in reported(world.observe(), 'chair_25')
    assert not any(fact.subject == fact.object for fact in facts)
    assert not any(fact.predicate == 'in_room' and fact.subject == 'kitchen_1' for fact in facts)


def test_a_scene_names_nothing_that_is_not_seen_and_bears_a_ring_of_objects() -> None:
    graph = two_rooms()
    graph.add(10, Relation.FACING, Id.BED)
    graph.remove(Id.MUG, Relation.INSIDE, 1)
    graph.add(Id.MUG, Relation.INSIDE, Id.MUG)
    scene = HouseholdWorld(
        graph, mode=Mode.FRESH, visibility=Visibility(reach='rooms_seen')
    ).observe()

    assert {fact.predicate for fact in scene.facts if fact.object == 'bed_26'} == set()
    assert not any(word == 'in_room' for word, _ in reported(scene, 'mug_23'))


def test_devices_that_are_on_have_worked_and_messages_are_in_the_outcome() -> None:
    graph = two_rooms()
    graph.nodes[45].states = {State.CLOSED, State.ON}
    graph.add(Id.SALMON, Relation.INSIDE, 45)
    world = HouseholdWorld(graph, mode=Mode.FRESH)
    assert world.derived.of(Id.SALMON) == ('heated',)

    outcome = execute(world, 'walk tv_27', 'plugout tv_27')

    assert outcome.succeeded
    assert 'is still on' in outcome.message


def test_the_seat_is_what_the_person_sat_or_lay_down_on_last() -> None:
    world = HouseholdWorld(two_rooms(), mode=Mode.FRESH)
    assert world.seat is None

    assert execute(world, 'walk chair_25', 'sit chair_25', 'standup').succeeded
    assert execute(world, 'walk bed_26', 'lie bed_26').succeeded

    assert world.seat == Id.BED


def test_a_check_that_fails_rejects_the_call_in_virtualhomes_words(world: HouseholdWorld) -> None:
    call = SkillCall('grab', ('mug_23',))
    before = world.graph.to_dict()

    outcome = world.execute(call)

    assert outcome.call == call
    assert (outcome.status, outcome.code, outcome.raw) == (
        Status.REJECTED,
        Code.PRECONDITION,
        'not_close',
    )
    assert outcome.message == (
        '<character> (10) is not close to <mug> (23) when executing "[GRAB] <mug> (23) [0]"'
    )
    assert world.graph.to_dict() == before


@pytest.mark.parametrize(
    ('call', 'code', 'message'),
    [
        ('grab mug_24', Code.UNKNOWN_OBJECT, r"no object named 'mug_24'.*: mug_23, "),
        ('putin mug_23', Code.BAD_ARGUMENTS, 'putin takes object, place, but got 1'),
        ('fly mug_23', Code.UNKNOWN_SKILL, "no skill named 'fly'"),
        ('walk 1,2,3', Code.UNKNOWN_OBJECT, 'no object named'),
    ],
)
def test_what_the_scene_does_not_have_is_refused(
    world: HouseholdWorld, call: str, code: Code, message: str
) -> None:
    outcome = execute(world, call)

    assert (outcome.status, outcome.code) == (Status.REJECTED, code)
    assert re.search(message, outcome.message)


def test_what_was_done_is_a_script_that_does_the_same_again(world: HouseholdWorld) -> None:
    execute(world, 'walk kitchentable_20', 'grab mug_23', 'walk bed_26', 'grab salmon_22')
    execute(world, 'putback mug_23 bed_26')

    again = HouseholdWorld(two_rooms()).household
    for line in world.lines:
        assert again.step(parse_line(str(line))).succeeded

    assert len(world.lines) == 4
    assert again.graph == world.graph


def test_what_is_not_seen_cannot_be_named() -> None:
    world = HouseholdWorld(two_rooms(), visibility=Visibility(reach='rooms_seen'))

    assert execute(world, 'walk bed_26').code is Code.UNKNOWN_OBJECT
    assert execute(world, 'walk bedroom_2', 'walk bed_26').succeeded
