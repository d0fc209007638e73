"""An episode as a world, over a benchmark whose answers are scripted."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from numpy.typing import ArrayLike

from bbllm.core.types import Code, Kind, Skill, SkillCall, Status
from bbllm_libero.client import _state, _task
from bbllm_libero.panda import LiberoTask, Panda, Piece, Result, State
from bbllm_libero.world import LiberoWorld
from tests.libero.scripted_answers import STATE, TASK


@dataclass
class ScriptedWorker:
    """A `Worker` without a process; its check is true after some steps."""

    succeeds_at: tuple[int, ...] = ()
    task: LiberoTask = field(default_factory=lambda: _task(TASK))
    state: State = field(default_factory=lambda: _state(STATE))

    def step(self, action: ArrayLike) -> State:
        steps = self.state.steps + 1
        self.state = replace(self.state, steps=steps, success=steps in self.succeeds_at)
        return self.state

    def shape(self, name: str) -> tuple[Piece, ...]:
        return ()

    def facts(self) -> tuple[tuple[str, str, str], ...]:
        return (
            ('can_1', 'on', 'basket_1'),
            ('basket_1', 'in', 'basket_1_contain_region'),
            ('cabinet_1_top_region', 'is', 'close'),
        )


@dataclass
class Moves:
    """A skill of some control steps."""

    steps: int
    result: Result = field(default_factory=lambda: Result(status=Status.SUCCEEDED, held='can_1'))
    signature: Skill = field(default_factory=lambda: Skill('pick', ('object',), 'pick it up'))

    def run(self, panda: Panda, args: tuple[str, ...], held: str | None) -> Result:
        for _ in range(self.steps):
            panda.step(np.zeros(7))
        return self.result


PICK = SkillCall('pick', ('can_1',))


def world_of(skill: Moves, succeeds_at: tuple[int, ...] = ()) -> LiberoWorld:
    return LiberoWorld(ScriptedWorker(succeeds_at), (skill,))  # type: ignore[arg-type]


def test_scene_has_objects_regions_and_relations_by_truth() -> None:
    scene = world_of(Moves(1)).observe()

    assert scene.object('can_1').kind is Kind.OTHER
    assert scene.object('can_1').pose.position_m == pytest.approx((0.5, 0.1, 0.04))
    assert scene.object('can_1').size_m == pytest.approx((0.06, 0.06, 0.08))
    assert scene.object('cabinet_1').kind is Kind.FIXTURE
    assert scene.object('basket_1_contain_region').kind is Kind.LOCATION
    facts = set(map(str, scene.facts))
    assert facts == {
        '(cabinet_1 is not_open)',
        '(cabinet_1 is not_closed)',
        '(hand is empty)',
        '(can_1 on basket_1)',
        '(cabinet_1_top_region is closed)',
    }


def test_held_object_is_a_fact_of_the_next_scene() -> None:
    world = world_of(Moves(1))

    outcome = world.execute(PICK)

    assert outcome.succeeded
    assert outcome.duration_s == pytest.approx(1 / 20)
    assert world.observe().held == 'can_1'


def test_success_stays_although_the_check_is_false_again() -> None:
    world = world_of(Moves(3), succeeds_at=(2,))

    world.execute(PICK)

    assert world.passed


def test_no_step_is_made_beyond_the_budget() -> None:
    world = world_of(Moves(4))

    outcome = world.execute(PICK)

    assert (outcome.status, outcome.code) == (Status.FAILED, Code.TIMEOUT)
    assert '3 control steps' in outcome.message
    assert world.steps == 3
    assert world.observe().held == 'can_1'  # both fingers touch it


def test_unknown_object_is_rejected_before_anything_moves() -> None:
    world = world_of(Moves(1))

    outcome = world.execute(SkillCall('pick', ('cup_1',)))

    assert (outcome.status, outcome.code) == (Status.REJECTED, Code.UNKNOWN_OBJECT)
    assert world.steps == 0


def test_stop_ends_the_call_before_its_next_step() -> None:
    class Stopping(Moves):
        def run(self, panda: Panda, args: tuple[str, ...], held: str | None) -> Result:
            panda.step(np.zeros(7))
            world.stop()
            return super().run(panda, args, held)

    world = world_of(Stopping(2))

    outcome = world.execute(PICK)

    assert (outcome.status, outcome.code) == (Status.FAILED, Code.CANCELLED)
    assert world.steps == 1


def test_refusal_of_an_object_without_a_known_grasp_reaches_the_planner() -> None:
    refusal = Result(
        status=Status.REJECTED, code=Code.NOT_GRASPABLE, message='No grasp is known for a can.'
    )

    outcome = world_of(Moves(0, refusal)).execute(PICK)

    assert (outcome.status, outcome.code) == (Status.REJECTED, Code.NOT_GRASPABLE)
    assert outcome.message == 'No grasp is known for a can.'
