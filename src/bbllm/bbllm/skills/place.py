"""`place(target)`: put down what is held, at a pose, on or in what is named."""

from collections.abc import Iterator
from dataclasses import replace

from bbllm.core.skill_calls import is_pose_like
from bbllm.core.types import (
    MOVABLE,
    Code,
    Fact,
    HandReading,
    Kind,
    Scene,
    SceneObject,
    Skill,
    SkillCall,
)
from bbllm.skills.containers import container_place, is_container, is_upright
from bbllm.skills.effects import changed, names_before, names_where
from bbllm.skills.grasps import PALM_RULE, Grip, Hand, NoRoom, tool_pose
from bbllm.skills.needs import (
    FINGER_ROOM,
    FREE_WAY,
    IN_REACH,
    empty,
    far,
    in_hand,
    is_hand,
    named,
)
from bbllm.skills.placing import PlaceTarget, place_grips, place_target, put_down, square
from bbllm.skills.rejection import Rejection
from bbllm.skills.segments import HOVER_M, LetGo, Motion, MoveAbove, Rest, Rise
from bbllm.skills.shapes import is_round, vertical_axis
from bbllm.skills.skill import ArmSkill, Handling, Judge, Precondition, Words

REACH_M = (0.2, 0.75)
"""Distances from the base at which the hand comes down on a table at its height anywhere in front
of it; the inverse kinematics finds no more than 5 cm beyond either [m]."""
PUTTING = (
    *('place', 'put', 'set', 'lay', 'stack', 'drop', 'placein', 'placeon', 'putin'),
    *('stell', 'stelle', 'stellen', 'leg', 'lege', 'legen', 'setz', 'setze', 'setzen'),
    *('coloca', 'colocar', 'pon', 'poner'),
)


def _tilted(call: SkillCall, scene: Scene) -> Words | None:
    target = named(call, scene)
    if target is None or not is_container(target) or is_upright(target):
        return None
    return {'target': target.name, 'held': scene.held or ''}


def _not_level(call: SkillCall, scene: Scene) -> Words | None:
    target = named(call, scene)
    if target is None or target.kind not in MOVABLE:
        return None
    lies = target.kind is Kind.CYLINDER and not is_round(target)
    is_level = vertical_axis(target) is not None and not lies
    return None if is_level else {'target': target.name, 'held': scene.held or ''}


def _far(call: SkillCall, scene: Scene) -> Words | None:
    """The fact is of a hand that comes down on it: on top of an object it may be otherwise."""
    target = named(call, scene)
    return None if target is None or target.kind in MOVABLE else far(call, scene)


def _plan(call: SkillCall, scene: Scene, hand: Hand) -> Motion | Rejection:
    assert scene.held is not None  # `refusal` looked
    arg, held = call.args[0], scene.object(scene.held)
    if not is_pose_like(arg) and is_container(scene.object(arg)):
        found = container_place(scene.object(arg), scene, hand)
        if isinstance(found, Rejection):
            return found
        return _put_down(held, *found)
    target = place_target(arg, held, scene, hand)
    if isinstance(target, Rejection):
        return target
    grips = place_grips(held, target, scene, hand)
    if isinstance(grips, NoRoom):
        return Rejection(
            Code.NO_CLEARANCE,
            f'{held.name} cannot be placed at {target.label} because {grips.sentence}',
        )
    return _put_down(held, target, grips)


def _put_down(held: SceneObject, target: PlaceTarget, grips: tuple[Grip, ...]) -> Motion:
    above = MoveAbove(grips, HOVER_M, target.label, (held.name, *target.supports))
    return Motion((above, LetGo(held.name), Rise()), Rest(held.name, target))


def _risks(call: SkillCall, scene: Scene) -> Iterator[str]:
    target = named(call, scene)
    if target is not None and target.kind in MOVABLE:
        yield f'it puts {scene.held or "what is held"} on top of {target.name}'


def _imagine(call: SkillCall, scene: Scene, motion: Motion | None) -> Scene:
    rest = None if motion is None else motion.rest
    target = None if rest is None else rest.target
    names = {
        **names_before(PLACE.signature.params, call, scene),
        **names_where(call, scene, target),
    }
    facts = changed(scene.facts, PLACE, names)
    if rest is None or _lies_somewhere(call, scene, rest):
        clear = Fact(scene.held or '', 'is', 'clear')
        facts = tuple(replace(fact, estimated=True) if fact == clear else fact for fact in facts)
    if motion is None or rest is None or motion.above is None:
        return replace(scene, facts=facts)
    lies, grip = put_down(scene.object(rest.name), rest.target), motion.above.grips[0]
    return replace(
        scene,
        facts=facts,
        objects=tuple(lies if item.name == lies.name else item for item in scene.objects),
        hand=HandReading(tcp=tool_pose(grip), width_m=grip.opening_m),
    )


def _lies_somewhere(call: SkillCall, scene: Scene, rest: Rest) -> bool:
    """Whether it is not known where exactly an object will rest, or how it is turned."""
    if vertical_axis(scene.object(rest.name)) != 2:
        return True
    target = named(call, scene)
    return target is not None and target.kind is Kind.FIXTURE


def _is_sure(call: SkillCall, scene: Scene, found: Rejection | None) -> bool:
    target = named(call, scene)
    if found is None:  # slow to find, and not where the arm will find it
        return target is None or not is_container(target)
    if found.code is not Code.NO_CLEARANCE or scene.held is None:
        return True
    held = scene.object(scene.held)
    return square(held) or is_round(held)  # how it is gripped decides, and the arm chooses that


HOLDING = Precondition(
    'something is in the hand',
    Code.NOT_HOLDING,
    'nothing is in the hand, so nothing can be placed; pick an object first.',
    unmet=empty,
)
PLACE = ArmSkill(
    signature=Skill(
        'place',
        ('target',),
        'put down what is held: at a free location, on top of an object, or with its centre at '
        '`x y z` [m] or `x y z yaw_deg` (without a yaw, parallel to x and y or to what is '
        f'below). The hand reaches the table at {REACH_M[0]:g} to {REACH_M[1]:g} m from the base '
        f'and, in pick too, {PALM_RULE}',
    ),
    needs=(
        HOLDING,
        Precondition(
            '{target} stands upright, if it is a container',
            Code.BAD_ARGUMENTS,
            '{target} does not stand upright, so {held} cannot be put into it; choose another '
            'container.',
            unmet=_tilted,
        ),
        Precondition(
            '{target} is not {held}',
            Code.BAD_ARGUMENTS,
            '{held} is in the hand and cannot be placed on itself.',
            unmet=in_hand,
        ),
        Precondition(
            '{target} is not the hand',
            Code.BAD_ARGUMENTS,
            '{held} is in the hand already.',
            unmet=is_hand,
        ),
        Precondition(
            '{target} has a level top, if it is an object',
            Code.BAD_ARGUMENTS,
            '{target} has no level top on which {held} could stand.',
            unmet=_not_level,
        ),
        Precondition(
            'something carries it there, if {target} is a pose',
            Code.BAD_ARGUMENTS,
            judge=Judge.GEOMETRY,
        ),
        Precondition('there is room for it', Code.OCCUPIED, judge=Judge.GEOMETRY),
        FINGER_ROOM,
        replace(IN_REACH, unmet=_far),
        FREE_WAY,
    ),
    removes=(
        Fact('{held}', 'held_by', 'hand'),
        Fact('{below}', 'is', 'clear'),
    ),
    adds=(
        Fact('hand', 'is', 'empty'),
        Fact('{held}', 'on', '{below}'),
        Fact('{held}', 'in', '{around}'),
        Fact('{mark}', 'occupied_by', '{held}'),
        Fact('{held}', 'is', 'clear'),
    ),
    plan=_plan,
    handling=lambda call: Handling(onto=call.args[-1:], sets_down=True),
    risks=_risks,
    words=PUTTING,
    uses_grip=True,
    imagine=_imagine,
    is_sure=_is_sure,
)
