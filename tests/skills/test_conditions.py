"""Conditions of skills: their refusals and their effects."""

import re
from dataclasses import replace

import pytest

from bbllm.core.types import Code, Fact, HandReading, Kind, Scene, SceneObject, SkillCall
from bbllm.skills.catalog import SKILLS, arm_skills
from bbllm.skills.effects import changed, names_before, names_where
from bbllm.skills.grab_and_putin import GRAB_AND_PUTIN
from bbllm.skills.motions import refusal
from bbllm.skills.plan_check import PlanFault, check_plan
from bbllm.skills.skill import Judge
from tests.skills.laid_tables import OPEN_HAND, cube, cylinder, location, scene_of

RED, GREEN, BLUE = (
    cube('red_cube', 0.45, 0.15),
    cube('green_cube', 0.5, -0.05),
    cube('blue_cube', 0.6, 0.1),
)
PLACE_A = location('location_A', 0.55, -0.2)
BOWL = SceneObject(
    name='bowl',
    kind=Kind.CONTAINER,
    pose=replace(cube('bowl', 0.4, -0.3).pose, position_m=(0.4, -0.3, 0.03)),
    size_m=(0.16, 0.16, 0.06),
)


def table(*facts: Fact, more: tuple[SceneObject, ...] = ()) -> Scene:
    items = (RED, GREEN, BLUE, PLACE_A, BOWL, *more)
    scene = scene_of(*items, facts=(Fact('hand', 'is', 'empty'), *facts))
    reading = HandReading(tcp=OPEN_HAND.tcp, width_m=OPEN_HAND.width_m)
    return replace(scene, hand=reading, skills=(*SKILLS, GRAB_AND_PUTIN.signature))


def calls_of(text: str) -> list[SkillCall]:
    """Read calls written as `pick red_cube, place location_A`."""
    calls = []
    for part in text.split(', '):
        skill, *args = part.split(' ', -1 if part.startswith('grab') else 1)
        calls.append(SkillCall(skill, tuple(args)))
    return calls


def check(text: str, scene: Scene) -> tuple[PlanFault, ...]:
    return check_plan(calls_of(text), scene)


def test_every_precondition_judges_only_what_it_can() -> None:
    for row in arm_skills().values():
        for need in row.needs:
            # What the scene decides has its sentence here, and the rest where it is measured.
            assert bool(need.sentence) is (need.unmet is not None) or need.judge is Judge.ARM
            assert (need.unmet is not None) or need.judge is not Judge.SCENE


def test_effects_name_only_words_that_are_bound() -> None:
    scene = table()
    for row in arm_skills().values():
        args = ('red_cube', 'bowl', '')[: len(row.signature.params)]
        call = SkillCall(row.name, args)
        names = {
            **names_before(row.signature.params, call, scene),
            **(names_where(call, scene) if args else {}),
        }
        ends = {end for fact in (*row.removes, *row.adds) for end in (fact.subject, fact.object)}
        assert {end for end in ends if end.startswith('{')} <= set(names)
        for half in row.halves:
            assert half.skill in arm_skills() and set(half.args) <= set(names)


def test_a_pick_takes_all_facts_of_the_object_and_uncovers_what_was_below() -> None:
    facts = (
        Fact('hand', 'is', 'empty'),
        Fact('red_cube', 'on', 'green_cube'),
        Fact('red_cube', 'is', 'clear'),
        Fact('blue_cube', 'left_of', 'red_cube'),
        Fact('blue_cube', 'on', 'table'),
    )
    scene = replace(table(), facts=facts)
    call = SkillCall('pick', ('red_cube',))

    skill = arm_skills()['pick']

    after = changed(facts, skill, names_before(skill.signature.params, call, scene))

    assert set(after) == {
        Fact('blue_cube', 'on', 'table'),
        Fact('red_cube', 'held_by', 'hand'),
        Fact('green_cube', 'is', 'clear'),
    }


@pytest.mark.parametrize(
    ('plan', 'code', 'reported'),
    [
        ('throw red_cube', Code.UNKNOWN_SKILL, 'no skill named'),
        ('pick unicorn', Code.UNKNOWN_OBJECT, 'no object named'),
        ('wait 100', Code.BAD_ARGUMENTS, 'at most 60 seconds'),
        ('pick location_A', Code.NOT_GRASPABLE, 'is a location, and that cannot be picked'),
        ('pick wide_cube', Code.NOT_GRASPABLE, 'is 9.0 cm wide, but the hand grips at most 7.6'),
        ('pick red_cube, pick red_cube', Code.ALREADY_HOLDING, 'is in the hand already'),
        ('pick red_cube, pick blue_cube', Code.ALREADY_HOLDING, 'because red_cube is in the hand'),
        ('pick red_cube, reach red_cube', Code.ALREADY_HOLDING, 'so the hand is at it'),
        ('pick red_cube, place green_cube, pick green_cube', Code.COVERED, 'red_cube stands on'),
        ('place location_A', Code.NOT_HOLDING, 'pick an object first'),
        ('pick red_cube, place red_cube', Code.BAD_ARGUMENTS, 'cannot be placed on itself'),
        ('pick red_cube, place lying_cylinder', Code.BAD_ARGUMENTS, 'has no level top'),
        ('pick red_cube, place tilted_bowl', Code.BAD_ARGUMENTS, 'does not stand upright'),
        ('pick red_cube, place 0.5 0.3 0.3', Code.BAD_ARGUMENTS, 'to set red_cube on'),
        ('pick red_cube, place 1.5 0.3 0.02', Code.BAD_ARGUMENTS, 'is not over table'),
        ('pick red_cube, place 0.6 0.1 0.02', Code.OCCUPIED, 'is occupied by blue_cube'),
        (
            'pick red_cube, place location_A, pick blue_cube, place location_A',
            Code.OCCUPIED,
            'location_A is occupied by red_cube',
        ),
        (
            'pick red_cube, place green_cube, pick blue_cube, place green_cube',
            Code.OCCUPIED,
            'because red_cube stands on it',
        ),
        (
            'pick boxed_cube',
            Code.NO_CLEARANCE,
            'the fingers have no room: along x, 5 of 18 mm are free beside',
        ),
        ('pick far_cube', Code.OUT_OF_WORKSPACE, 'out of the workspace'),
        ('grab_and_putin red_cube red_cube', Code.BAD_ARGUMENTS, 'cannot be put into itself'),
        (
            'pick red_cube, grab_and_putin blue_cube bowl',
            Code.ALREADY_HOLDING,
            'The first half, pick(blue_cube), failed',
        ),
        ('pick red_cube, open_gripper, place location_A', Code.NOT_HOLDING, 'pick an object'),
    ],
)
def test_a_plan_with_one_fault_has_that_fault(plan: str, code: Code, reported: str) -> None:
    half = 0.5**0.5
    lying = cylinder('lying_cylinder', 0.3, 0.3, 0.08)
    around = [
        cube(f'cube_{i}', 0.3 + dx, 0.5 + dy)
        for i, (dx, dy) in enumerate(((0.045, 0), (-0.045, 0), (0, 0.045), (0, -0.045)))
    ]
    more = (
        cube('wide_cube', 0.7, -0.4, 0.045, edge_m=0.09),
        cube('far_cube', 0.9, 0.5),
        cube('boxed_cube', 0.3, 0.5),
        *around,
        replace(lying, pose=replace(lying.pose, quat_xyzw=(half, 0.0, 0.0, half))),
        replace(
            BOWL, name='tilted_bowl', pose=replace(BOWL.pose, quat_xyzw=(half, 0.0, 0.0, half))
        ),
    )

    faults = check(plan, table(Fact('far_cube', 'reachable', 'no'), more=more))

    assert [(fault.index, fault.code) for fault in faults] == [(len(calls_of(plan)) - 1, code)]
    assert reported in faults[0].sentence


@pytest.mark.parametrize(
    'plan',
    [
        'pick red_cube, place location_A, pick red_cube, place green_cube, return_to_base',
        'pick red_cube, place green_cube, pick blue_cube, place red_cube, wait 2',
        # Where it lies in these is not known, so no refusal is certain.
        'pick red_cube, open_gripper, pick red_cube, place location_A',
        'pick red_cube, place table, pick blue_cube, place red_cube, pick green_cube',
        'grab_and_putin red_cube bowl, grab_and_putin blue_cube bowl, pick red_cube',
        'reach red_cube, close_gripper, place location_A, pick red_cube',
        # Nor what is in the way of a hand that has moved.
        'pick red_cube, place location_A, reach 0.5 -0.05 0.03',
    ],
)
def test_a_plan_that_may_succeed_has_no_fault(plan: str) -> None:
    assert not check(plan, table())


def test_a_refused_call_changes_nothing() -> None:
    faults = check('pick location_A, place location_A, pick red_cube, place location_A', table())

    assert [fault.index for fault in faults] == [0, 1]


def test_plans_in_houses_are_not_checked() -> None:
    assert not check('pick unicorn', replace(table(), domain='household'))


def test_effects_of_a_place_are_in_force_for_the_next_refusal() -> None:
    scene = replace(table(), facts=(Fact('red_cube', 'held_by', 'hand'),))
    call = SkillCall('place', ('green_cube',))
    skill = arm_skills()['place']
    names = {
        **names_before(skill.signature.params, call, scene),
        **names_where(call, scene),
    }

    after = replace(scene, facts=changed(scene.facts, skill, names))

    refused = refusal(SkillCall('pick', ('green_cube',)), after)
    assert refused is not None
    assert refused.message == 'green_cube cannot be picked because red_cube stands on it.'


def test_sentences_fill_all_of_their_braces() -> None:
    for row in arm_skills().values():
        for need in row.needs:
            words = re.findall(r'{(\w+)}', need.sentence)
            assert '{' not in need.refusal(dict.fromkeys(words, 'x')).message
