"""What rules come to believe of things, attribute by attribute, and when that ends."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from bbllm.core.observation import Observed
from bbllm.core.types import Code, Fact, Outcome, Pose, Scene, SkillCall, Status
from bbllm.planners.common.belief.belief_world import EstimatingWorld
from bbllm.planners.common.belief.interaction_history import (
    MOVED_M,
    InteractionHistory,
    MotionDetector,
    held_after,
)
from bbllm.planners.common.belief.rules import MARGIN_KG, concluded
from bbllm.planners.domains.scene_graph import is_open
from tests.planners.made_scenes import made_scene


def done(text: str, code: Code = Code.NONE, message: str = '') -> Outcome:
    """Make the outcome of a call that is written `pick red_cube`; a failure where a code is."""
    skill, *args = text.split()
    status = Status.SUCCEEDED if code is Code.NONE else Status.FAILED
    call = SkillCall(skill, tuple(args))
    return Outcome(call=call, status=status, code=code, message=message)


def past_of(history: Iterable[Outcome]) -> InteractionHistory:
    past = InteractionHistory()
    for outcome in history:
        past.add(outcome)
    return past


def believed(*history: Outcome, name: str = 'red_cube') -> tuple[str, ...]:
    return concluded(past_of(history)).attributes.get(name, ())


MISSED = done('pick red_cube', Code.GRASP_FAILED)
STUCK = done('pick red_cube', Code.WOULD_NOT_RISE)
PICKED = done('pick red_cube')


PLACED = done('place location_A')
FAR = done('place location_A', Code.OUT_OF_WORKSPACE)
FAR_BOWL = done('grab_and_putin red_cube bowl', Code.OUT_OF_WORKSPACE, 'bowl is too far away.')
SLIPPED = done('pick red_cube', Code.OBJECT_LOST, 'red_cube slipped out of the fingers.')
LOST = done('place location_A', Code.OBJECT_LOST)
MISPLACED = done('place location_A', Code.MISPLACED)
# Between two episodes somebody took the red one out of the hand.
BLUE = [
    [PICKED, done('pick blue_cube', code), LOST] for code in (Code.OBJECT_LOST, Code.MISPLACED)
]


@pytest.mark.parametrize(
    ('history', 'name', 'words'),
    [
        ([MISSED], 'red_cube', 'failed_grasp_once'),
        ([MISSED] * 2, 'red_cube', 'failed_grasp_twice'),
        ([MISSED] * 3, 'red_cube', 'failed_grasp_twice'),
        ([MISSED, MISSED, PICKED], 'red_cube', ''),
        ([MISSED, MISSED, PICKED, PLACED, MISSED], 'red_cube', 'failed_grasp_once'),
        ([STUCK], 'red_cube', 'fixed_or_heavy'),
        ([STUCK, PICKED], 'red_cube', ''),
        ([PICKED, LOST], 'red_cube', 'slipped_before'),
        ([SLIPPED, PICKED, PLACED], 'red_cube', 'slipped_before'),
        ([done('grab_and_putin red_cube bowl', Code.OBJECT_LOST)], 'red_cube', 'slipped_before'),
        ([PICKED, MISPLACED], 'red_cube', 'misplaced_before'),
        ([PICKED, MISPLACED], 'location_A', ''),
        ([FAR], 'location_A', 'out_of_workspace'),
        ([FAR, done('reach location_A')], 'location_A', ''),
        ([FAR_BOWL], 'bowl', 'out_of_workspace'),
        ([FAR_BOWL], 'red_cube', ''),
        (BLUE[0], 'blue_cube', 'slipped_before'),
        (BLUE[1], 'blue_cube', 'misplaced_before'),
        (BLUE[0], 'red_cube', ''),
    ],
)
def test_each_attribute_begins_and_ends_with_calls(
    history: list[Outcome], name: str, words: str
) -> None:
    assert believed(*history, name=name) == tuple(words.split())


def test_a_call_that_names_what_nobody_sees_is_no_slip() -> None:
    refused = Outcome(
        call=SkillCall('pick', ('red_cube',)), status=Status.REJECTED, code=Code.OBJECT_LOST
    )

    assert believed(refused) == ()
    assert held_after([done('pick blue_cube'), refused]) == 'blue_cube'


def weighed(**masses_kg: float) -> InteractionHistory:
    """Pick and put down each thing, with a hand that feels exactly."""
    experience = InteractionHistory()
    for name, mass_kg in masses_kg.items():
        experience.add(done(f'pick {name}'))
        force_n = (0.0, 0.0, -9.81 * mass_kg)
        experience.sense(Observed(force_n=force_n, fingers_m=(0.02, 0.02)))
        experience.add(done('place location_A'))
        experience.sense(Observed(force_n=(0.0, 0.0, -5.0), fingers_m=(0.04, 0.04)))
    return experience


def heavier(**masses_kg: float) -> dict[str, tuple[str, ...]]:
    return dict(concluded(weighed(**masses_kg)).attributes)


def test_weights_that_were_felt_are_compared_beyond_the_margin() -> None:
    assert heavier(red_cube=0.05, blue_cube=0.1) == {'blue_cube': ('heavier_than red_cube',)}
    assert heavier(red_cube=0.1, blue_cube=0.1 + 0.9 * MARGIN_KG) == {}
    assert heavier(red_cube=0.1, blue_cube=0.1 + 1.1 * MARGIN_KG) != {}


def test_an_open_hand_weighs_nothing() -> None:
    experience = weighed(red_cube=0.05)
    experience.add(PICKED)
    experience.sense(Observed(force_n=(0.0, 0.0, -3.0), fingers_m=(0.04, 0.04)))
    experience.sense(Observed(force_n=None, fingers_m=(0.02, 0.02)))

    assert experience.forces_n('red_cube') == pytest.approx((-0.4905,))


def in_house(*calls: str) -> dict[str, tuple[str, ...]]:
    return dict(concluded(past_of(map(done, calls))).attributes)


PUTIN, ON, OFF = 'putin milk_2 microwave_3', 'switchon microwave_3', 'switchoff microwave_3'


@pytest.mark.parametrize(
    ('calls', 'warm'),
    [
        ([PUTIN, ON], True),
        ([ON, 'putback milk_2 microwave_3'], True),
        ([PUTIN, ON, 'grab milk_2'], True),
        ([PUTIN, ON, OFF], True),
        (['putin milk_2 fridge_4', 'switchon fridge_4'], False),
        ([PUTIN, 'grab milk_2', ON], False),
        ([ON, OFF, PUTIN], False),
    ],
)
def test_what_is_in_a_microwave_that_is_on_is_warm_and_stays_warm(
    calls: list[str], warm: bool
) -> None:
    assert in_house(*calls) == ({'milk_2': ('warm',)} if warm else {})


def lying(**places_m: float) -> Scene:
    """Return a scene in which each thing lies so far along x."""
    scene = made_scene(' '.join(places_m), domain='tabletop')
    return replace(
        scene,
        objects=tuple(
            replace(item, pose=Pose(position_m=(places_m[item.name], 0.0, 0.02)))
            for item in scene.objects
        ),
    )


def far_after(*distances_m: float) -> list[bool]:
    """Tell of each scene, by how far along a cube lies in it, whether that has been moved."""
    resting, words = MotionDetector(), {'red_cube': ('would_not_rise',)}
    return [bool(resting.moved(words, lying(red_cube=0.4 + far))) for far in distances_m]


def test_an_object_has_moved_beyond_half_a_cube() -> None:
    assert far_after(0.0, 0.9 * MOVED_M, 0.0) == [False, False, False]
    assert far_after(0.0, 1.1 * MOVED_M, 1.1 * MOVED_M, 0.0) == [False, True, False, True]
    # It may creep: what counts is where it lay when the words were first told.
    assert far_after(0.0, 0.6 * MOVED_M, 1.2 * MOVED_M) == [False, False, True]


def test_motion_counts_from_the_current_beliefs_and_not_while_held_or_unseen() -> None:
    resting = MotionDetector()
    near, far = lying(red_cube=0.4), lying(red_cube=0.6)
    held = replace(far, facts=(Fact('red_cube', 'held_by', 'hand'),))

    assert not resting.moved({'red_cube': ('would_not_rise',)}, near)
    assert not resting.moved({'red_cube': ('failed_grasp_once',)}, far)
    assert resting.moved({'red_cube': ('failed_grasp_once',)}, near) == {'red_cube'}
    for between in (held, lying(blue_cube=0.5)):
        assert not resting.moved({'red_cube': ('failed_grasp_once',)}, between)
        assert not resting.moved({'red_cube': ('failed_grasp_once',)}, far)
        assert resting.moved({'red_cube': ('failed_grasp_once',)}, near)
    assert not resting.moved({'red_cube': ()}, far)


def test_a_failure_at_an_earlier_place_is_not_believed_of_the_new_one() -> None:
    experience = InteractionHistory()
    far = done('place red_cube', Code.OUT_OF_WORKSPACE)
    slipped = done('pick red_cube', Code.OBJECT_LOST)
    blue = done('pick blue_cube', Code.GRASP_FAILED)
    for each in (slipped, MISSED, STUCK, far, blue):
        experience.add(each)

    experience.move(['red_cube'])

    assert believed(*experience.history) == ('slipped_before',)
    assert believed(*experience.history, name='blue_cube') == ('failed_grasp_once',)
    assert held_after(experience.history) is None


class Slippery:
    """A table on which each pick fails, and pushes the cube a bit."""

    skills = ()

    def __init__(self, ended: Outcome, step_m: float):
        self.x_m = 0.4
        self._ended = ended
        self._step_m = step_m

    def observe(self) -> Scene:
        return lying(red_cube=self.x_m)

    def execute(self, call: SkillCall) -> Outcome:
        self.x_m += self._step_m
        return replace(self._ended, call=call)

    def stop(self) -> None:
        """Nothing runs."""


def reported_by(world: EstimatingWorld) -> list[str]:
    return [str(fact.object) for fact in world.observe().facts if is_open(fact)]


@pytest.mark.parametrize('step_m', [0.0, 2 * MOVED_M])
def test_a_failed_grasp_counts_although_it_pushes_the_object(step_m: float) -> None:
    world = EstimatingWorld(Slippery(MISSED, step_m))

    expected = []
    for _ in range(5):
        world.execute(MISSED.call)
        expected.append(reported_by(world))

    assert expected == [['failed_grasp_once']] + [['failed_grasp_twice']] * 4


def test_a_failure_is_forgotten_when_a_person_moves_its_object() -> None:
    table = Slippery(MISSED, 0.0)
    world = EstimatingWorld(table)
    world.execute(MISSED.call)
    assert reported_by(world) == ['failed_grasp_once']

    table.x_m += 2 * MOVED_M

    assert reported_by(world) == []
