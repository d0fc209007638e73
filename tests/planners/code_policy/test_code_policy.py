"""Code as policies: a program in the world, its queries, its failures, and its repairs."""

from typing import Any

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Ending, Episode, EventKind, Limits
from bbllm.core.types import Task
from bbllm.testing import ScriptedModel
from bbllm.worlds.scene.goal_keeper import SceneGoals
from bbllm_planners.code_policy.planner import ENDED, CodePolicy
from tests.doubles.box_table import BoxTable
from tests.planners.small_house import SmallHouse

NOBODY: Any = None
TASK = Task('t', 'put the cubes on free locations')
PLACES = {
    **{'red_cube': (0.4, 0.1), 'blue_cube': (0.5, 0.2)},
    **{'location_A': (0.4, -0.1), 'location_B': (0.5, -0.1)},
}


def play(
    *replies: str, world: Any = None, k: int = 3, task: Task = TASK
) -> tuple[Episode, ScriptedModel]:
    model = ScriptedModel(replies)
    run = EpisodeRun(task, planner='p', brain='b', body='b', limits=Limits(steps=20))
    planner = CodePolicy(run.model(model, 'brain'), NOBODY, k=k)
    return run.execute(planner, BoxTable(PLACES) if world is None else world), model


def calls_of(episode: Episode) -> list[str]:
    return [str(e.data) for e in episode.events if e.kind is EventKind.CALL]


def test_a_program_asks_the_scene_and_acts_by_what_it_is_told() -> None:
    episode, _ = play(
        "free = [p for p in objects('location') if len(on_top_of(p)) == 0]\n"
        "for cube in objects('cube'):\n"
        '    pick(cube)\n'
        '    place(free[0])\n'
        "    free = [p for p in objects('location') if len(on_top_of(p)) == 0]\n"
    )

    assert episode.ending is Ending.FINISHED, episode.message
    assert calls_of(episode) == [
        *('pick(red_cube)', 'place(location_A)', 'pick(blue_cube)', 'place(location_B)'),
    ]
    assert episode.feedback_loops == 0


def test_a_position_is_computed() -> None:
    episode, _ = play(
        "pick('red_cube')\np = position('location_A')\nplace([p[0] + 0.1, p[1] - 0.1, 0.02])"
    )

    assert calls_of(episode)[-1] == 'place(0.5 -0.2 0.02)'


def test_a_failure_goes_back_with_its_line_and_the_rest_is_asked_for() -> None:
    table = BoxTable(PLACES, unreachable=['location_A'])
    episode, model = play(
        "pick('red_cube')\nplace('location_A')", "place('location_B')", world=table
    )

    assert episode.ending is Ending.FINISHED, episode.message
    assert episode.feedback_loops == 1
    prompt = model.requests[1].prompt
    assert 'ended at line 2' in prompt
    assert 'pick(red_cube): done' in prompt
    assert 'location_A' in prompt


def test_a_caught_failure_needs_no_repair() -> None:
    table = BoxTable(PLACES, unreachable=['location_A'])
    episode, _ = play(
        "pick('red_cube')\n"
        "try:\n    place('location_A')\nexcept OCCUPIED:\n    place('location_B')",
        world=table,
    )

    assert episode.ending is Ending.FINISHED, episode.message
    assert episode.feedback_loops == 0


@pytest.mark.parametrize('k', [0, 2])
def test_k_repairs_are_asked_for(k: int) -> None:
    table = BoxTable(PLACES, unreachable=['location_A'])
    bad = "pick('red_cube')\nplace('location_A')"
    episode, model = play(bad, *["place('location_A')"] * 5, world=table, k=k)

    assert episode.ending in (Ending.GAVE_UP, Ending.WENT_IN_CIRCLES)
    assert len(model.requests) <= k + 1


def test_a_fault_of_the_program_goes_back_too() -> None:
    episode, model = play('pick(red_cube)', "pick('red_cube')\nplace('location_A')")

    assert episode.ending is Ending.FINISHED, episode.message
    assert "no name 'red_cube' was assigned" in model.requests[1].prompt


def test_a_program_outside_the_grammar_is_asked_for_once_more() -> None:
    episode, model = play('import os', "pick('red_cube')\nplace('location_A')")

    assert episode.ending is Ending.FINISHED, episode.message
    assert 'an import' in model.requests[1].messages[-1].content


def test_an_end_before_the_task_is_done_is_a_reason_for_a_repair() -> None:
    table = BoxTable(PLACES, unreachable=['location_A'])
    episode, model = play(
        "pick('red_cube')\ntry:\n    place('location_A')\nexcept FAILED:\n    pass",
        "place('location_B')",
        world=table,
    )

    assert episode.ending is Ending.FINISHED, episode.message
    assert ENDED in model.requests[1].prompt


def test_a_condition_that_the_task_does_not_ask_for_is_withdrawn_after_an_end() -> None:
    wrong = 'beside(red_cube, blue_cube)'
    line = f'goal: withdraw {wrong}: two places are free'
    replies = [
        f'{wrong}\non(red_cube, location_A)',
        *["pick('red_cube')\nplace('location_A')", line],
    ]
    model = ScriptedModel(replies)
    keeper = SceneGoals(model)
    run = EpisodeRun(TASK, planner='p', brain='b', body='b', limits=Limits(steps=20))
    planner = CodePolicy(run.model(model, 'brain'), NOBODY, k=3)
    episode = run.execute(planner, BoxTable(PLACES), keeper)

    assert line.partition(': two')[0] in model.requests[-1].prompt
    assert (episode.ending, episode.goal) == (Ending.FINISHED, 'met as far as checked')


def test_nothing_left_to_do_is_the_end() -> None:
    episode, _ = play('done')

    assert episode.ending is Ending.FINISHED


def test_in_a_house_it_works_by_the_names_of_low_level_plans() -> None:
    house = SmallHouse()
    episode, _ = play(
        "move('salmon1')\npickup('salmon1')\nmove('fridge1')\n"
        "if 'closed' in states('fridge1'):\n    open('fridge1')\n"
        "if 'salmon1' in held():\n    placein('salmon1', 'fridge1')",
        world=house,
        task=Task('t', 'put salmon1 in the fridge'),
    )

    assert episode.ending is Ending.FINISHED, episode.message
    assert house.has('salmon_13', 'inside', 'fridge_33')
