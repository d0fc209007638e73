"""A classical planner in an episode: plans, plans anew, other goals, and its own failures."""

import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ConfigError
from bbllm.core.events import Ending, Episode, EventKind, Limits
from bbllm.core.types import Code, Outcome, SkillCall, Status, Task
from bbllm.testing import ScriptedModel
from bbllm_planners.pddl import search, shortest, solver
from bbllm_planners.pddl.formulas import Atom, Problem
from bbllm_planners.pddl.planner import ClassicalPlanner
from tests.doubles.box_table import BoxTable

NOBODY: Any = None
TASK = Task('t', 'stack the cubes')
PLACES = {
    **{'red_cube': (0.4, 0.1), 'blue_cube': (0.5, 0.2), 'green_cube': (0.5, 0.2, 0.06)},
    **{'location_A': (0.4, -0.1), 'location_B': (0.55, -0.15)},
}
planned = pytest.mark.skipif(
    shutil.which(solver.PROGRAM) is None, reason='needs kairos-planner (make extras)'
)


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the first plan: these problems are small."""
    monkeypatch.setattr(solver, 'SOLVE_S', 1)


def play(
    *replies: str, world: Any = None, k: int = 3, steps: int = 20
) -> tuple[Episode, ScriptedModel]:
    model = ScriptedModel(replies)
    run = EpisodeRun(TASK, planner='pddl', brain='b', body='b', limits=Limits(steps=steps))
    planner = ClassicalPlanner(run.model(model, 'brain'), NOBODY, k=k)
    return run.execute(planner, BoxTable(PLACES) if world is None else world), model


def calls_of(episode: Episode) -> list[str]:
    return [str(e.data) for e in episode.events if e.kind is EventKind.CALL]


class OnceBroken(BoxTable):
    """A table on which one call fails in the world, though nothing speaks against it."""

    broken = 'place(location_A)'

    def execute(self, call: SkillCall) -> Outcome:
        if str(call) == self.broken:
            self.calls.append(str(call))
            return Outcome(call=call, status=Status.FAILED, code=Code.NO_PATH, message='No way.')
        return super().execute(call)


def test_what_is_in_the_way_is_moved_with_the_fewest_moves() -> None:
    episode, model = play('on(blue_cube, location_A)\non(red_cube, blue_cube)')

    assert episode.ending is Ending.FINISHED, episode.message
    made = calls_of(episode)
    assert made[0] == 'pick(green_cube)'
    assert made[2:] == [
        'pick(blue_cube)', 'place(location_A)', 'pick(red_cube)', 'place(blue_cube)',
    ]  # fmt: skip
    assert len(model.requests) == 1
    assert episode.feedback_loops == 0


def test_a_failed_call_is_planned_around_without_the_model() -> None:
    table = OnceBroken(PLACES)
    episode, model = play('on(red_cube, location_A|location_B)', world=table)

    assert episode.ending is Ending.FINISHED, episode.message
    assert calls_of(episode)[-1] == 'place(location_B)'
    assert len(model.requests) == 1
    assert episode.feedback_loops <= 1


@planned
def test_kairos_plans_where_the_search_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortest, 'MOST_STATES', 0)
    episode, _ = play('on(blue_cube, location_A)\non(red_cube, blue_cube)')

    assert episode.ending is Ending.FINISHED, episode.message
    assert len(calls_of(episode)) == 6


class InTheWay(BoxTable):
    """A table on which only the arm finds out that an object is in the way of another one."""

    def execute(self, call: SkillCall) -> Outcome:
        if str(call) == 'pick(red_cube)' and self.at('blue_cube')[:2] == (0.5, 0.1):
            self.calls.append(str(call))
            message = 'no free way to red_cube was found: blue_cube is in the way.'
            return Outcome(call=call, status=Status.REJECTED, code=Code.NO_PATH, message=message)
        return super().execute(call)


def test_what_the_arm_finds_in_the_way_is_moved_away() -> None:
    places = {'red_cube': (0.4, 0.1), 'blue_cube': (0.5, 0.1), 'location_A': (0.4, -0.1)}
    episode, model = play('on(red_cube, location_A)', world=InTheWay(places))

    assert episode.ending is Ending.FINISHED, episode.message
    assert (episode.feedback_loops, len(model.requests)) == (1, 1)
    made = calls_of(episode)
    assert made[:2] == ['pick(red_cube)', 'pick(blue_cube)']
    assert made[3:] == ['pick(red_cube)', 'place(location_A)']


@pytest.mark.parametrize('k', [0, 1])
def test_a_goal_without_a_plan_goes_back_k_times(k: int) -> None:
    impossible = 'on(red_cube, blue_cube)\non(blue_cube, red_cube)'
    episode, model = play(*[impossible] * 3, k=k)

    assert episode.ending is not Ending.FINISHED
    assert len(model.requests) == k + 1
    assert not calls_of(episode)
    if k:
        assert 'No plan leads to this goal' in model.requests[1].prompt


def test_a_search_that_ran_out_of_time_leaves_open_whether_there_is_a_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def give_up(problem: Problem, *, enough: int) -> None:
        raise solver.NotFoundError('no plan was found in 15 s')

    monkeypatch.setattr(shortest, 'MOST_STATES', 0)
    monkeypatch.setattr(search, 'solve', give_up)
    _, model = play(*['on(red_cube, location_A)'] * 2, k=1)

    assert 'though there may be one: no plan was found in 15 s' in model.requests[1].prompt
    assert 'No plan leads' not in model.requests[1].prompt


def test_a_position_that_no_spot_meets_is_named() -> None:
    _, model = play('distance(red_cube, blue_cube, 83 cm)', 'on(red_cube, location_A)')

    assert 'distance(red_cube, blue_cube, 83 cm)' in model.requests[1].prompt
    assert 'at(a, x y) names another one' in model.requests[1].prompt


def test_a_stated_position_is_a_place() -> None:
    episode, _ = play('at(red_cube, 0.52 -0.02)')

    assert calls_of(episode) == ['pick(red_cube)', 'place(0.52 -0.02 0.02)']


def test_a_goal_that_is_met_ends_the_task() -> None:
    episode, _ = play('on(green_cube, blue_cube)')

    assert episode.ending is Ending.FINISHED
    assert not calls_of(episode)


@planned
def test_it_is_proved_that_there_is_no_plan() -> None:
    with pytest.raises(solver.NoPlanError, match='proved'):
        solver.solve(Problem([], frozenset({Atom('a')}), Atom('b')))


def test_a_planner_that_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(solver.sysconfig, 'get_path', lambda _: str(tmp_path))
    monkeypatch.setattr(solver.shutil, 'which', lambda _: None)

    with pytest.raises(ConfigError, match='pip install kairos-planner'):
        solver.solve(Problem([], frozenset(), Atom('b')))


def script(folder: Path, text: str) -> Callable[[], str]:
    path = folder / solver.PROGRAM
    path.write_text(f'#!/bin/sh\n{text}\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return lambda: str(path)


def test_a_planner_that_does_not_end_is_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(solver, 'program', script(tmp_path, 'exec sleep 60'))
    monkeypatch.setattr(solver, 'OVER_S', 0.2)
    monkeypatch.setattr(solver, 'BUSY', 0)

    with pytest.raises(solver.NoPlanError, match='kairos was waited for'):
        solver.solve(Problem([], frozenset(), Atom('b')), seconds=0)


def test_the_words_of_a_planner_that_fails_are_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(solver, 'program', script(tmp_path, 'echo out of luck >&2; exit 3'))

    with pytest.raises(solver.NoPlanError, match='code 3: out of luck'):
        solver.solve(Problem([], frozenset(), Atom('b')))


def test_a_search_ends_with_a_plan_that_is_good_enough(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(solver, 'program', script(tmp_path, 'echo "$@" >&2; exit 3'))

    with pytest.raises(solver.NoPlanError, match='--target-cost 2'):
        solver.solve(Problem([], frozenset(), Atom('b')), enough=2)
