"""Plans that are tried in a rehearsal before the arm moves."""

from typing import Any

import pytest

from bbllm.core.cancel import CancelToken
from bbllm.core.events import EventData, PlanRehearsed, RepairBegun, SceneRecorded
from bbllm.core.protocols import Pass, WorldFeatures
from bbllm.core.types import Outcome, PlanStep, Scene, SkillCall, Status, Task
from bbllm.planners.brain_body.options import BrainBodyOptions
from bbllm.planners.brain_body.planner import BrainBody
from bbllm.planners.brain_body.rehearsal import REHEARSAL_LOOPS
from bbllm.planners.common.belief.belief_world import Estimation
from bbllm.testing import ScriptedModel
from tests.planners.symbolic_table import Diary, SymbolicTabletop, busy_table

TASK = Task('t', 'put the red cube on location_A')


class LiteralBody:
    """Takes steps that are written as calls by their word."""

    name, reads_calls = 'literal', False

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        skill, _, rest = step.text.partition('(')
        return SkillCall(skill, tuple(filter(None, rest.strip(')').split(', '))))


class TableRehearsal(SymbolicTabletop):
    """A rehearsal with one simulation."""

    is_intact = True
    closed = False

    @property
    def result(self) -> PlanRehearsed:
        return PlanRehearsed(samples=1, succeeded=1, calls=len(self.calls))

    def execute(self, call: SkillCall) -> Outcome:
        outcome = super().execute(call)
        self.is_intact = outcome.status is not Status.FAILED
        return outcome

    def close(self) -> None:
        self.closed = True


class RehearsingTable(SymbolicTabletop):
    """A table whose plans are tried on copies of it, in which faults may strike too."""

    def __init__(self, *rehearsals: dict[str, Any], **how: Any) -> None:
        base = busy_table()
        super().__init__({name: base.at(name) for name in base._items}, **how)
        self.how = list(rehearsals)
        self.rehearsals: list[TableRehearsal] = []

    @property
    def features(self) -> WorldFeatures:
        return WorldFeatures(rehearse=self.rehearsal)

    def rehearsal(self, cancel: CancelToken | None = None) -> TableRehearsal:
        how = self.how.pop(0) if self.how else {}
        how = {'unreachable': self.unreachable, **how}
        begun = TableRehearsal({name: self.at(name) for name in self._items}, **how)
        begun.held = self.held
        self.rehearsals.append(begun)
        return begun


class RehearsalDiary(Diary):
    """Keeps events of rehearsals too."""

    def __init__(self) -> None:
        super().__init__()
        self.data: list[EventData] = []

    def emit(self, data: EventData) -> None:
        super().emit(data)
        self.data.append(data)

    @property
    def loops(self) -> list[bool]:
        """Of each repair, whether it was after a rehearsal."""
        return [data.rehearsed for data in self.data if isinstance(data, RepairBegun)]


def run(
    replies: list[str], world: RehearsingTable, *, k: int = 0, body: Any = None
) -> tuple[RehearsalDiary, ScriptedModel]:
    diary, brain = RehearsalDiary(), ScriptedModel(replies)
    BrainBody(brain, body or LiteralBody(), k=k).run(TASK, world, diary)
    return diary, brain


def test_what_a_rehearsal_refuses_is_repaired_before_the_arm_moves_and_costs_no_loop() -> None:
    world = RehearsingTable(unreachable=['location_A'])

    diary, brain = run(
        [
            '0: pick(red_cube)\n1: place(location_A)\n2: return_to_base()',
            'New plan:\n1: place(location_B)\n2: return_to_base()',
        ],
        world,
    )

    assert world.calls == ['pick(red_cube)', 'place(location_B)', 'return_to_base()']
    assert diary.loops == [True]
    assert diary.repairs == [
        'In a rehearsal in simulation, before the arm tries this step: location_A is out of the '
        'workspace of the robot.'
    ]
    assert diary.repairs[0] in brain.requests[1].prompt
    assert 'red_cube held_by hand' in brain.requests[1].prompt  # the scene as it will be then
    assert [index for index, _ in diary.failed] == []


@pytest.mark.parametrize('open_state', ['given', 'no', 'rules'])
def test_a_plan_is_rehearsed_however_beliefs_are_formed(open_state: Estimation) -> None:
    world = RehearsingTable(unreachable=['location_A'])
    replies = ['0: pick(red_cube)\n1: place(location_A)', 'New plan:\n1: place(location_B)']
    options = BrainBodyOptions(open_state=open_state)

    diary = RehearsalDiary()
    BrainBody(ScriptedModel(replies), LiteralBody(), k=0, options=options).run(TASK, world, diary)

    assert [table.calls for table in world.rehearsals] == [
        ['pick(red_cube)', 'place(location_A)', 'place(location_B)']
    ]
    assert diary.loops == [True]


def test_a_repaired_plan_goes_on_where_its_refusal_left_the_simulation() -> None:
    world = RehearsingTable(unreachable=['location_A'])

    run(
        [
            '0: pick(red_cube)\n1: place(location_A)',
            'New plan:\n1: place(location_B)\n2: return_to_base()',
        ],
        world,
    )

    (only,) = world.rehearsals
    assert only.calls == [
        *('pick(red_cube)', 'place(location_A)'),
        *('place(location_B)', 'return_to_base()'),
    ]
    assert only.closed


def test_after_a_failure_that_moved_something_all_steps_are_tried_again() -> None:
    slip = ('place(location_A)', 60, 'it slipped.')
    world = RehearsingTable({'faults': [slip]})

    diary, _ = run(
        [
            '0: pick(red_cube)\n1: place(location_A)',
            'New plan:\n1: place(location_B)',
        ],
        world,
    )

    assert [each.calls for each in world.rehearsals] == [
        ['pick(red_cube)', 'place(location_A)'],
        ['pick(red_cube)', 'place(location_B)'],
    ]
    assert all(each.closed for each in world.rehearsals)
    assert diary.loops == [True]


def test_a_plan_that_stays_bad_is_carried_out_as_far_as_it_goes() -> None:
    world = RehearsingTable(unreachable=['location_A'])
    bad = 'New plan:\n1: place(location_A)\n2: return_to_base()'

    diary, _ = run(
        ['0: pick(red_cube)\n1: place(location_A)\n2: return_to_base()', *[bad] * 9], world
    )

    assert diary.loops == [True] * REHEARSAL_LOOPS
    assert world.calls == ['pick(red_cube)', 'place(location_A)', 'return_to_base()']
    assert [index for index, _ in diary.failed] == [1]


def test_steps_are_mapped_once_for_rehearsal_and_arm() -> None:
    asked: list[str] = []

    class CountingBody(LiteralBody):
        def map(self, step: PlanStep, scene: Scene) -> Any:
            asked.append(step.text)
            return super().map(step, scene)

    world = RehearsingTable()
    run(['0: pick(red_cube)\n1: place(location_B)'], world, body=CountingBody())

    assert asked == ['pick(red_cube)', 'place(location_B)']
    assert world.calls == asked


def test_result_and_predicted_scene_of_a_plan_that_passes_are_on_record() -> None:
    world = RehearsingTable()

    diary, _ = run(['0: pick(red_cube)\n1: place(location_B)'], world)

    (result,) = [data for data in diary.data if isinstance(data, PlanRehearsed)]
    assert (result.index, result.calls) == (-1, 2)
    (scene,) = [data for data in diary.data if isinstance(data, SceneRecorded)]
    assert scene.moment == 'predicted'
    assert scene.scene.has('red_cube', 'on', 'location_B')


def test_a_repair_after_a_failure_of_the_arm_is_rehearsed_too() -> None:
    world = RehearsingTable({'unreachable': ()}, unreachable=['location_A'])

    diary, _ = run(
        [
            '0: pick(red_cube)\n1: place(location_A)',  # the first rehearsal finds nothing wrong
            'New plan:\n1: place(location_A)',
            'New plan:\n1: place(location_B)',
        ],
        world,
        k=1,
    )

    assert diary.loops == [False, True]
    assert world.calls == ['pick(red_cube)', 'place(location_A)', 'place(location_B)']
