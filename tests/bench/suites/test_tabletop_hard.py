"""The suite `tabletop_hard`: every puzzle can be solved, and no near miss passes."""

import math
from dataclasses import replace

import pytest

from bbllm.bench.log.episodes import EpisodeSpec, RunConfig
from bbllm.bench.log.results import EpisodeKey
from bbllm.bench.oracle.case_goals import with_goal
from bbllm.bench.runner.play_here import play
from bbllm.bench.scene_sampling.dry_run import faults_of
from bbllm.bench.scene_sampling.generator import make_case
from bbllm.bench.scorers.judging import judge
from bbllm.bench.suites.case import Case
from bbllm.bench.suites.goals import Layout
from bbllm.bench.suites.scores import FinalState
from bbllm.bench.suites.suite import load_suite
from bbllm.core.skill_calls import looks_like_pose, parse_pose
from bbllm.core.types import Pose, SceneObject
from bbllm.llm.config import LlmConfig, ModelConfig
from bbllm.skills.shapes import half_height, top_z, yaw_pose
from bbllm.worlds.scene.reaching import ReachCache

SUITE = load_suite('tabletop_hard')
NAMES = [task.name for task in SUITE.tasks]
SLOW = ('towers', 'few_places', 'partly_possible')
"""Their searches take up to a minute."""
CASES = [
    pytest.param(name, seed, marks=[pytest.mark.slow] if seed or name in SLOW else [])
    for name in NAMES
    for seed in ((0,) if name in SLOW else (0, 1, 2))
]


def start_of(case: Case) -> dict[str, SceneObject]:
    items = (*case.table.fixtures, *case.table.movables, *case.table.places)
    return {item.name: item for item in items}


def after(case: Case, moves: tuple[tuple[str, str], ...]) -> FinalState:
    """Carry out moves by hand: no physics."""
    start = start_of(case)
    now = dict(start)
    for name, target in moves:
        item = now[name]
        if looks_like_pose(target):
            said = parse_pose(target)
            pose = yaw_pose(said.position_m, math.radians(said.yaw_deg or 0.0))
        else:
            x, y, _ = now[target].pose.position_m
            pose = Pose(position_m=(x, y, top_z(now[target]) + half_height(item)))
        now[name] = replace(item, pose=pose)
    return FinalState(
        objects=now, start=start, out_of_reach=frozenset(case.out_of_reach), moves=moves
    )


@pytest.mark.parametrize(('name', 'seed'), CASES)
def test_each_case_is_crowded_and_its_moves_reach_the_goal(name: str, seed: int) -> None:
    case = make_case(SUITE, name, seed=seed, trial=0)
    goal = case.table_goal
    assert isinstance(goal, Layout)
    assert 12 <= len(case.table.objects) <= 21
    assert len(set(case.out_of_reach) & {spec.name for spec in case.table.objects}) >= 5
    assert '{' not in case.instruction
    assert not [*faults_of(case.table, case.solution, ReachCache())]

    end = judge(goal, after(case, case.solution))
    assert end.reason == ''
    # All but the last move are not enough, nor may there be a further one.
    assert not judge(goal, after(case, case.solution[:-1])).passed
    assert goal.moves is not None
    back = (*case.solution, *[case.solution[-1]] * (goal.moves + 1 - len(case.solution)))
    assert judge(goal, after(case, back)).reason == (
        f'{len(back)} moves were made; {goal.moves} are allowed.'
    )


@pytest.mark.parametrize(
    'name',
    ['growing_gaps', *(pytest.param(n, marks=pytest.mark.slow) for n in ('packing', 'riddles'))],
)
def test_the_arm_solves_a_case_as_the_search_says(name: str) -> None:
    case = make_case(SUITE, name, seed=0, trial=0)
    expert = ModelConfig(provider='expert')
    config = RunConfig(
        planner='brain_body', llm=with_goal(LlmConfig(brain=expert, body=expert), case)
    )
    game = play(EpisodeSpec(key=EpisodeKey(name, 0, 0), case=case, config=config))

    assert (game.result.verdict, game.result.reason) == ('passed', '')
    assert game.result.model_calls == 1
