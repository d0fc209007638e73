"""Suites in houses: what they must have, what is drawn, and what no house can fulfil."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from bbllm.core.paths import config_dir
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.houses import load_house
from bbllm.worlds.household.vocabulary import Relation
from bbllm_bench.scene_sampling.generator import CaseError, make_case
from bbllm_bench.suites.case import fingerprint
from bbllm_bench.suites.suite import load_suite, parse_suite
from bbllm_bench.suites.task_spec import SuiteFileError
from tests.bench.household_cases import SUITE, case_of

# --- The suite `household`: what its tasks are, that they can be done, and what a trial draws

SIDES = {'kind': 'conditions', 'text': 'moved(a)', 'level_m': 0.01, 'tilt_deg': 5}
"""A goal of a table."""


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


def test_a_draw_takes_nothing_from_a_house_and_makes_nothing_of_it_a_bad_graph() -> None:
    for trial in range(9):
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


@pytest.mark.parametrize(
    ('changes', 'reported'),
    [
        (goal_of({'thing': 'salmn', 'on': 'sofa'}),
         "no class of objects in studio named 'salmn'. Did you mean 'salmon'?"),
        (goal_of({'thing': 'tv', 'is': 'onn'}), "nothing can be 'onn'. Did you mean 'on'?"),
        (goal_of({'thing': 'salmon'}), "'salmon' is no condition; write one of"),
        (goal_of({'held': 'salmon', 'on': 'sofa'}), "'salmon in a hand on sofa' is no condition"),
        (goal_of({'person': 'sitting', 'inside': 'bed'}),
         "'person sitting inside bed' is no condition"),
        (goal_of({'on': 'sofa'}), 'is no condition; write one of {thing: salmon, inside: fridge}'),
        (goal_of({'thing': 'salmon', 'on': 'sofa', 'count': 3}), 'studio has 1 salmon'),
        (goal_of({'held': 'book'}, {'held': 'book'}), "'book in a hand' is given twice"),
        ({'goal': {'kind': 'houshold', 'all': []}},
         "tag 'houshold'"),
        ({'houses': ['studioo']}, "no house named 'studioo'. Did you mean 'studio'?"),
        ({'houses': ['no/such.yaml']}, 'no/such.yaml'),
        ({'scene': 'tabletop'}, 'give one of houses, scene (a fixed one), generate and puzzle'),
        ({'houses': None, 'scene': 'tabletop'}, 'household cannot be that of a task on a table'),
        ({'goal': SIDES}, 'conditions cannot be that of a task in houses'),
        ({'at_first': [{'thing': 'salmon', 'is': 'heated'}]}, 'only objects in or on others'),
        ({'goal': {'kind': 'household', 'all': [{'held': 'book'}], 'same': ['book']}},
         'ties two conditions or more that speak of one book'),
        ({'constraints': [{'not_graspable': {'thing': 'gitar'}}]}, 'there is no gitar'),
        ({'constraints': [{}]}, 'a constraint is one of'),
        ({'houses': [], 'goal': SIDES, 'scene': 'tabletop', 'start_seed': 1},
         'start_seed are for a task in houses'),
        ({'at_first': [{'thing': 'anything', 'on': 'desk'}]}, 'a surface that is empty'),
        ({'at_first': [{'thing': 'salmon', 'is': 'clean', 'count': 2}]}, 'can be arranged'),
        (goal_of({'thing': 'fridge', 'is': 'open', 'by': 'fridge'}),
         'by with what is heated, washed or toasted'),
        ({'file_mode': 'sain'}, "'sane'"),
        ({'file_visibility': 'rooms'}, "'rooms_seen'"),
    ],
)  # fmt: skip
def test_a_bad_suite_is_refused_with_what_would_have_worked(
    changes: dict[str, Any], reported: str
) -> None:
    with pytest.raises(SuiteFileError) as caught:
        suite(**changes)

    assert '/x/mine.yaml' in str(caught.value)
    assert reported in str(caught.value)


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


@pytest.mark.parametrize('at_first', [
    [{'thing': 'fridge', 'inside': 'milk'}],
    [{'thing': 'mug', 'on': 'milk'}, {'thing': 'milk', 'inside': 'mug'}],
])  # fmt: skip
def test_a_start_with_objects_inside_each_other_in_a_ring_is_refused(
    at_first: list[dict[str, str]],
) -> None:
    with pytest.raises(CaseError, match=r'at_first wants .* name another place'):
        make_case(suite(at_first=at_first), 'a', seed=0, trial=0)


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


def test_the_hashes_are_of_all_that_counts_and_not_of_what_is_only_known() -> None:
    def hashes(**changes: Any) -> tuple[str, str]:
        mine = suite(**changes)
        return mine.sha256, fingerprint(make_case(mine, 'a', seed=0, trial=0))

    plain = hashes()

    for changes in ({'limit_steps': 9}, {'constraints': [{'not_graspable': {'thing': 'salmon'}}]}):
        assert all(one != other for one, other in zip(plain, hashes(**changes), strict=True))
    assert hashes(split='new_tasks', least_steps=5, file_description='Other words.') == plain
    start = [{'thing': 'salmon', 'on': 'desk'}]
    for changed in (
        {'file_mode': 'fresh'},
        {'file_visibility': 'rooms_seen'},
        {'at_first': start},
    ):
        assert suite(**changed).sha256 != plain[0]
    assert load_suite('household').sha256 == SUITE.sha256
