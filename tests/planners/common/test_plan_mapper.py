"""The steps of a plan at their turn: what was mapped ahead, and what is asked again."""

from collections.abc import Sequence
from threading import Event

import pytest

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import ParseError
from bbllm.core.protocols import MappedStep, Pass
from bbllm.core.types import Plan, PlanStep, Scene, SkillCall
from bbllm.planners.common.plan_mapper import PlanMapper
from tests.planners.symbolic_table import SymbolicTabletop

PATIENCE_S = 20.0
BESIDE = 'set it down beside blue_cube'
STEPS = ('lift the red one', BESIDE, 'wave', 'lift the green one', BESIDE)
PLAN = Plan(tuple(PlanStep(i, text) for i, text in enumerate(STEPS)))
POSE = SkillCall('place', ('0.48 0.14 0.02',))
MAPPED: dict[str, MappedStep] = {
    'lift the red one': SkillCall('pick', ('red_cube',)),
    'lift the green one': SkillCall('pick', ('green_cube',)),
    BESIDE: POSE,
    'wave': Pass('no action waves.'),
    'mumble': ParseError('No action was found.'),
}


class AheadBody:
    """Maps all steps that it is shown."""

    name = 'ahead'

    def __init__(self) -> None:
        self.asked: list[list[int]] = []
        self.singly: list[int] = []

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        self.singly.append(step.index)
        mapped = MAPPED[step.text]
        assert not isinstance(mapped, ParseError)
        return mapped

    def map_ahead(self, steps: Sequence[PlanStep], scene: Scene) -> Sequence[MappedStep | None]:
        self.asked.append([step.index for step in steps])
        return [MAPPED[step.text] for step in steps]


def table() -> SymbolicTabletop:
    places = {'red_cube': (0.4, 0.1), 'green_cube': (0.4, -0.1), 'blue_cube': (0.48, 0.2)}
    return SymbolicTabletop(places)


def test_one_request_maps_a_plan_and_a_new_plan_is_mapped_anew() -> None:
    body, world = AheadBody(), table()
    mapper = PlanMapper(body)

    mapper.take(PLAN)
    first = mapper.map(PLAN.steps[0], world.observe())
    assert first == SkillCall('pick', ('red_cube',))
    assert [step.index for step, _ in mapper.passed_ahead()] == [2]
    world.execute(first)
    assert mapper.map(PLAN.steps[1], world.observe()) == POSE  # only what is held has moved
    assert mapper.map(PLAN.steps[2], world.observe()) == Pass('no action waves.')
    assert mapper.passed_ahead() == []
    assert body.asked == [[0, 1, 2, 3, 4]]

    mapper.take(PLAN)
    mapper.map(PLAN.steps[3], world.observe())
    assert body.asked[1:] == [[3, 4]]


def test_a_pose_taken_from_the_scene_is_asked_for_again_once_objects_have_moved() -> None:
    body, world = AheadBody(), table()
    mapper = PlanMapper(body)
    mapper.take(PLAN)

    for step in PLAN.steps:
        call = mapper.map(step, world.observe())
        if isinstance(call, SkillCall):
            world.execute(call)

    assert body.asked == [[0, 1, 2, 3, 4], [4]]


def test_a_pose_in_the_words_of_the_step_stays_what_it_is() -> None:
    step = PlanStep(1, 'set it down at x 0.48, y 0.14, z 0.02')
    plan = Plan((PLAN.steps[0], step))
    body, world = AheadBody(), table()
    MAPPED[step.text] = POSE
    mapper = PlanMapper(body)
    mapper.take(plan)
    mapper.map(plan.steps[0], world.observe())
    world.execute(SkillCall('pick', ('green_cube',)))
    world.execute(SkillCall('place', ('0.6 0 0.02',)))

    assert mapper.map(step, world.observe()) == POSE
    assert body.asked == [[0, 1]]


def test_a_call_is_checked_against_the_scene_of_its_turn() -> None:
    step = PlanStep(0, 'put red on blue')
    MAPPED[step.text] = SkillCall('move', ('red_cube', 'blue_cube'))
    world = table()
    for held, call in ((None, None), ('red_cube', 'place(blue_cube)'), ('green_cube', None)):
        world.held = held
        mapper = PlanMapper(AheadBody())
        mapper.take(Plan((step,)))
        if call is None:
            with pytest.raises(ParseError, match='red_cube cannot be placed, because'):
                mapper.map(step, world.observe())
        else:
            assert str(mapper.map(step, world.observe())) == call


class WaitingBody(AheadBody):
    """Overlaps; keeps every request for more than one step until it is cancelled or let go."""

    overlaps = True

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.let_go, self.ended = Event(), Event(), Event()

    def map_ahead(
        self, steps: Sequence[PlanStep], scene: Scene, *, cancel: CancelToken | None = None
    ) -> Sequence[MappedStep | None]:
        found = super().map_ahead(steps, scene)
        if cancel is not None:
            self.begun.set()
            try:
                while not self.let_go.is_set():
                    cancel.wait(0.005)
            finally:
                self.ended.set()
        return found


def test_later_steps_are_mapped_with_the_scene_of_the_step_at_its_turn() -> None:
    body, world = WaitingBody(), table()
    mapper = PlanMapper(body)
    mapper.take(PLAN)

    world.execute(mapper.map(PLAN.steps[0], world.observe()))  # type: ignore[arg-type]
    mapper.start_ahead(PLAN.steps[0])
    assert body.begun.wait(PATIENCE_S)
    body.let_go.set()

    assert mapper.map(PLAN.steps[1], world.observe()) == POSE
    assert mapper.foreseen(PLAN.steps[1]) == ()  # the next step is passed
    assert mapper.map(PLAN.steps[2], world.observe()) == Pass('no action waves.')
    assert body.asked[:2] == [[0], [1]]
    assert body.asked[-1] == [3, 4]  # after the pass
    assert mapper.close()


def test_what_is_no_longer_needed_is_cancelled_and_asked_for_at_its_turn() -> None:
    body, world = WaitingBody(), table()
    mapper = PlanMapper(body)
    mapper.take(PLAN)
    mapper.map(PLAN.steps[0], world.observe())
    mapper.start_ahead(PLAN.steps[0])
    assert body.begun.wait(PATIENCE_S)

    mapper.discard()

    assert body.ended.wait(PATIENCE_S)
    assert mapper.map(PLAN.steps[1], world.observe()) == POSE
    assert body.asked[-1] == [1]
    assert mapper.close()


def test_calls_that_will_follow_are_foreseen() -> None:
    texts = ('pick red_cube', 'place it on blue_cube', 'lift the green one', 'wave')
    plan = Plan(tuple(PlanStep(i, text) for i, text in enumerate(texts)))
    mapper, scene = PlanMapper(AheadBody()), table().observe()
    mapper.take(plan)

    mapper.map(PlanStep(2, 'lift the green one'), scene)
    mapper.take(plan)
    MAPPED['pick red_cube'] = SkillCall('pick', ('red_cube',))
    MAPPED['place it on blue_cube'] = SkillCall('place', ('blue_cube',))
    mapper.map(plan.steps[0], scene)

    assert [*map(str, mapper.foreseen(plan.steps[0]))] == ['place(blue_cube)', 'pick(green_cube)']
