"""Suites in houses: what they must have, what is drawn, and what no house can fulfil."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
import yaml
from household_cases import SCRIPTS, SUITE, TASKS, Person, case_of, world_of
from pydantic import ValidationError

from bbllm.bench.optimal.house_state import HouseState
from bbllm.bench.oracle.household.subplan import plan_for
from bbllm.bench.scene_sampling.generator import CaseError, fingerprint, make_case
from bbllm.bench.suites.house_goals import HouseCondition, HouseholdGoal
from bbllm.bench.suites.house_suite import can_be, can_be_held
from bbllm.bench.suites.household import judge_household
from bbllm.bench.suites.scores import Verdict
from bbllm.bench.suites.suite import Suite, load_suite, parse_suite
from bbllm.bench.suites.suite_errors import SuiteFileError
from bbllm.core.paths import config_dir
from bbllm.worlds.household.graph import Graph, Node
from bbllm.worlds.household.household import Household
from bbllm.worlds.household.houses import list_houses, load_house
from bbllm.worlds.household.vocabulary import Property, Relation, State

# --- The suite `household`: what its tasks are, that they can be done, and what a trial draws

TRIALS = range(6)


def suite(path: str = '/x/mine.yaml', **changes: Any) -> Any:
    """A suite of one task, as if read from a file; fields of the file begin with `file_`."""
    task = {
        'name': 'a',
        'instruction': 'Do it.',
        'difficulty': 'easy',
        'least_loops': 0,
        'houses': ['studio'],
        'goal': {'kind': 'household', 'all': [{'thing': 'salmon', 'inside': 'microwave'}]},
        **{name: value for name, value in changes.items() if not name.startswith('file_')},
    }
    whole = {name[5:]: value for name, value in changes.items() if name.startswith('file_')}
    present = {name: value for name, value in task.items() if value is not None}
    return parse_suite(yaml.safe_dump({'tasks': [present], **whole}), Path(path))


def goal_of(*conditions: dict[str, Any]) -> dict[str, Any]:
    return {'goal': {'kind': 'household', 'all': list(conditions)}}


def test_the_suite_has_the_ten_tasks_of_both_papers_in_the_first_three_houses() -> None:
    assert set(TASKS) == set(SCRIPTS)
    assert len(TASKS) == 10
    for task in TASKS:
        names = [house.name for house in SUITE.houses[task]]
        assert names == ['family_flat', 'studio', 'old_house']
        assert set(names) <= set(list_houses())


@pytest.mark.parametrize('task', TASKS)
def test_each_task_begins_unsolved_and_can_be_done_in_each_house(task: str) -> None:
    for seed in (0, 1):
        for trial in TRIALS:
            case = case_of(task, trial, seed)
            world = world_of(case)
            before = judge_household(case.house_goal, world.graph, world.derived.now)

            SCRIPTS[task](Person(world))

            after = judge_household(case.house_goal, world.graph, world.derived.now)
            assert before.verdict is Verdict.FAILED
            assert after.verdict is Verdict.PASSED, (seed, trial, after.reason)


def test_trials_take_the_houses_in_turn_and_differ_within_one() -> None:
    cases = [case_of('watch_tv', trial) for trial in range(12)]

    assert [case.scene.name for case in cases[:3]] == [h.name for h in SUITE.houses['watch_tv']]
    assert len({fingerprint(case) for case in cases}) == 12
    rooms = {
        graph.nodes[graph.room_of(1) or 0].class_name
        for graph in (case.house.build() for case in cases[::3])
    }
    assert len(rooms) > 1


def test_a_case_is_the_same_each_time_and_travels() -> None:
    case = case_of('make_toast', 4, 7)

    assert case == case_of('make_toast', 4, 7)
    assert fingerprint(case) != fingerprint(case_of('make_toast', 4, 8))
    assert pickle.loads(pickle.dumps(case)) == case
    json.dumps(case.house.graph)


def test_a_draw_takes_nothing_from_a_house_and_makes_nothing_of_it_a_bad_graph() -> None:
    for trial in range(30):
        case = case_of('brush_teeth', trial)
        house = load_house(case.house.name)
        drawn = Graph.from_dict(case.house.graph)

        assert drawn.nodes.keys() == house.graph.nodes.keys()
        for node_id in drawn.nodes:
            assert (drawn.room_of(node_id) is None) is (house.graph.room_of(node_id) is None)
        held = [
            n for hand in (Relation.HOLDS_LH, Relation.HOLDS_RH) for n in drawn.targets(1, hand)
        ]
        assert held == []


def test_what_is_so_at_first_is_so_of_all_things_of_the_class() -> None:
    for trial in TRIALS:
        graph = case_of('put_salmon_in_the_fridge', trial).house.build()
        salmons = [n for n, node in graph.nodes.items() if node.class_name == 'salmon']

        assert salmons
        for node_id in salmons:
            tables = [graph.nodes[n].class_name for n in graph.targets(node_id, Relation.ON)]
            assert tables == ['kitchencounter']
            around = [graph.nodes[n].class_name for n in graph.targets(node_id, Relation.INSIDE)]
            assert around == ['kitchen']


@pytest.mark.parametrize(
    ('changes', 'told'),
    [
        ({'goal': {'kind': 'household', 'all': [{'thing': 'salmn', 'on': 'sofa'}]}},
         "no class of things in studio named 'salmn'. Did you mean 'salmon'?"),
        ({'goal': {'kind': 'household', 'all': [{'thing': 'salmon', 'inside': 'frige'}]}},
         "Did you mean 'fridge'?"),
        ({'goal': {'kind': 'household', 'all': [{'thing': 'tv', 'is': 'onn'}]}},
         "nothing can be 'onn'. Did you mean 'on'?"),
        ({'goal': {'kind': 'household', 'all': [{'thing': 'salmon'}]}},
         'one of inside, on and is'),
        ({'goal': {'kind': 'household', 'all': [{'held': 'salmon', 'on': 'sofa'}]}},
         'what is held is nowhere else'),
        ({'goal': {'kind': 'household', 'all': [{'person': 'sitting', 'inside': 'bed'}]}},
         'of a person only what it is on'),
        ({'goal': {'kind': 'household', 'all': [{'on': 'sofa'}]}},
         'one of thing, held and person'),
        ({'goal': {'kind': 'household', 'all': [{'thing': 'salmon', 'on': 'sofa', 'count': 3}]}},
         'studio has only 1 salmon'),
        ({'goal': {'kind': 'household', 'all': [{'held': 'book'}, {'held': 'book'}]}},
         "'book in a hand' is given twice"),
        ({'goal': {'kind': 'household', 'all': []}}, 'at least 1 item'),
        ({'goal': {'kind': 'household', 'any': [], 'all': [{'held': 'book'}]}}, "field 'any'"),
        ({'goal': {'kind': 'houshold', 'all': []}},
         "no kind 'houshold'; did you mean 'household'"),
        ({'houses': ['studioo']}, "no house named 'studioo'. Did you mean 'studio'?"),
        ({'houses': ['no/such.yaml']}, 'no/such.yaml'),
        ({'scene': 'tabletop'}, 'neither scene nor generate'),
        ({'houses': None, 'scene': 'tabletop'}, 'household cannot be that of a task on a table'),
        ({'goal': {'kind': 'segregated', 'margin_m': 0.1, 'level_m': 0.01, 'tilt_deg': 1}},
         'segregated cannot be that of a task in houses'),
        ({'at_first': [{'thing': 'salmon', 'is': 'heated'}]}, 'only things in or on others'),
        ({'at_first': [{'held': 'salmon'}]}, 'only things in or on others'),
        ({'at_first': [{'thing': 'book', 'on': 'book'}]}, 'a book cannot be in or on itself'),
        ({'goal': {'kind': 'household', 'all': [{'thing': 'salmon', 'inside': 'salmon'}]}},
         'studio has only 1 salmon; name another place'),
        ({'goal': {'kind': 'household', 'all': [{'held': 'sofa'}]}},
         'no sofa of studio can be grabbed; name a thing with the property GRABBABLE'),
        ({'goal': {'kind': 'household', 'all': [{'thing': 'tv', 'is': 'on'},
                                                {'thing': 'tv', 'is': 'on', 'not': True}]}},
         "'tv is on' and 'not: tv is on' can never hold at once"),
        ({'goal': {'kind': 'household', 'all': [{'person': 'sitting'}, {'person': 'lying'}]}},
         "'person sitting' and 'person lying' can never hold at once"),
        ({'goal': {'kind': 'household', 'all': [{'held': 'salmon'},
                                                {'held': 'book', 'count': 2}]}},
         'a person has 2 hands, and 3 things are to be held (salmon, book)'),
        ({'goal': {'kind': 'household', 'all': [{'held': 'book'}], 'same': ['book']}},
         'ties two conditions or more that speak of one book'),
        (goal_of({'thing': 'apple', 'is': 'on'}), 'no apple of studio can come to be on'),
        (goal_of({'thing': 'sofa', 'is': 'sitting'}), 'no sofa of studio can come to be sitting'),
        (goal_of({'thing': 'book', 'is': 'heated'}), 'no book of studio can come to be heated'),
        (goal_of({'thing': 'tv', 'is': 'used'}), 'no tv of studio can come to be used'),
        (goal_of({'thing': 'tv', 'is': 'dirty'}), 'no tv of studio can come to be dirty'),
        (goal_of({'thing': 'sofa', 'inside': 'fridge'}), 'no sofa of studio can be carried'),
        (goal_of({'person': 'sitting', 'on': 'kitchencounter'}),
         'on a kitchencounter of studio; name a thing with the property SITTABLE'),
        (goal_of({'thing': 'tv', 'is': 'on'}, {'thing': 'tv', 'is': 'off'}),
         'tv is on and tv is off: both can never hold at once in studio, which has only 1 tv'),
        ({'at_first': [{'thing': 'salmon', 'is': 'open'}]},
         'not every salmon of studio can be open'),
        ({'file_mode': 'sain'}, "'sane'"),
        ({'file_visibility': 'rooms'}, "'rooms_seen_open_only'"),
    ],
)  # fmt: skip
def test_a_bad_suite_is_told_what_would_have_worked(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(SuiteFileError) as caught:
        suite(**changes)

    assert '/x/mine.yaml' in str(caught.value)
    assert told in str(caught.value)


def test_a_suite_is_all_on_tables_or_all_in_houses() -> None:
    text = (config_dir() / 'suites' / 'tabletop.yaml').read_text()
    tables = yaml.safe_load(text)['tasks'][:1]
    houses = yaml.safe_load((config_dir() / 'suites' / 'household.yaml').read_text())['tasks'][:1]
    houses[0]['goal'] = {'kind': 'household', 'all': [{'held': 'book'}]}

    with pytest.raises(SuiteFileError, match='watch_tv are played in houses'):
        parse_suite(yaml.safe_dump({'tasks': [*tables, *houses]}), Path('/x/both.yaml'))
    with pytest.raises(SuiteFileError, match='mode, visibility and say are for suites'):
        parse_suite(yaml.safe_dump({'tasks': tables, 'mode': 'sane'}), Path('/x/one.yaml'))


def test_a_task_whose_goal_always_holds_at_first_has_no_case() -> None:
    mine = suite(goal={'kind': 'household', 'all': [{'thing': 'salmon', 'inside': 'fridge'}]})

    with pytest.raises(CaseError, match=r'reached the goal already.*at_first'):
        make_case(mine, 'a', seed=0, trial=0)


def test_who_and_what_at_first_speaks_of_is_found_as_it_says() -> None:
    mine = suite(
        at_first=[
            {'thing': 'character', 'inside': 'bathroom'},
            {'thing': 'kitchencabinet', 'is': 'open'},
            {'thing': 'fridge', 'is': 'open'},
        ]
    )
    for trial in range(20):
        graph = make_case(mine, 'a', seed=0, trial=trial).house.build()

        assert graph.nodes[graph.room_of(graph.character or 0) or 0].class_name == 'bathroom'
        for node in graph.nodes.values():
            if node.class_name in ('kitchencabinet', 'fridge'):
                assert State.OPEN in node.states


@pytest.mark.parametrize('at_first', [
    [{'thing': 'fridge', 'inside': 'milk'}],
    [{'thing': 'mug', 'on': 'milk'}, {'thing': 'milk', 'inside': 'mug'}],
])  # fmt: skip
def test_a_start_in_which_things_would_be_in_each_other_in_a_ring_is_none(
    at_first: list[dict[str, str]],
) -> None:
    with pytest.raises(CaseError, match=r'at_first wants .* name another place'):
        make_case(suite(at_first=at_first), 'a', seed=0, trial=0)


@pytest.mark.parametrize(
    'said',
    [
        [{'thing': 'book', 'on': 'book'}],
        [{'held': 'book'}],
        [{'thing': 'lightswitch', 'is': 'on'}, {'thing': 'lightswitch', 'is': 'off'}],
        [{'thing': 'sofa', 'inside': 'livingroom'}, {'thing': 'tv', 'is': 'plugged_out'}],
        [{'thing': 'character', 'inside': 'bathroom'}, {'thing': 'milk', 'is': 'heated'}],
        [{'thing': 'character', 'is': 'sitting'}, {'thing': 'plate', 'is': 'clean'}],
        [{'thing': 'unicorn', 'on': 'sofa', 'count': 3, 'not': True}],
    ],
)
def test_a_goal_that_can_be_reached_is_taken(said: list[dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / 'hut.yaml').write_text(
        """
        rooms:
          livingroom: [sofa, tv, lightswitch*2, book*2, milk, plate, unicorn, microwave]
          bathroom: [sink]
        classes: {unicorn: Props}
        """
    )

    assert suite(str(tmp_path / 'mine.yaml'), houses=['hut.yaml'], **goal_of(*said))


def test_a_state_that_the_task_gives_at_first_can_be_asked_for_and_undone() -> None:
    dirty = {'thing': 'plate', 'is': 'dirty'}

    assert suite(**goal_of(dirty), at_first=[dirty])
    assert suite(**goal_of({'thing': 'plate', 'is': 'clean'}), at_first=[dirty])


def test_a_house_of_ones_own_lies_beside_the_suite_and_its_content_counts(tmp_path: Path) -> None:
    file = tmp_path / 'mine.yaml'
    hashes = set()
    for number, extra in enumerate(('', ', book')):
        house = tmp_path / f'{number}' / 'hut.yaml'
        house.parent.mkdir()
        house.write_text(f'rooms: {{kitchen: [salmon, microwave, fridge{extra}]}}')
        mine = suite(str(file), houses=[f'{number}/hut.yaml'])
        assert make_case(mine, 'a', seed=0, trial=0).scene.name == 'hut'
        hashes.add(mine.sha256)

    assert len(hashes) == 2


def test_a_graph_in_virtualhomes_json_is_a_house_too(tmp_path: Path) -> None:
    (tmp_path / 'theirs.json').write_text(json.dumps(load_house('studio').graph.to_dict()))

    mine = suite(str(tmp_path / 'mine.yaml'), houses=['theirs.json'])

    assert make_case(mine, 'a', seed=0, trial=0).house.build().character == 1


def test_the_hash_is_of_rules_and_sight_too() -> None:
    plain = suite().sha256

    assert suite(file_mode='fresh').sha256 != plain
    assert suite(file_visibility='room').sha256 != plain
    assert suite(at_first=[{'thing': 'salmon', 'on': 'desk'}]).sha256 != plain
    assert suite(file_description='Other words.').sha256 == plain
    assert load_suite('household').sha256 == SUITE.sha256


# --- What is taken for possible in a house, at the ends of what a suite's table of errors shows


@pytest.mark.parametrize(
    ('said', 'told'),
    [
        ({'person': 'sitting', 'count': 2}, 'of a person only what it is on'),
        ({'thing': 'salmon', 'inside': 'fridge', 'on': 'sofa'}, 'one of inside, on and is'),
        ({'thing': 'salmon', 'room': 'kitchen'}, 'one of inside, on and is'),
        ({'held': 'salmon', 'room': 'kitchen'}, 'room goes with a thing'),
    ],
)
def test_a_condition_says_one_thing(said: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        HouseCondition.model_validate(said)


def test_water_a_child_and_what_is_held_at_first_can_be_held_whatever_their_properties() -> None:
    graph = Graph()
    for node_id, name in enumerate(('character', 'water', 'child', 'sofa', 'tv'), start=1):
        graph.nodes[node_id] = Node(node_id, name)
    graph.add(1, Relation.HOLDS_LH, 5)

    assert [can_be_held(graph, node_id) for node_id in (2, 3, 4, 5)] == [True, True, False, True]


def test_what_is_neither_on_nor_off_cannot_be_switched_unless_the_task_says_what_it_is() -> None:
    graph = Graph()
    graph.nodes[1] = Node(1, 'tv', properties=frozenset({Property.HAS_SWITCH}))
    assert not can_be(graph, 1, 'on', frozenset())
    assert can_be(graph, 1, 'on', {'off'})

    graph.nodes[1].states = {State.OFF}
    assert can_be(graph, 1, 'on', frozenset())


def test_what_a_task_speaks_of_stays_where_it_is_in_every_trial() -> None:
    for trial in range(30):
        case = case_of('throw_away_apple', trial)
        house, drawn = load_house(case.house.name).graph, case.house.build()

        for node_id, node in house.nodes.items():
            if node.class_name in ('apple', 'garbagecan'):
                for word in (Relation.ON, Relation.INSIDE):
                    assert drawn.targets(node_id, word) == house.targets(node_id, word)


# --- Goals that no household can fulfil are refused with the pair; those that one can are taken

FLAT = """
rooms:
  livingroom: [sofa, {tvstand: {on: [tv]}}, desk, toothbrush*2, salmon, plate*2]
  kitchen: [{kitchentable: {on: [microwave]}}, fridge, milk, apple, sink]
  bathroom: [bathroomcabinet, washingmachine]
"""


def suite_of(
    folder: Path, *conditions: dict[str, Any], same: tuple[str, ...] = (), **changes: Any
) -> Suite:
    (folder / 'flat.yaml').write_text(FLAT)
    task = {
        'name': 'a',
        'instruction': 'Do it.',
        'difficulty': 'easy',
        'least_loops': 0,
        'houses': ['flat.yaml'],
        'goal': {'kind': 'household', 'all': list(conditions), 'same': list(same)},
        **changes,
    }
    return parse_suite(yaml.safe_dump({'tasks': [task]}), folder / 'mine.yaml')


@pytest.mark.parametrize(
    'conditions',
    [
        # What is in the microwave is on the table that it stands on.
        [{'thing': 'milk', 'inside': 'microwave'}, {'thing': 'milk', 'on': 'kitchentable'}],
        [{'thing': 'milk', 'on': 'kitchentable'}, {'thing': 'milk', 'inside': 'kitchen'}],
        [{'thing': 'milk', 'on': 'plate'}, {'thing': 'milk', 'inside': 'fridge'}],
        # It is there already, and need not be carried.
        [{'thing': 'tv', 'is': 'on', 'on': 'tvstand'}],
        [{'thing': 'tv', 'is': 'on', 'room': 'livingroom'}],
        [{'thing': 'apple', 'is': 'washed', 'room': 'bathroom'}],
        [{'thing': 'anything', 'on': 'kitchentable', 'count': 2}],
        [{'thing': 'plate', 'on': 'desk'}, {'thing': 'plate', 'on': 'sofa'}],
    ],
)
def test_a_goal_that_the_house_can_fulfil_is_taken(
    conditions: list[dict[str, Any]], tmp_path: Path
) -> None:
    assert suite_of(tmp_path, *conditions)


@pytest.mark.parametrize(
    ('conditions', 'same', 'told'),
    [
        ([{'thing': 'milk', 'inside': 'microwave'}, {'thing': 'milk', 'inside': 'fridge'}], (),
         'milk inside microwave and milk inside fridge: both can never hold at once in flat, '
         'which has only 1 milk'),
        ([{'thing': 'tv', 'is': 'plugged_in'}, {'thing': 'tv', 'is': 'plugged_out'}], (),
         'tv is plugged_in and tv is plugged_out: both can never hold at once'),
        ([{'thing': 'tv', 'is': 'on', 'on': 'tvstand'}, {'thing': 'tv', 'is': 'off'}], (),
         'tv is on on tvstand and tv is off: both can never hold at once'),
        ([{'held': 'toothbrush'}, {'thing': 'toothbrush', 'inside': 'bathroomcabinet'}],
         ('toothbrush',), 'since `same` asks for one toothbrush'),
        ([{'thing': 'tv', 'is': 'on', 'room': 'bathroom'}], (),
         'no tv of flat is in the bathroom or can be carried there'),
        ([{'thing': 'sofa', 'is': 'clean', 'inside': 'kitchen'}], (),
         'no sofa of flat can be carried anywhere'),
    ],
)  # fmt: skip
def test_a_goal_that_the_house_cannot_fulfil_is_refused_with_the_reason(
    conditions: list[dict[str, Any]], same: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    with pytest.raises(SuiteFileError) as caught:
        suite_of(tmp_path, *conditions, same=same)

    assert told in str(caught.value)


def test_what_is_told_to_be_missing_is_not_told_to_contradict_itself_too(tmp_path: Path) -> None:
    on_desk = {'thing': 'milk', 'on': 'desk', 'count': 2}

    with pytest.raises(SuiteFileError, match='has only 1 milk') as caught:
        suite_of(tmp_path, on_desk, {'thing': 'milk', 'inside': 'fridge'})
    assert 'never hold' not in str(caught.value)


def test_what_a_start_adds_can_be_asked_for(tmp_path: Path) -> None:
    at_first = [{'thing': 'salmon', 'on': 'desk', 'count': 3}]
    held = {'held': 'salmon', 'count': 2}

    assert suite_of(tmp_path, held, at_first=at_first)
    assert suite_of(tmp_path, held, {'thing': 'salmon', 'inside': 'fridge'}, at_first=at_first)
    with pytest.raises(SuiteFileError, match='has only 3 salmon'):
        suite_of(
            tmp_path, held, {'thing': 'salmon', 'inside': 'fridge', 'count': 2}, at_first=at_first
        )


def test_conditions_that_say_the_same_on_the_way_are_searched_for() -> None:
    goal = HouseholdGoal.model_validate({
        'kind': 'household',
        'all': [{'held': 'magazine'}, {'held': 'magazine', 'count': 2}],
    })  # fmt: skip

    start = HouseState.beginning(Household(load_house('studio').graph))
    assert len(plan_for(start, goal, shortest=False).lines) > 1
