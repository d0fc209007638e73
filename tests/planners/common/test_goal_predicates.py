"""Goals as predicates: what they read as, and which of them can never hold at once."""

import pytest

from bbllm.core.errors import ParseError
from bbllm.core.events import Ending, Episode, EventKind
from bbllm.core.naming import class_of
from bbllm.testing import ScriptedModel
from bbllm.worlds.household.visibility import Visibility
from bbllm_planners.fltrnn.planner import FLTRNN
from bbllm_planners.goal_predicates import (
    GoalPredicate,
    contradiction,
    goal_text,
    nested_places,
    parse_goal,
)
from bbllm_planners.inner_monologue.planner import InnerMonologue
from bbllm_planners.llm_state.planner import LLMState
from tests.planners.house_player import Studio, play

CLASSES = ('milk', 'kitchentable', 'wine_glass', 'glass', 'table', 'microwave', 'wine')


def _read(text: str) -> tuple[GoalPredicate, ...]:
    goal = parse_goal(text, CLASSES)
    assert goal is not None
    return goal


def test_a_goal_is_written_as_it_was_read() -> None:
    text = 'on_milk_kitchentable: 3, inside_milk_microwave: 1, closed_microwave: 1, sit_sofa: 1'
    assert goal_text(_read(text)) == text
    assert goal_text(_read(' on_milk_kitchentable:3 ,closed_microwave : 1,')) == (
        'on_milk_kitchentable: 3, closed_microwave: 1'
    )


def test_the_scene_separates_an_object_from_its_place() -> None:
    (goal,) = _read('on_wine_glass_kitchentable: 1')
    assert (goal.noun, goal.place) == ('wine_glass', 'kitchentable')
    with pytest.raises(ParseError, match=r'wine on glass_table, or wine_glass on table'):
        parse_goal('on_wine_glass_table: 1', ('wine', 'glass_table', 'wine_glass', 'table'))
    for text in ('watch tv', 'put the milk on: the table', '', 'open_sesame'):
        assert parse_goal(text, CLASSES) is None


@pytest.mark.parametrize(
    ('text', 'why'),
    [
        ('on_milk_kitchentable: 1, and then rest', 'is no predicate'),
        ('on_milk_kitchentable: 0', 'count that is not in'),
        ('on_milk_kitchentable: -1', 'count that is not in'),
        ('on_milk_kitchentable: 1.5', 'count that is not in'),
        ('on_milk_kitchentable: 9999999999999', 'count that is not in'),
        (f'on_milk_kitchentable: {"9" * 6000}', 'count that is not in'),
        ('on_milk: 1', 'names no place'),
        (', '.join(['closed_microwave: 1'] * 61), '61 predicates'),
    ],
)
def test_what_is_half_a_goal_is_refused_with_what_would_do(text: str, why: str) -> None:
    with pytest.raises(ParseError, match=why):
        parse_goal(text, CLASSES)


@pytest.mark.parametrize(
    ('text', 'counts', 'opposed'),
    [
        ('closed_microwave: 1, open_microwave: 1', None, True),
        ('closed_microwave: 1, open_microwave: 1', {'microwave': 2}, False),
        ('turnon_microwave: 2, turnoff_microwave: 1', {'microwave': 2}, True),
        ('open_microwave: 1, turnon_microwave: 1', {'microwave': 1}, False),
        ('on_milk_table: 1, inside_milk_microwave: 1', {'milk': 1}, True),
        ('on_milk_table: 1, inside_milk_microwave: 1', {'milk': 2}, False),
        ('on_milk_glass: 1, inside_milk_microwave: 1', {'milk': 1}, False),
        ('on_milk_shelf: 1, inside_milk_microwave: 1', {'milk': 1}, False),
        ('holds_milk: 1, on_milk_table: 1', {'milk': 1}, True),
        ('inside_milk_glass: 1, inside_glass_milk: 1', {'milk': 1, 'glass': 1}, True),
        ('on_milk_table: 1, on_milk_table: 2', {'milk': 2}, False),
        # milk in one glass, the other glass in that milk
        ('inside_milk_glass: 1, inside_glass_milk: 1', {'milk': 1, 'glass': 2}, False),
        ('on_milk_table: 1, inside_milk_fridge: 1, on_milk_desk: 1', {'milk': 2}, True),
        ('on_milk_table: 1, inside_milk_fridge: 1, on_milk_desk: 1', {'milk': 3}, False),
        ('on_milk_table: 1, inside_milk_fridge: 1, on_milk_glass: 1', {'milk': 2}, False),
    ],
)
def test_exclusive_predicates_contradict_unless_there_are_enough_objects(
    text: str, counts: dict[str, int] | None, opposed: bool
) -> None:
    pair = contradiction(
        _read(text), counts, portable={'glass'}, nested={frozenset({'microwave', 'shelf'})}
    )
    assert (pair is not None) is opposed
    if pair is not None:
        assert goal_text(pair) == text


def test_what_stands_in_a_device_on_a_counter_is_on_the_counter_too() -> None:
    goal = _read('on_milk_kitchentable: 1, inside_milk_microwave: 1')
    stands = {'microwave_1': ['kitchentable_2'], 'kitchentable_2': ['kitchen_3'], 'desk_4': []}

    nested = nested_places(stands, class_of)

    assert contradiction(goal, {'milk': 1}, (), nested) is None
    assert contradiction(goal, {'milk': 1}) == goal
    in_room = _read('on_milk_kitchentable: 1, inside_milk_kitchen: 1')
    assert contradiction(in_room, {'milk': 1}, (), nested) is None
    elsewhere = _read('on_milk_desk: 1, inside_milk_microwave: 1')
    assert contradiction(elsewhere, {'milk': 1}, (), nested) == elsewhere
    ring = nested_places({'bag_1': ['box_2'], 'box_2': ['bag_1']}, class_of)
    assert ring == {frozenset({'bag', 'box'})}


ON_AND_OFF = 'turnon_tv: 1, turnoff_tv: 1'
GIVES_UP = {
    FLTRNN: 'cannot: it is only a test',
    LLMState: 'cannot: it is only a test',
    InnerMonologue: 'Robot action: cannot: it is only a test',
}
PLANNERS = pytest.mark.parametrize('planner', GIVES_UP)


def warnings(episode: Episode) -> str:
    events = [event for event in episode.events if event.kind is EventKind.WARNING]
    return ' '.join(str(event.data.text) for event in events)


@PLANNERS
def test_one_object_on_and_off_is_refused_with_the_pair(planner: type) -> None:
    episode = play(planner, ScriptedModel([]), ON_AND_OFF, Studio())

    assert episode.ending is Ending.GAVE_UP
    assert 'contradicts itself: `turnon_tv: 1` and `turnoff_tv: 1`' in episode.message
    assert 'the house has 1 of tv' in episode.message


@PLANNERS
def test_where_a_second_one_may_be_out_of_sight_the_pair_is_warned_of(planner: type) -> None:
    model = ScriptedModel(['none', 'none', *[GIVES_UP[planner]] * 9])
    if planner is not LLMState:
        model = ScriptedModel([GIVES_UP[planner]] * 9)

    episode = play(planner, model, ON_AND_OFF, Studio(Visibility(reach='rooms_seen')))

    assert 'only a test' in episode.message
    assert '`turnon_tv: 1` and `turnoff_tv: 1` cannot both be so' in warnings(episode)


@PLANNERS
@pytest.mark.parametrize(
    ('goal', 'named'),
    [
        ('holds_plum: 2, holds_milk: 1', '`holds_plum: 2` and `holds_milk: 1`'),
        ('sit_sofa: 1, turnon_tv: 1, sit_chair: 1', '`sit_sofa: 1` and `sit_chair: 1`'),
    ],
)
def test_what_no_person_can_hold_or_sit_on_is_refused_in_any_view(
    planner: type, goal: str, named: str
) -> None:
    for sight in (Visibility(reach='rooms_seen'), Visibility()):
        episode = play(planner, ScriptedModel([]), goal, Studio(sight))

        assert episode.ending is Ending.GAVE_UP
        assert named in episode.message
