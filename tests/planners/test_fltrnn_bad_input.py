"""FLTRNN where a goal, a house, a plan or the sight of a robot is not as it would need it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from house_player import (
    Studio,
    bring,
    call,
    cells,
    discarded,
    lines,
    play,
    player,
    told,
)

from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Ending, EventKind
from bbllm.core.protocols import Embeddings
from bbllm.core.types import Task
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.common.matching import MatchingBody
from bbllm.planners.fltrnn.planner import FLTRNN
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.visibility import Visibility
from bbllm.worlds.household.world import HouseholdWorld


def test_a_goal_that_contradicts_itself_is_refused_with_the_pair_before_any_request() -> None:
    model = ScriptedModel([])
    episode = play(FLTRNN, model, 'turnon_tv: 1, on_milk_sofa: 1, turnoff_tv: 1', Studio())

    assert episode.ending is Ending.GAVE_UP
    assert '`turnon_tv: 1` and `turnoff_tv: 1` cannot both be so' in episode.message
    assert model.requests == []


@pytest.mark.parametrize(
    ('goal', 'why'),
    [
        ('on_milk_coffeetable: 9', 'wants 9 of milk, but the house has 1'),
        ('on_unicorn_coffeetable: 1', 'wants 1 of unicorn, but the house has 0'),
        ('on_milk_coffeetable: 1, and be quick', 'The goal cannot be read'),
    ],
)
def test_a_goal_that_no_plan_can_reach_is_given_up_before_any_request(goal: str, why: str) -> None:
    episode = play(FLTRNN, ScriptedModel([]), goal, Studio())

    assert episode.ending is Ending.GAVE_UP
    assert why in episode.message


def test_an_empty_house_is_given_up_with_a_plain_sentence() -> None:
    character = {'id': 1, 'class_name': 'character', 'category': 'Characters', 'states': []}
    node = {**character, 'properties': [], 'prefab_name': None, 'bounding_box': None}
    world = HouseholdWorld(Graph.from_dict({'nodes': [node], 'edges': []}))

    episode = play(FLTRNN, ScriptedModel([]), 'watch tv', world)

    assert episode.ending is Ending.GAVE_UP
    assert 'house is empty' in episode.message


def test_a_plan_with_things_that_are_not_there_is_told_once_and_then_left_out() -> None:
    strange = ["walk('milk(id:99999)')", "dance('tv(id:1)')", 'wash the tv', 'wash(tv)']
    model = player(
        'subgoal{turnon_tv: 1}',
        lambda prompt: lines(*strange, call('walk', 'tv'), call('switchon', 'tv')),
    )
    world = Studio()

    episode = play(FLTRNN, model, 'turnon_tv: 1', world)

    assert len(cells(model)) == 2
    assert "there is no 'milk_99999'" in model.requests[-1].messages[-1].content
    # What the second reply repeats is counted once.
    assert sorted(discarded(episode)) == ['dance(tv_1)', 'walk(milk_99999)', 'wash(tv)']
    assert episode.ending is Ending.FINISHED
    assert [text.partition('(')[0] for text in world.calls] == ['walk', 'switchon']


def test_a_robot_that_sees_one_room_says_so_and_finds_what_a_plan_leads_it_to() -> None:
    world = Studio(Visibility(reach='room', accumulating=True))

    def plan(prompt: str) -> str:
        if 'not in sight: plum' in told(prompt):
            return lines(call('walk', 'kitchen'))
        return lines(*bring('plum', 'coffeetable'))

    model = player('subgoal{on_plum_coffeetable: 1}', plan)
    episode = play(FLTRNN, model, 'on_plum_coffeetable: 1', world)

    warnings = [str(e.data.text) for e in episode.events if e.kind is EventKind.WARNING]
    assert any('No plum is in sight' in text for text in warnings)
    assert episode.ending is Ending.FINISHED, episode.message
    assert world.has('plum', 'on', 'coffeetable')


def test_a_robot_that_never_sees_the_thing_gives_up_and_says_what_is_missing() -> None:
    world = Studio(Visibility(reach='room'))
    model = player('subgoal{turnon_stove: 1}', lambda prompt: lines())

    episode = play(FLTRNN, model, 'turnon_stove: 1', world)

    assert episode.ending is Ending.GAVE_UP
    assert 'of turnon_stove: 1 there are 0' in episode.message


class Counting:
    """An embedder that is near to one demonstration, whatever is asked for."""

    name = 'counting'

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], *, on_wait: Any = None) -> Embeddings:
        self.texts += texts
        near = ('turnon_tv: 1', 'rinse a glass')
        vectors = tuple((1.0, 0.0) if text in near else (0.0, 1.0) for text in texts)
        return Embeddings(vectors=vectors, model=self.name)


def test_a_body_that_matches_by_embedding_lends_its_embedder_to_the_choice() -> None:
    embedder = Counting()
    model = player(
        'subgoal{turnon_tv: 1}', lambda prompt: lines(call('walk', 'tv'), call('switchon', 'tv'))
    )
    run = EpisodeRun(Task('t', 'turnon_tv: 1'), planner='p', brain='b', body='b')

    run.execute(FLTRNN(model, MatchingBody(embedder)), Studio())

    shown = re.findall(r'^# The goal: (.*)$', cells(model)[0], re.MULTILINE)
    assert 'rinse a glass' in shown[:3]
    assert embedder.texts.count('turnon_tv: 1') == 1


def test_a_plan_is_asked_for_once_more_when_it_cannot_be_read_and_then_ends_the_episode() -> None:
    model = player('subgoal{turnon_tv: 1}', lambda prompt: 'Well, well.')

    episode = play(FLTRNN, model, 'turnon_tv: 1', Studio())

    assert episode.ending is Ending.MODEL_FAILED
    assert len(cells(model)) == 2
