"""Goals that nobody can reach: refused before a model is asked, by what is known of the house."""

from __future__ import annotations

from dataclasses import replace

import pytest
from house_player import Studio, play

from bbllm.core.events import Ending, Episode, EventKind
from bbllm.core.instance_names import class_of
from bbllm.core.types import Kind, SkillCall
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.common.goal_predicates import all_in_sight
from bbllm.planners.common.scene_graph import scene_graph
from bbllm.planners.fltrnn.planner import FLTRNN
from bbllm.planners.inner_monologue.planner import InnerMonologue
from bbllm.planners.llm_state.planner import LLMState
from bbllm.worlds.household.visibility import Visibility

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
def test_one_thing_that_is_to_be_on_and_off_is_refused_with_the_pair(planner: type) -> None:
    episode = play(planner, ScriptedModel([]), ON_AND_OFF, Studio())

    assert episode.ending is Ending.GAVE_UP
    assert 'contradicts itself: `turnon_tv: 1` and `turnoff_tv: 1`' in episode.message
    assert 'the house has 1 of tv' in episode.message


@PLANNERS
def test_where_a_second_one_may_be_out_of_sight_the_pair_is_warned_of(planner: type) -> None:
    model = ScriptedModel(['none', 'none', *[GIVES_UP[planner]] * 9])
    if planner is not LLMState:
        model = ScriptedModel([GIVES_UP[planner]] * 9)

    episode = play(planner, model, ON_AND_OFF, Studio(Visibility(reach='room')))

    assert 'only a test' in episode.message
    assert '`turnon_tv: 1` and `turnoff_tv: 1` cannot both be so' in warnings(episode)


def test_who_has_been_everywhere_and_in_one_cupboard_has_not_seen_all() -> None:
    world = Studio(Visibility(reach='room', hides='not_open', accumulating=True))
    for room in [item.name for item in world.observe().objects if item.kind is Kind.LOCATION]:
        world.execute(SkillCall('walk', (room,)))
    fridge = next(name for name in world.observe().names if class_of(name) == 'fridge')
    for action in ('walk', 'open', 'close'):
        assert world.execute(SkillCall(action, (fridge,))).succeeded

    episode = play(InnerMonologue, ScriptedModel([GIVES_UP[InnerMonologue]]), ON_AND_OFF, world)

    assert scene_graph(world.observe()).hidden
    assert 'only a test' in episode.message
    assert 'in closed things, that nobody has looked into yet' in warnings(episode)


def test_a_house_that_is_shown_in_whole_is_all_there_is_though_nothing_is_shut_in() -> None:
    world = Studio()
    scene = world.observe()
    shut = scene_graph(scene).hidden
    bare = replace(
        scene,
        objects=tuple(item for item in scene.objects if item.name not in shut),
        facts=tuple(fact for fact in scene.facts if not shut & {fact.subject, fact.object}),
    )

    assert shut
    assert all_in_sight(bare)


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
    for sight in (Visibility(reach='room'), Visibility()):
        episode = play(planner, ScriptedModel([]), goal, Studio(sight))

        assert episode.ending is Ending.GAVE_UP
        assert named in episode.message


def test_two_things_can_be_held_and_a_third_lie_elsewhere() -> None:
    model = ScriptedModel(['none', 'none', GIVES_UP[LLMState]])
    goal = 'holds_plum: 1, holds_milk: 1, on_juice_coffeetable: 1, sit_sofa: 1'

    assert 'only a test' in play(LLMState, model, goal, Studio()).message


def test_a_thing_cannot_be_in_itself() -> None:
    episode = play(FLTRNN, ScriptedModel([]), 'inside_fridge_fridge: 1', Studio())

    assert 'wants 2 of fridge, but the house has 1' in episode.message


@pytest.mark.parametrize('task', ['switch the tv on and off', 'turnon_tv: 1, and have a rest'])
def test_a_task_in_words_is_never_taken_for_a_contradiction(task: str) -> None:
    model = ScriptedModel(['none', 'none', GIVES_UP[LLMState]])

    assert 'only a test' in play(LLMState, model, task, Studio()).message
