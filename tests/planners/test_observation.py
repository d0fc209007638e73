"""What an observation lists where, and by which of its places a thing is told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from keepers import Kept, outcome
from made_scenes import made_scene
from test_state_by_rules import MISSED, STUCK, believed, done

from bbllm.bench.oracle.model import offline
from bbllm.core.events import Event
from bbllm.core.observation import LostObject, lost_facts
from bbllm.core.skill_calls import CallError, check_call
from bbllm.core.text import without_delimiters
from bbllm.core.types import (
    Code,
    Fact,
    Kind,
    Outcome,
    PlanStep,
    Pose,
    Scene,
    SceneObject,
    SkillCall,
    Task,
)
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.planners.body.language_model import BodyLLM
from bbllm.planners.common.belief.belief_world import EstimatingWorld
from bbllm.planners.common.belief.interaction_history import (
    MOVED_M,
    InteractionHistory,
    MotionDetector,
    held_after,
)
from bbllm.planners.common.belief.rule_state_estimator import RuleEstimator
from bbllm.planners.common.call_grammar import parse_call
from bbllm.planners.common.matching import MatchingBody
from bbllm.planners.common.observation_text import observation_text
from bbllm.planners.common.prompting import Prompts
from bbllm.planners.common.scene_graph import is_open
from bbllm.planners.common.short_names import ShortNames
from bbllm.skills.catalog import SKILLS


def house(things: str, *facts: str) -> Scene:
    """Return a scene of a room `kitchen_1`, of who acts, and of things."""
    scene = made_scene(f'kitchen_1 character_2 {things}', *facts)
    room, *others = scene.objects
    return replace(scene, objects=(replace(room, kind=Kind.LOCATION), *others))


def told(scene: Scene) -> dict[str, str]:
    names = ShortNames()
    names.see(scene)
    return dict(line.split(': ', 1) for line in observation_text(scene, names).splitlines())


def test_what_can_be_taken_or_switched_is_an_object_beside_what_it_holds_and_others_are_not() -> (
    None
):
    lists = told(
        house(
            'box_3 cabinet_4 oven_5 tray_6 spoon_7',
            *('box_3 affords containers', 'box_3 affords grabbable', 'cabinet_4 affords can_open'),
            *('cabinet_4 affords containers', 'oven_5 affords containers'),
            *('oven_5 affords has_switch', 'tray_6 affords surfaces', 'spoon_7 affords cut'),
        )
    )

    assert lists['Object List'] == '[box1, oven1, spoon1]'
    assert lists['Container List'] == '[box1, cabinet1, oven1]'
    assert lists['Surface List'] == '[tray1]'


def test_a_thing_is_told_by_what_it_is_on_else_by_what_it_is_in_and_last_by_its_room() -> None:
    things = 'mug_3 fork_4 lamp_5 tray_6 drawer_7'
    facts = [f'{name} affords grabbable' for name in ('mug_3', 'fork_4', 'lamp_5')]
    facts += [f'{name} in_room kitchen_1' for name in ('mug_3', 'fork_4', 'lamp_5')]
    facts += ['mug_3 on tray_6', 'mug_3 inside drawer_7', 'fork_4 inside drawer_7']
    facts += [f'{name} inside kitchen_1' for name in ('mug_3', 'fork_4', 'lamp_5')]

    assert told(house(things, *facts))['Object List'] == (
        '[mug1 ON tray1, fork1 IN drawer1, lamp1 IN kitchen1]'
    )


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


def test_a_thing_has_been_moved_where_it_lies_farther_than_half_a_cube_from_before() -> None:
    assert far_after(0.0, 0.9 * MOVED_M, 0.0) == [False, False, False]
    assert far_after(0.0, 1.1 * MOVED_M, 1.1 * MOVED_M, 0.0) == [False, True, False, True]
    # It may creep: what counts is where it lay when the words were first told.
    assert far_after(0.0, 0.6 * MOVED_M, 1.2 * MOVED_M) == [False, False, True]


def test_where_a_thing_lies_counts_from_the_words_of_now_and_not_while_it_is_held_or_unseen() -> (
    None
):
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


def test_what_failed_where_a_thing_lay_is_not_believed_of_where_it_lies_now() -> None:
    experience = InteractionHistory()
    far = done('place red_cube', Code.OUT_OF_WORKSPACE)
    slipped = done('pick red_cube', Code.OBJECT_LOST)
    blue = done('pick blue_cube', Code.GRASP_FAILED)
    for each in (slipped, MISSED, STUCK, far, blue):
        experience.add(each)

    assert experience.move(['red_cube'])
    assert not experience.move(['red_cube'])

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


def told_by(world: EstimatingWorld) -> list[str]:
    return [str(fact.object) for fact in world.observe().facts if is_open(fact)]


@pytest.mark.parametrize('step_m', [0.0, 2 * MOVED_M])
def test_a_grasp_that_fails_counts_also_where_it_pushes_the_thing_aside(step_m: float) -> None:
    experience, table = InteractionHistory(), Slippery(MISSED, step_m)
    world = EstimatingWorld(table, RuleEstimator(experience), experience)

    told = []
    for _ in range(5):
        world.execute(MISSED.call)
        told.append(told_by(world))

    assert told == [['failed_grasp_once']] + [['failed_grasp_twice']] * 4


def test_what_somebody_moves_right_after_a_failure_was_told_is_forgotten() -> None:
    experience, table = InteractionHistory(), Slippery(MISSED, 0.0)
    world = EstimatingWorld(table, RuleEstimator(experience), experience)
    world.execute(MISSED.call)
    assert told_by(world) == ['failed_grasp_once']

    table.x_m += 2 * MOVED_M

    assert told_by(world) == []


def test_what_a_failed_grasp_pushes_aside_is_not_fixed() -> None:
    experience = InteractionHistory()
    for each in (STUCK, MISSED, MISSED):
        experience.add(each)

    assert experience.move(['red_cube'], newest=1)
    assert believed(*experience.history) == ('failed_grasp_twice',)


def test_a_node_counts_grasps_that_push_the_thing_aside_as_well() -> None:
    kept, x_m = Kept(), 0.4
    kept.facts(lying(red_cube=x_m))

    def miss(*told: str) -> None:
        nonlocal x_m
        kept.keeper.hear(Event(0.0, SkillCall('pick', ('red_cube',))))
        x_m += 2 * MOVED_M
        kept.facts(lying(red_cube=x_m))  # while the arm is still there
        kept.keeper.hear(outcome('red_cube', Code.GRASP_FAILED))
        kept.wait_for(*told, scene=lambda: lying(red_cube=x_m))

    miss('(red_cube is failed_grasp_once)')
    for _ in range(3):
        miss('(red_cube is failed_grasp_twice)')

    x_m += 2 * MOVED_M
    kept.wait_for(scene=lambda: lying(red_cube=x_m))


LOST = LostObject(name='red_cube', position_m=(0.45, 0.16, 0.02), seen_s=88.0)
STEP = PlanStep(0, 'pick red_cube')


def scene() -> Scene:
    things = tuple(
        SceneObject(
            name=name,
            kind=Kind.CUBE,
            pose=Pose(position_m=(0.5, y, 0.02)),
            size_m=(0.04, 0.04, 0.04),
            color=name.split('_')[0],
        )
        for name, y in (('blue_cube', 0.0), ('green_cube', 0.2))
    )
    return Scene(things, SKILLS, lost_facts([LOST], 100.0), 100.0)


def test_brain_reads_that_a_thing_is_lost_and_does_not_find_it_among_the_objects() -> None:
    prompt = Prompts().planning(Task('t', 'put the red cube on the blue cube'), scene())

    assert '(red_cube is lost)' in prompt
    assert '(red_cube last_seen_at 0.450 0.160 0.020)' in prompt
    assert '(red_cube unseen_for 12 s)' in prompt
    assert 'Objects in the scene: blue_cube, green_cube\n' in without_delimiters(prompt)


def test_step_about_a_lost_thing_becomes_a_call_that_is_refused() -> None:
    for body in (BodyLLM(offline()), MatchingBody(LexicalEmbedder())):
        call = body.map(STEP, scene())

        assert call == SkillCall('pick', ('red_cube',))
        with pytest.raises(CallError) as caught:
            check_call(call, scene())
        assert caught.value.code is Code.OBJECT_LOST


def test_reply_that_names_a_lost_thing_is_no_slip_of_the_body() -> None:
    assert parse_call('<rob0>[pick] <red_cube>', scene()) == SkillCall('pick', ('red_cube',))
