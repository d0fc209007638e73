"""The four table tasks of ProgPrompt: a program is carried out in physics, and then judged."""

import re
from typing import Any

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Ending
from bbllm.core.tasks import make_task
from bbllm.core.types import Scene, SkillCall
from bbllm.testing import ScriptedModel
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.scorers.judging import judge
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.goals import Conditions
from bbllm_bench.suites.scores import FinalState, Score, Verdict
from bbllm_bench.suites.suite import load_suite
from bbllm_planners.prog_prompt.planner import ProgPrompt

SUITE = load_suite('table_sorting')
NAMES = [task.name for task in SUITE.tasks]
NOBODY: Any = None


def inside_of(case: Case) -> dict[str, str]:
    """Return what is to lie in which container."""
    assert isinstance(case.goal, Conditions)
    return dict(re.findall(r'(?<!not )in\((\w+), (\w+)\)', case.goal.texts[0]))


def program(case: Case) -> str:
    """Write what a model would: a part with a comment for each thing."""
    return '\n'.join(
        f"# {i}: put the {entity} there\ngrab_and_putin('{entity}', '{container}')"
        for i, (entity, container) in enumerate(inside_of(case).items(), 1)
    )


def judged(case: Case, before: Scene, after: Scene) -> Score:
    return judge(
        case.table_goal,
        FinalState(
            objects={item.name: item for item in after.objects},
            start={item.name: item for item in before.objects},
        ),
    )


@pytest.mark.parametrize('name', NAMES)
def test_each_task_is_done_in_physics_by_a_program(name: str) -> None:
    case = make_case(SUITE, name, seed=1, trial=0)
    world = TabletopWorld(case.table)
    before = world.observe()
    model = ScriptedModel([program(case)])
    run = EpisodeRun(
        make_task(case.instruction), planner='prog_prompt', brain='scripted', body='none'
    )

    episode = run.execute(ProgPrompt(model, NOBODY), world)

    assert (episode.ending, episode.message) == (Ending.FINISHED, '')
    world.settled()
    after = judged(case, before, world.observe())
    assert (after.verdict, after.reason) == (Verdict.PASSED, '')
    assert judged(case, before, before).verdict is Verdict.FAILED


def test_what_does_not_belong_into_a_container_fails_the_task() -> None:
    case = make_case(SUITE, 'sort_fruits_and_bottles_1', seed=1, trial=0)
    world = TabletopWorld(case.table)
    before = world.observe()
    moves = {'banana': 'plate', 'strawberry': 'plate', 'bottle': 'plate'}

    for entity, container in moves.items():
        assert world.execute(SkillCall('grab_and_putin', (entity, container))).succeeded

    world.settled()
    judgement = judged(case, before, world.observe())
    assert judgement.verdict is Verdict.FAILED
    assert [part.text for part in judgement.conditions if not part.holds] == ['bottle is in box']
