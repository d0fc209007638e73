"""Episodes in a household: a scripted model that does its task, and some that do not."""

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bbllm.core.errors import ConfigError
from bbllm_bench.metrics.metrics import Figures
from bbllm_bench.runner.play_here import world_of
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.house_goals import FinalStateGoal
from bbllm_bench.suites.suite import load_suite
from tests.bench.household_cases import PROGRAM, SUITE, case_of, played
from tests.bench.made_results import make_result


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


def test_what_is_scored_as_published_is_heated_in_an_open_microwave_and_else_it_is_not() -> None:
    program = """
    # 1: heat it
    find('fridge')
    open('fridge')
    find('salmon')
    grab('salmon')
    find('microwave')
    open('microwave')
    putin('salmon', 'microwave')
    switchon('microwave')
    """
    case = case_of('microwave_salmon')
    theirs = FinalStateGoal(kind='final_state', relations=(), states=('salmon HEATED',))

    assert played(program, case=replace(case, goal=theirs))[0].passed
    assert not played(program, case=case)[0].passed


def test_with_partial_sight_objects_in_other_rooms_are_unknown(tmp_path: Path) -> None:
    suite = tmp_path / 'mine.yaml'
    suite.write_text(json.dumps({
        'visibility': 'room',
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


# --- Whether a goal was ever reached, FLTRNN's criterion, beside the final state

SPOILT = f"{PROGRAM.rstrip()}\n    open('fridge')\n    grab('salmon')\n"


def there(*, at_hand: bool = False) -> Case:
    """Return a case whose salmon is in the fridge; at hand, that is open and who acts is at it."""
    case = case_of('put_salmon_in_the_fridge')
    graph = copy.deepcopy(case.house.graph)
    nodes = {node['class_name']: node for node in graph['nodes']}
    salmon, fridge, who = (nodes[word] for word in ('salmon', 'fridge', 'character'))

    def edge(item: Any, relation: str, other: Any) -> dict[str, Any]:
        return {'from_id': item['id'], 'relation_type': relation, 'to_id': other['id']}

    moved = {salmon['id'], who['id']} if at_hand else {salmon['id']}
    graph['edges'] = [item for item in graph['edges'] if item['from_id'] not in moved]
    graph['edges'].append(edge(salmon, 'INSIDE', fridge))
    if at_hand:
        fridge['states'] = [word for word in fridge['states'] if word != 'CLOSED'] + ['OPEN']
        pairs = ((who, salmon), (salmon, who), (who, fridge), (fridge, who))
        graph['edges'] += [edge(one, 'CLOSE', other) for one, other in pairs]
        graph['edges'].append(edge(who, 'INSIDE', nodes['kitchen']))
    return replace(case, scene=case.house.model_copy(update={'graph': graph}))


@pytest.mark.parametrize(
    ('program', 'case', 'verdict', 'executable', 'held'),
    [
        (PROGRAM, None, 'passed', 5, True),
        (SPOILT, None, 'failed', 6, True),
        ("    # 1: go\n    find('salmon')", None, 'failed', 1, False),
        ("    # 1: take\n    grab('unicorn')\n    open('fridge')", None, 'failed', 0, False),
        ("    # 1: take\n    grab('salmon')", there(at_hand=True), 'failed', 1, True),
    ],
    ids=['kept', 'spoilt again', 'never reached', 'refused', 'so at the start and spoilt'],
)
def test_a_goal_was_held_that_was_so_at_any_time(
    program: str, case: Case | None, verdict: str, executable: int, held: bool
) -> None:
    result, _ = played(program, case=case)

    assert (result.verdict, result.executable, result.held_once) == (verdict, executable, held)


def test_where_nothing_is_left_to_do_no_step_is_needed() -> None:
    result, _ = played('cannot: it is there', case=there(), planner='llm_state:states=no')

    assert (result.verdict, result.attempted, result.held_once) == ('passed', 0, True)


def test_without_a_watch_in_each_episode_there_is_no_share_of_goals_held_once() -> None:
    watched, unwatched = make_result(trial=0, held_once=True), make_result(trial=1)

    for results in ([unwatched], [watched, unwatched], [make_result(verdict='lost')]):
        rate = Figures.of(results).rate('held_once')
        assert (rate.value, rate.n) == (None, 0)
