"""Constraints at the executor: calls, ways of the planner, and motions that it did not plan."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bbllm.arm.driver import ArmDriver, JointTrajectory
from bbllm.arm.envelope import KeepOut, SafetyEnvelope, load_envelope
from bbllm.arm.failures import SkillError
from bbllm.arm.motion.collision import TABLE, CollisionChecker
from bbllm.arm.motion.trajectory import joint_move
from bbllm.arm.obstacles import forbidden_bodies
from bbllm.arm.safety.envelope_guard import EnvelopeGuard
from bbllm.core.errors import ConfigError
from bbllm.core.types import Code, Outcome, SkillCall, Status
from bbllm.robots.fr3 import FR3
from bbllm.scene.scene_file import LocationSpec, ObjectSpec, SceneFile
from bbllm.skills.constraints import parse_never
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.safety.recording import RecordingDriver
from tests.skills.declared import NAMES, declared

__all__ = ['declared']
pytestmark = pytest.mark.usefixtures('declared')

PICK, PLACE = SkillCall('pick', ('red_cube',)), SkillCall('place', ('location_A',))
BETWEEN = ObjectSpec(name='vase', kind='cylinder', color='blue', xy=(0.45, 0.0), size=(0.06, 0.3))
"""Between cube and location, higher than the hand goes on the way from one to the other."""
BESIDE = ObjectSpec(
    name='vase', kind='cylinder', color='blue', xy=(0.45, -0.27), size=(0.06, 0.12)
)
"""So near to the location that the hand passes it by a few millimetres."""
FAR = ObjectSpec(name='vase', kind='cylinder', color='blue', xy=(0.3, -0.5))
UNKNOWN = ObjectSpec(name='bowl', kind='bowl', xy=(0.6, 0.42))


class Table:
    """A cube, a location, a vase, and every motion that was sent."""

    def __init__(self, vase: ObjectSpec, never: Sequence[str] = (), **rules: Any) -> None:
        self.sent: list[JointTrajectory] = []
        scene = SceneFile(
            objects=(ObjectSpec(name='red_cube', kind='cube', xy=(0.45, 0.2)), vase, UNKNOWN),
            locations=(LocationSpec(name='location_A', xy=(0.45, -0.2)),),
            friction=0.4,
            skills=NAMES,
        )
        envelope = SafetyEnvelope.model_validate(rules).stricter(never)
        self.world = TabletopWorld(scene, wrap_driver=self._wrap, safety=envelope)

    def _wrap(self, driver: ArmDriver) -> ArmDriver:
        recorder = RecordingDriver(driver)
        self.sent = recorder.trajectories
        return recorder

    def hold_to(self, *never: str) -> None:
        """Hold motions to constraints that the planner does not know of."""
        self.world.guard.envelope = self.world.guard.envelope.stricter(never)

    def run(self, *calls: SkillCall) -> list[Outcome]:
        return [self.world.execute(call) for call in calls]

    def comes_near(self) -> bool:
        """Return whether any motion that was sent came into the margin of the vase."""
        bodies = forbidden_bodies([parse_never('touch vase')], self.world.truth())
        checker = CollisionChecker(FR3, bodies)
        return any(
            checker.first_deeper(each.position_rad, (TABLE,), itself=False) for each in self.sent
        )


def refused(outcome: Outcome, constraint: str) -> bool:
    return (
        (outcome.status, outcome.code) == (Status.REJECTED, Code.UNSAFE)
        and f"the constraint '{constraint}' forbids" in outcome.message
        and outcome.message.endswith('would do.')
    )


@pytest.mark.parametrize(
    ('never', 'call'),
    [
        ('touch the blue cylinder', SkillCall('pick', ('vase',))),
        ('move the vase', SkillCall('grasp', ('vase',))),
        ('move the vase', SkillCall('grab_and_putin', ('vase', 'bowl'))),
        ('place anything on the bowl', SkillCall('grab_and_putin', ('red_cube', 'bowl'))),
        ('touch the blue cylinder', SkillCall('sweep', ('vase', 'left', '0.05'))),
        ('move the vase', SkillCall('sweep', ('vase', 'left', '0.05'))),
        ('push the vase', SkillCall('twirl', ('vase', '45'))),
        ('touch the vase', SkillCall('twirl', ('vase', '45'))),
    ],
)
def test_a_call_for_what_is_forbidden_is_refused_and_nothing_moves(
    never: str, call: SkillCall
) -> None:
    table = Table(BESIDE, [never])

    (outcome,) = table.run(call)

    name = 'bowl' if 'bowl' in never else 'vase'
    assert refused(outcome, f'never {parse_never(never).verb.value} {name}'), outcome
    assert table.sent == []


@pytest.mark.parametrize(
    ('never', 'target'),
    [
        ('touch the vase', 'vase'),
        ('place anything on location_A', 'location_A'),
        ('place anything on location_A', '0.44 -0.21 0.02'),
    ],
)
def test_what_is_held_is_not_put_where_nothing_may_be(never: str, target: str) -> None:
    table = Table(BETWEEN, [never])

    picked, placed = table.run(PICK, SkillCall('place', (target,)))

    assert picked.succeeded
    name = 'vase' if target == 'vase' else 'location_A'
    assert refused(placed, f'never {parse_never(never).verb.value} {name}'), placed


def test_ways_lead_around_what_may_not_be_touched() -> None:
    free, bound = Table(BETWEEN), Table(BETWEEN, ['touch the vase'])

    outcomes = [*free.run(PICK, PLACE), *bound.run(PICK, PLACE)]

    assert all(outcome.succeeded for outcome in outcomes), outcomes
    assert free.comes_near()
    assert not bound.comes_near()


@pytest.mark.parametrize('knows', [True, False], ids=['planner', 'guard alone'])
def test_a_way_that_comes_too_near_is_refused_also_where_the_planner_does_not_know(
    knows: bool,
) -> None:
    never = 'touch the blue cylinder'
    table = Table(BESIDE, [never] if knows else [])
    if not knows:
        table.hold_to(never)

    picked, placed = table.run(PICK, PLACE)

    assert picked.succeeded
    assert refused(placed, 'never touch vase'), placed
    assert not table.comes_near()
    # Without the constraint the very same is done.
    assert all(outcome.succeeded for outcome in Table(BESIDE).run(PICK, PLACE))


def test_a_motion_that_others_planned_is_refused_where_it_sweeps_through() -> None:
    table = Table(BETWEEN, ['move the vase'])
    table.run(SkillCall('wait', ('0.1',)))  # a look at the scene
    left, right = FR3.home_rad.copy(), FR3.home_rad.copy()
    left[0], right[0] = 0.4, -0.4
    low = np.array([0.0, 1.0, 0.0, 0.3, 0.0, 0.0, 0.0])  # down to where the vase is

    with pytest.raises(SkillError, match="'never move vase' forbids sweeping") as caught:
        table.world.guard.check_motion(joint_move(FR3, left + low, right + low), 'sweeping')

    assert caught.value.code is Code.UNSAFE
    table.world.guard.check_motion(joint_move(FR3, left, right), 'passing above')


def test_objects_may_be_put_on_what_may_not_be_moved() -> None:
    low = BESIDE.model_copy(update={'xy': (0.45, -0.35), 'size': (0.06, 0.05)})
    table = Table(low, ['move the vase'])
    before = table.world.truth().object('vase').pose.position_m

    outcomes = table.run(PICK, SkillCall('place', ('vase',)))

    assert all(outcome.succeeded for outcome in outcomes), outcomes
    assert table.world.truth().has('red_cube', 'on', 'vase')
    assert table.world.truth().object('vase').pose.position_m == pytest.approx(before, abs=2e-3)


def test_all_motions_are_refused_while_the_object_is_not_in_the_scene() -> None:
    table = Table(BESIDE)
    table.hold_to('touch the pink cube')

    picked, waited, returned = table.run(
        PICK, SkillCall('wait', ('0.1',)), SkillCall('return_to_base')
    )

    for outcome in (picked, returned):
        assert refused(outcome, 'never touch the pink cube'), outcome
        assert 'which has red_cube, ' in outcome.message
    assert waited.succeeded
    assert table.sent == []


def test_without_a_scene_nothing_moves() -> None:
    guard = EnvelopeGuard(FR3, SafetyEnvelope().stricter(['touch the vase']))

    with pytest.raises(SkillError, match='no scene with its object was observed'):
        guard.check_motion(joint_move(FR3, FR3.home_rad, FR3.home_rad + 0.1), 'moving')


def test_a_world_with_a_constraint_on_nothing_is_not_built() -> None:
    with pytest.raises(ConfigError, match=r"'never touch the cup' cannot be kept: .* would do\."):
        Table(BESIDE, ['touch the cup'])


def test_constraints_stand_in_the_safety_file_beside_boxes(tmp_path: Path) -> None:
    path = tmp_path / 'mine.yaml'
    path.write_text(
        'never: [touch the vase]\nkeep_out: [{name: box_1, min_m: [0, 0.5, 0], '
        'max_m: [0.1, 0.6, 1]}]'
    )

    rules = load_envelope(path).stricter(['move any cube'], ['0.2 0.5 0.3 0.1, 0.6 -0.1'])

    assert list(map(str, rules.never)) == ['never touch the vase', 'never move any cube']
    box, more = rules.keep_out
    assert (box.name, more.name) == ('box_1', 'box_2')
    assert (more.min_m, more.max_m) == ((0.1, 0.5, -0.1), (0.2, 0.6, 0.3))


@pytest.mark.parametrize(
    ('text', 'wording'),
    [
        ('never: [eat the cube]', "never[0]: 'eat the cube' is no constraint; write `touch"),
        ('never: touch the cube', 'never'),
        ('never: [{verb: touch, words: "<x>"}]', 'is no constraint; write `touch OBJECT`'),
        ('nevr: []', "did you mean 'never'?"),
    ],
)
def test_a_constraint_in_the_file_that_cannot_be_read_is_named(
    tmp_path: Path, text: str, wording: str
) -> None:
    path = tmp_path / 'mine.yaml'
    path.write_text(text)

    with pytest.raises(ConfigError) as caught:
        load_envelope(path)

    assert wording in str(caught.value)


@pytest.mark.parametrize('text', ['', '1 2 3', '0 0 0 1 1 0', 'a b c d e f', '0 0 0 1 1 nan'])
def test_a_box_that_is_none_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(ConfigError, match=r'[Ww]rite two opposite corners in metres'):
        SafetyEnvelope().stricter(keep_out=[text])


@pytest.mark.parametrize(
    ('text', 'wording'),
    [
        ('200 500 0 600 900 300', '600 m is more than 3 m from the base of the robot'),
        ('2 2.5 0 2.6 2.9 0.3', 'no part of the arm can reach box_1, 0.6 x 0.4 x 0.3 m'),
        ('0.2 0.5 -0.3 0.6 0.9 -0.01', 'it is below the table'),
    ],
)
def test_a_box_that_protects_nothing_is_refused(text: str, wording: str) -> None:
    with pytest.raises(ConfigError) as caught:
        SafetyEnvelope().stricter(keep_out=[text])

    assert wording in str(caught.value)


SWEEP = SkillCall('sweep', ('red_cube', 'right', '0.4'))
TWIRL = SkillCall('twirl', ('red_cube', '45'))


def test_nothing_is_moved_onto_what_may_not_be_put_on() -> None:
    table = Table(BESIDE, ['place anything on location_A'])

    (outcome,) = table.run(SWEEP)

    assert refused(outcome, 'never place anything on location_A'), outcome
    assert table.sent == []


def test_a_way_past_what_may_not_be_touched_keeps_all_of_the_arm_away_from_it() -> None:
    beside = ObjectSpec(
        name='vase', kind='cylinder', color='blue', xy=(0.53, 0.0), size=(0.06, 0.2)
    )
    free, bound = Table(beside), Table(beside, ['touch the vase'])

    outcomes = [table.run(SWEEP)[0] for table in (free, bound)]

    # The palm is wider than the fingers: it would pass over the vase, or into it.
    assert not outcomes[1].succeeded, outcomes
    assert 'vase' in outcomes[1].message
    assert not bound.comes_near()


@pytest.mark.parametrize('call', [SWEEP, TWIRL])
def test_every_motion_of_a_skill_of_another_package_is_checked_against_the_envelope(
    call: SkillCall, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Table(FAR)
    checked: list[JointTrajectory] = []
    check = EnvelopeGuard.check_motion

    def watch(guard: EnvelopeGuard, trajectory: JointTrajectory, *args: Any, **more: Any) -> None:
        check(guard, trajectory, *args, **more)
        checked.append(trajectory)

    monkeypatch.setattr(EnvelopeGuard, 'check_motion', watch)

    (outcome,) = table.run(call)

    assert outcome.succeeded, outcome
    assert len(table.sent) >= 3
    assert all(any(sent is each for each in checked) for sent in table.sent)


@pytest.mark.parametrize('call', [SWEEP, TWIRL])
def test_no_skill_leads_through_a_box_that_is_kept_out(call: SkillCall) -> None:
    box = KeepOut(name='laptop', min_m=(0.3, -0.4, 0.01), max_m=(0.6, 0.3, 0.3))
    scene = SceneFile(
        objects=(ObjectSpec(name='red_cube', kind='cube', xy=(0.45, 0.2)),),
        skills=NAMES,
    )
    world = TabletopWorld(scene, safety=SafetyEnvelope(keep_out=(box,)))

    outcome = world.execute(call)

    assert (outcome.status, outcome.code) == (Status.REJECTED, Code.UNSAFE), outcome
    assert 'keep_out' in outcome.message
