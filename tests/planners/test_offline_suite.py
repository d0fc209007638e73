"""Algorithm 1 with `offline` on the seven tasks of `tabletop`, as the checkers see it."""

from __future__ import annotations

from typing import Any

import pytest
from offline_runs import DiaryType, Tabletop, run

from bbllm.bench.scene_sampling.generator import make_case
from bbllm.bench.scorers.judging import judge
from bbllm.bench.suites.case import Case
from bbllm.bench.suites.scores import FinalState, Score, Verdict
from bbllm.bench.suites.suite import load_suite
from bbllm.core.types import Outcome, Scene, SkillCall
from bbllm.worlds.tabletop.tabletop import TabletopWorld

SUITE = load_suite('tabletop')
TASKS = [task.name for task in SUITE.tasks]
TRIALS = 8


def judged(case: Case, before: Scene, after: Scene) -> Score:
    return judge(
        case.goal,
        FinalState(
            objects={item.name: item for item in after.objects},
            start={item.name: item for item in before.objects},
            out_of_reach=frozenset(case.out_of_reach),
        ),
    )


def lay(case: Case, tabletop: Tabletop) -> Any:
    things = (*case.scene.movables, *case.scene.places)
    places = {item.name: item.pose.position_m[:2] for item in things}
    return tabletop(places, unreachable=case.out_of_reach)


@pytest.mark.parametrize('seed', [0, 11])
@pytest.mark.parametrize('name', TASKS)
def test_each_task_is_solved_on_every_table_with_no_more_than_three_loops(
    name: str, seed: int, tabletop: Tabletop, diary: DiaryType
) -> None:
    for trial in range(TRIALS):
        case = make_case(SUITE, name, seed=seed, trial=trial)
        world, context = lay(case, tabletop), diary()
        before = world.observe()

        run(case.instruction, world, context)

        judgement = judged(case, before, world.observe())
        assert judgement.verdict is Verdict.PASSED, f'{name} {trial}: {judgement.reason}'
        assert case.least_loops <= len(context.repairs) <= 3
        assert not context.failed


FALLS = ['color_line', 'pairs_a_side', 'red_triangle', 'plus_sign', 'segregate']


@pytest.mark.parametrize('name', FALLS)
def test_without_feedback_a_task_fails_where_it_needs_what_is_out_of_reach(
    name: str, tabletop: Tabletop, diary: DiaryType
) -> None:
    for trial in range(TRIALS):
        case = make_case(SUITE, name, seed=0, trial=trial)
        world, context = lay(case, tabletop), diary()
        before = world.observe()

        run(case.instruction, world, context, k=0)

        assert judged(case, before, world.observe()).verdict is Verdict.FAILED
        assert context.failed


def test_without_feedback_what_could_not_be_put_down_stays_in_the_hand(
    tabletop: Tabletop, diary: DiaryType
) -> None:
    case = make_case(SUITE, 'segregate', seed=0, trial=0)
    world, context = lay(case, tabletop), diary()

    run(case.instruction, world, context, k=0)

    places = [call for call in world.calls if call.startswith('place')]
    assert places[0] in {f'place({name})' for name in case.out_of_reach}
    assert any(cause.endswith('is held.') for _, cause in context.failed)


class PhysicalTable:
    """A simulated table that counts what did not work."""

    def __init__(self, case: Case):
        self.world = TabletopWorld(case.scene)
        self.skills = self.world.skills
        self.codes: list[str] = []

    def observe(self) -> Scene:
        return self.world.observe()

    def execute(self, call: SkillCall) -> Outcome:
        outcome = self.world.execute(call)
        if not outcome.succeeded:
            self.codes.append(outcome.code.name)
        return outcome

    def stop(self) -> None:
        self.world.stop()


@pytest.mark.parametrize('name', TASKS)
def test_each_task_is_solved_with_real_physics(name: str, diary: DiaryType) -> None:
    case = make_case(SUITE, name, seed=5, trial=0)
    table, context = PhysicalTable(case), diary()
    before = table.observe()

    run(case.instruction, table, context)
    table.world.settled()

    judgement = judged(case, before, table.observe())
    table.world.close()
    assert judgement.verdict is Verdict.PASSED, judgement.reason
    assert {*table.codes} <= {'OUT_OF_WORKSPACE'}
