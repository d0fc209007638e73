"""Episodes in a household: a scripted model that does its task, and some that do not."""

import json
from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError
from bbllm_bench.runner.play_here import world_of
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.suite import load_suite
from tests.bench.household_cases import PROGRAM, SUITE, played


def test_a_program_that_does_the_task_passes() -> None:
    result, events = played(PROGRAM)

    assert result.passed, result.reason
    assert result.gcr == 1.0
    assert result.executable == result.attempted >= 4
    assert result.conditions == {'salmon inside fridge': True}
    assert (result.unsafe, result.settled, result.informed) == (None, (), None)
    assert result.robot_s == float(result.attempted)
    settings = events[0].data.settings
    assert settings['world'] == 'household'
    assert settings['scene'] == 'family_flat'
    assert settings['mode'] == 'sane'


def test_a_program_that_leaves_a_step_out_fails_with_the_place_of_each_object() -> None:
    result, _ = played(PROGRAM.replace("    grab('salmon')\n", ''))

    assert result.verdict == 'failed'
    assert result.gcr == 0.0
    assert result.ending == 'GAVE_UP'
    assert result.executable < result.attempted
    assert 'It is not so: salmon inside fridge. Salmon_' in result.reason
    assert 'is on kitchencounter_' in result.reason


def test_with_partial_sight_objects_in_other_rooms_are_unknown(tmp_path: Path) -> None:
    suite = tmp_path / 'mine.yaml'
    suite.write_text(json.dumps({
        'visibility': 'rooms_seen',
        'tasks': [{
            'name': 'one', 'instruction': 'watch tv', 'difficulty': 'easy', 'least_loops': 0,
            'houses': ['family_flat'], 'goal': {'kind': 'household', 'all': [
                {'thing': 'tv', 'is': 'on'}]},
        }],
    }))  # fmt: skip
    program = "    # 1: tv\n    find('tv')\n    switchon('tv')"
    loaded = load_suite(suite)
    rooms = {}
    for trial in range(12):
        case = make_case(loaded, 'one', seed=0, trial=trial)
        graph = case.house.build()
        room = graph.nodes[graph.room_of(1) or 0].class_name
        rooms[room] = played(program, case=case)[0].passed

    assert rooms['livingroom']
    assert not rooms['kitchen']
    assert {room for room, passed in rooms.items() if passed} == {'livingroom'}


def test_a_suite_decides_where_it_is_played() -> None:
    tables = load_suite('tabletop')

    assert world_of(SUITE, '') == world_of(SUITE, 'household') == 'household'
    assert (world_of(tables, ''), world_of(tables, 'ros')) == ('tabletop', 'ros')
    for world in ('tabletop', 'ros'):
        with pytest.raises(ConfigError, match=r'played in houses.*leave --world out'):
            world_of(SUITE, world)
    with pytest.raises(ConfigError, match=r'played on tables.*tabletop'):
        world_of(tables, 'household')
