"""The clean rules: what a person would expect, and every way in which they differ."""

import pytest
from hypothesis import given

from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import HANDS, Property, Relation, State
from tests.drawn import examples
from tests.worlds.household.small_houses import SCRIPTS, Id, do, household, leads_to_a_room, places


@pytest.fixture
def home() -> Household:
    return household(Mode.SANE)


@examples(120)
@given(SCRIPTS)
def test_at_most_two_objects_are_held_and_everything_leads_to_a_room(
    script: list[ScriptLine],
) -> None:
    home = household(Mode.SANE)
    for line in script:
        result = home.step(line)
        assert result.broken != 'unsupported'
        graph = home.graph
        held = [entity for hand in HANDS for entity in graph.targets(Id.ME, hand)]
        assert len(held) == len(set(held)) <= 2
        assert all(len(graph.targets(Id.ME, hand)) <= 1 for hand in HANDS)
        assert all(leads_to_a_room(graph, node_id) for node_id in graph.nodes)
        # What is held is in the room of who holds it; what was poured is also where it went.
        assert all(graph.room_of(Id.ME) in places(graph, entity) for entity in held)
        for node_id in graph.nodes:
            rooms = [p for p in graph.targets(node_id, Relation.INSIDE) if graph.nodes[p].is_room]
            assert len(rooms) <= 1
        resting = graph.nodes[Id.ME].states & {State.SITTING, State.LYING}
        assert len(resting) == len(graph.targets(Id.ME, Relation.ON)) <= 1
        assert not graph.drop_rings()


FETCH = ('walk fridge', 'open fridge', 'find salmon', 'grab salmon')
TAKE = ('walk table', 'grab plate')
SIT = ('walk chair', 'sit chair')
WEAR = ('walk shirt', 'grab shirt', 'puton shirt')
OUTCOMES = {
    'who sits has to stand up': ((*SIT, 'walk bed'), 'sitting'),
    'a seat is free for who sat on it': ((*SIT, 'standup', 'walk bed', *SIT), ''),
    'who sits on a bed can lie down': (('walk bed', 'sit bed', 'lie bed'), ''),
    'who sits on it': ((*SIT, 'grab chair'), 'under_character'),
    'who sat on it': ((*SIT, 'standup', 'grab chair'), ''),
    'too far to put back': ((*TAKE, 'walk bed', 'putobjback plate'), 'not_close'),
    'put back': ((*TAKE, 'walk table', 'putobjback plate'), ''),
    'closed since': ((*FETCH, 'close fridge', 'putobjback salmon'), 'not_open'),
    'clothes have no place': ((*WEAR, 'putoff shirt', 'putobjback shirt'), 'not_grabbed'),
    'not there': (('walk 999',), 'not_found'),
    'not movable': (('walk table', 'push table'), 'not_movable'),
    'in another room': (('turnto tv',), 'other_room'),
    'watched sitting': (
        ('walk bed', 'sit bed', 'turnto tv', 'watch tv', 'lookat_long tv'),
        '',
    ),
}


@pytest.mark.parametrize(('lines', 'broken'), OUTCOMES.values(), ids=OUTCOMES)
def test_the_last_line_succeeds_or_breaks_a_rule(
    home: Household, lines: tuple[str, ...], broken: str
) -> None:
    result = do(home, *lines)

    assert (result.succeeded, result.broken) == (not broken, broken)


def test_what_is_held_goes_along_with_all_that_is_in_it(home: Household) -> None:
    assert do(home, 'walk table', 'grab mug', 'walk bed').succeeded
    assert home.graph.targets(Id.MUG, Relation.INSIDE) == {Id.BEDROOM}
    assert home.graph.targets(Id.SPOON, Relation.INSIDE) == {Id.MUG, Id.BEDROOM}
    assert do(home, 'putback mug bed', 'grab mug', 'find table').succeeded
    assert home.graph.room_of(Id.SPOON) == Id.KITCHEN  # what is far is found by walking there
    assert do(home, 'find bed', 'putback mug bed').succeeded
    assert places(home.graph, Id.MUG) == {Id.BED, Id.BEDROOM}
    assert home.graph.room_of(Id.SPOON) == Id.BEDROOM


def test_what_is_poured_is_in_its_place_and_in_the_hand(home: Household) -> None:
    assert do(home, 'walk fridge', 'open fridge', 'find juice', 'grab juice').succeeded
    assert do(home, 'walk mug', 'pour juice mug').succeeded
    assert home.graph.has(Id.JUICE, Relation.INSIDE, Id.MUG)
    assert home.graph.has(Id.ME, Relation.HOLDS_RH, Id.JUICE)


@pytest.mark.parametrize('posture', ['sit', 'lie'])
def test_one_rests_neither_on_what_one_holds_nor_on_what_is_in_it(
    home: Household, posture: str
) -> None:
    home.graph.nodes[Id.CHAIR].properties |= {Property.LIEABLE}
    assert do(home, 'walk chair', 'grab chair', f'{posture} chair').broken == 'carried'
    assert do(home, 'walk box', 'putin chair box', 'grab box').succeeded
    assert do(home, f'{posture} chair').broken == 'carried'
    assert do(home, 'drop box', f'{posture} chair').succeeded


def test_a_device_goes_off_with_its_plug(home: Household) -> None:
    result = do(home, 'walk tv', 'plugout tv')

    assert result.succeeded and result.messages == ()
    assert home.graph.nodes[Id.TV].states == {State.OFF, State.PLUGGED_OUT}


def test_who_walks_is_close_to_what_is_there_and_to_nothing_left(home: Household) -> None:
    home.graph.nodes[Id.SPOON].properties |= {Property.BODY_PART}

    assert do(home, 'walk mug').succeeded
    assert {Id.MUG, Id.TABLE, Id.SPOON} <= set(home.graph.targets(Id.ME, Relation.CLOSE))
    assert do(home, 'turnto table', 'walk bed').succeeded
    assert not home.graph.targets(Id.ME, Relation.FACING)
    assert not home.graph.has(Id.ME, Relation.CLOSE, Id.TABLE)
    assert not home.graph.has(Id.TABLE, Relation.CLOSE, Id.ME)


def test_who_grabs_stays_close_to_the_place_and_the_object_leaves_its_neighbours(
    home: Household,
) -> None:
    for other in (Id.PLATE, Id.BREAD):
        home.graph.add(Id.MUG, Relation.CLOSE, other)
        home.graph.add(other, Relation.CLOSE, Id.MUG)
    home.graph.add(Id.ME, Relation.CLOSE, Id.MUG)

    assert do(home, 'grab mug').succeeded
    assert home.graph.has(Id.ME, Relation.CLOSE, Id.TABLE)
    assert home.graph.targets(Id.MUG, Relation.CLOSE) == {Id.ME}
    assert places(home.graph, Id.MUG) == {Id.KITCHEN}
    assert do(home, 'walk bed').succeeded
    assert home.graph.targets(Id.MUG, Relation.CLOSE) <= {Id.ME, Id.SPOON}


def test_what_was_dropped_is_close_and_its_old_place_forgotten(home: Household) -> None:
    assert do(home, 'walk table', 'grab mug').succeeded
    home.graph.remove(Id.ME, Relation.CLOSE, Id.MUG)
    assert do(home, 'drop mug').succeeded

    assert home.graph.has(Id.ME, Relation.CLOSE, Id.MUG)
    assert do(home, 'putobjback mug').broken == 'not_grabbed'
    assert do(home, 'grab mug', 'putobjback mug').broken == 'not_grabbed'


def test_who_sits_down_is_only_there_and_faces_what_the_seat_faces(home: Household) -> None:
    home.graph.add(Id.ME, Relation.ON, Id.BED)

    assert do(home, 'find chair').succeeded
    home.graph.add(Id.ME, Relation.ON, Id.BED)  # a graph that somebody brought
    assert do(home, 'sit chair').succeeded

    assert places(home.graph, Id.ME) == {Id.CHAIR, Id.KITCHEN}
    assert home.graph.targets(Id.ME, Relation.FACING) == {Id.TABLE}


def test_what_is_put_down_its_place_and_the_person_are_close(home: Household) -> None:
    assert do(home, 'walk table', 'grab mug', 'walk plate').succeeded
    home.graph.remove(Id.ME, Relation.CLOSE, Id.TABLE)
    home.graph.add(Id.PLATE, Relation.CLOSE, Id.TABLE)  # so that the table is close by way of it
    assert do(home, 'putback mug table').succeeded

    assert home.graph.has(Id.ME, Relation.CLOSE, Id.TABLE)
    assert home.graph.has(Id.MUG, Relation.CLOSE, Id.TABLE)
    assert home.graph.has(Id.TABLE, Relation.CLOSE, Id.MUG)


def test_clothes_come_off_into_a_free_hand_only(home: Household) -> None:
    wear = ('walk shirt', 'grab shirt', 'puton shirt')
    fill = ('walk table', 'grab mug', 'grab plate')
    for entity in (Id.MUG, Id.PLATE):
        home.graph.add(entity, Relation.CLOSE, Id.TABLE)

    refused = do(home, *wear, *fill, 'putoff shirt')
    assert refused.broken == 'no_free_hand'
    held = f'<mug> ({Id.MUG}) and <plate> ({Id.PLATE})'
    what = f'a free hand: of {held} one has to be put down first when executing "[PUTOFF]'
    assert what in refused.messages[0]


@pytest.mark.parametrize('line', ['pour {juice} {box}', 'putback {juice} {box}'])
def test_nothing_goes_into_what_is_shut_in_or_into_itself(home: Household, line: str) -> None:
    fetch = ('walk fridge', 'open fridge', 'find juice', 'grab juice')
    assert do(home, *fetch).succeeded
    home.graph.nodes[Id.BOX].properties |= {Property.RECIPIENT}
    home.graph.nodes[Id.JUICE].properties |= {Property.RECIPIENT}
    home.graph.add(Id.BOX, Relation.INSIDE, Id.FRIDGE)
    home.graph.add(Id.ME, Relation.CLOSE, Id.BOX)

    assert do(home, line.format(juice=Id.JUICE, box=Id.JUICE)).broken == 'inside_itself'
    home.graph.nodes[Id.FRIDGE].states = {State.CLOSED}
    assert do(home, line.format(juice=Id.JUICE, box=Id.BOX)).broken == 'inside_closed'


@pytest.mark.parametrize(
    'action',
    [
        'grab', 'touch', 'watch', 'open', 'close', 'switchon', 'switchoff', 'eat', 'wipe', 'wash',
        'rinse', 'scrub', 'squeeze', 'cut', 'type', 'plugin',
        'push', 'pull', 'move', 'plugout', 'lookat',
    ],
)  # fmt: skip
def test_what_is_shut_in_two_deep_can_be_used_for_nothing(home: Household, action: str) -> None:
    entity = home.graph.nodes[Id.SPOON]
    entity.properties = frozenset(Property)
    entity.states = {
        'open': {State.CLOSED}, 'close': {State.OPEN}, 'switchon': {State.OFF},
        'switchoff': {State.ON}, 'plugin': {State.PLUGGED_OUT},
        'plugout': {State.PLUGGED_IN},
    }.get(action, set())  # fmt: skip
    home.graph.add(Id.MUG, Relation.INSIDE, Id.FRIDGE)
    home.graph.add(Id.ME, Relation.CLOSE, Id.SPOON)
    home.graph.add(Id.ME, Relation.FACING, Id.SPOON)
    home.graph.nodes[Id.BREAD].class_name = 'knife'
    home.graph.add(Id.ME, Relation.HOLDS_LH, Id.BREAD)
    assert State.CLOSED in home.graph.nodes[Id.FRIDGE].states

    assert do(home, f'{action} spoon').broken == 'inside_closed'

    home.graph.nodes[Id.FRIDGE].states = {State.OPEN}
    assert do(home, f'{action} spoon').succeeded
