"""Demonstrations: the project's own keep the rules that they show, and bad files are refused."""

from pathlib import Path
from random import Random

import pytest
import yaml

from bbllm.core.errors import ConfigError
from bbllm.core.types import Fact, Kind, Pose, Scene, SceneObject
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm_planners.fltrnn.grammar import parse_calls
from bbllm_planners.fltrnn.memory_graph import MemoryGraph
from bbllm_planners.fltrnn.prompting import (
    Demonstration,
    chooser,
    household_demonstrations,
    read_demonstrations,
)
from bbllm_planners.goal_predicates import parse_goal

ALL = household_demonstrations()
GOOD = {
    'goal': 'turnon_tv: 1',
    'things': ['tv(id:2) inside den(id:1)'],
    'states': {'tv(id:2)': 'off'},
    'plan': "walk('tv(id:2)')\nswitchon('tv(id:2)')\n# done",
}


def scene_of(item: Demonstration) -> Scene:
    """Return a scene of what a demonstration tells; a place that is in nothing is a room."""
    inside = {obj for obj, _, _ in item.things}
    names = dict.fromkeys(name for obj, _, place in item.things for name in (obj, place))
    objects = tuple(
        SceneObject(
            name=name,
            kind=Kind.OTHER if name in inside else Kind.LOCATION,
            pose=Pose(position_m=(0.0, 0.0, 0.0)),
        )
        for name in names
    )
    facts = [Fact(*placed) for placed in item.things]
    facts += [Fact(obj, 'in_room', place) for obj, _, place in item.things if place not in inside]
    facts += [Fact(name, 'is', word) for name, words in item.states.items() for word in words]
    return Scene(objects, (), tuple(facts), 0.0, domain='household')


@pytest.mark.parametrize('item', ALL, ids=lambda item: item.goal)
def test_each_demonstration_keeps_all_rules_and_reaches_its_goal(item: Demonstration) -> None:
    memory = MemoryGraph(scene_of(item))
    for call in parse_calls('\n'.join(item.plan)).calls:
        assert memory.refusal(call) is None, call
        memory.apply(call)

    classes = {name.rpartition('_')[0] for name in memory.names}
    for predicate in parse_goal(item.goal, classes) or ():
        assert memory.is_satisfied(predicate), predicate


def test_without_thoughts_of_rules_the_calls_stay_the_same() -> None:
    for item in ALL:
        bare = item.lines(rule_thoughts=False)
        assert 'Rule thought' not in bare and 'Sub-goal thought' in bare
        assert parse_calls(bare) == parse_calls(item.lines(rule_thoughts=True))


def test_the_nearest_goals_come_first() -> None:
    similar = chooser('similar', LexicalEmbedder(), Random(0))

    nearest = similar('inside_salmon_microwave: 1, closed_microwave: 1')

    assert len(nearest) == 3
    assert all('closed_' in item.goal or 'inside_' in item.goal for item in nearest[:2])
    assert similar('turnoff_tablelamp: 1')[0].goal == 'turnoff_lightswitch: 1'
    assert similar('wash the glass')[0].goal == 'rinse a glass'


@pytest.mark.parametrize(
    ('change', 'why'),
    [
        ({'plan': "walk('tv(id:2)')\nswichon('tv(id:2)')"}, r"swichon\(tv_2\)' is no action"),
        ({'plan': "switchon('tv(id:2)', 'den(id:1)')"}, r'switchon\(tv_2, den_1\)'),
        ({'plan': "switchon('tv(id:3)')"}, r'those are den_1, tv_2'),
        ({'plan': "switchon('tv(id:2)')\nopen the door\nopen(door)"}, r'open\(door'),
        ({'plan': 'nothing'}, 'has no plan'),
        ({'things': ['tv(id:2) near den(id:1)']}, r'is written `milk\(id:21\) inside'),
        ({'things': ['tv inside den(id:1)']}, r'one is written `milk\(id:21\)`'),
        ({'colour': 'red'}, 'Wanted is `demonstrations:`'),
    ],
)
def test_a_file_with_an_unknown_action_or_object_is_refused_with_the_nearest(
    tmp_path: Path, change: dict[str, object], why: str
) -> None:
    path = tmp_path / 'mine.yaml'
    path.write_text(yaml.safe_dump({'demonstrations': [{**GOOD, **change}]}))

    with pytest.raises(ConfigError, match=why):
        read_demonstrations(path)


def test_fixed_ones_are_the_first_of_the_file_and_random_ones_go_by_the_dice() -> None:
    assert chooser('fixed', LexicalEmbedder(), Random(0))('any') == ALL[:3]
    drawn = [chooser('random', LexicalEmbedder(), Random(n % 8))('any') for n in range(9)]
    assert all(len({item.goal for item in three}) == 3 for three in drawn)
    assert len({tuple(item.goal for item in three) for three in drawn}) > 1
    assert drawn[0] == drawn[8]
