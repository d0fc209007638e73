"""`pick(object)`: close the fingers on an object from above, and lift it."""

from collections.abc import Iterator
from dataclasses import replace

from bbllm.core.types import MOVABLE, Code, Fact, HandReading, Scene, SceneObject, Skill, SkillCall
from bbllm.skills.containers import lies_in
from bbllm.skills.effects import changed, names_before, unsure
from bbllm.skills.grasps import (
    MAX_WIDTH_M,
    ROOM_RULE,
    WIDEST_GRASP_M,
    Grip,
    Hand,
    NoRoom,
    closed_on,
    grip_widths,
    grips_for,
)
from bbllm.skills.needs import (
    FINGER_ROOM,
    FREE_WAY,
    IN_REACH,
    taking,
    uncovered,
)
from bbllm.skills.rejection import Rejection
from bbllm.skills.segments import HOVER_M, CloseOn, Lift, Motion, MoveAbove
from bbllm.skills.shapes import bottom_z, outline, polygon_gap, top_z
from bbllm.skills.skill import ArmSkill, Handling, Precondition, Words

TOUCH_M = 0.005
"""Objects nearer to each other than this may touch [m]."""
TAKING = (
    *('pick', 'pickup', 'grasp', 'grab', 'take', 'lift', 'fetch', 'unstack'),
    *('nimm', 'nehmen', 'greif', 'greife', 'greifen', 'hebe', 'heben'),
    *('coge', 'coger', 'toma', 'tomar', 'agarra', 'agarrar', 'recoge', 'recoger'),
)


def on_edge(call: SkillCall, scene: Scene) -> Words | None:
    return None if grip_widths(scene.object(call.args[0])) else {'object': call.args[0]}


def too_wide(call: SkillCall, scene: Scene) -> Words | None:
    narrowest_m = min(grip_widths(scene.object(call.args[0])))
    if narrowest_m <= WIDEST_GRASP_M:
        return None
    return {
        'object': call.args[0],
        'width': f'{narrowest_m * 100:.1f}',
        'most': f'{WIDEST_GRASP_M * 100:.1f}',
    }


GRIPPABLE = (
    Precondition(
        '{object} does not stand on an edge',
        Code.NOT_GRASPABLE,
        '{object} stands on an edge, and cannot be gripped from above.',
        unmet=on_edge,
    ),
    Precondition(
        f'{{object}} is {WIDEST_GRASP_M * 100:.1f} cm wide at most',
        Code.NOT_GRASPABLE,
        '{object} is {width} cm wide, but the hand grips at most {most} cm.',
        unmet=too_wide,
    ),
)


def close_on(item: SceneObject) -> CloseOn:
    """Return the grip of an object, which may lie between the fingers either way."""
    widths = grip_widths(item)
    widest = max(width for width in widths if width <= MAX_WIDTH_M)
    return CloseOn(item.name, min(widths), widest)


def grips_on(item: SceneObject, scene: Scene, done: str) -> tuple[Grip, ...] | Rejection:
    """Return the grips on an object, or why it cannot be *done*: `picked`."""
    name = item.name
    others = [other for other in scene.objects if other.name != name]
    grips = grips_for(item, others)
    if not isinstance(grips, NoRoom):
        return grips
    around = [o.name for o in others if o.name in grips.neighbours and lies_in(item, o)]
    if around:
        return Rejection(
            Code.NO_CLEARANCE,
            f'{name} cannot be {done} because {around[0]} leaves no room for the fingers: it '
            'lies deeper than the rim, and has to stay there.',
        )
    return Rejection(Code.NO_CLEARANCE, f'{name} cannot be {done} because {grips.sentence}')


def _plan(call: SkillCall, scene: Scene, hand: Hand) -> Motion | Rejection:
    item = scene.object(call.args[0])
    grips = grips_on(item, scene, 'picked')
    if isinstance(grips, Rejection):
        return grips
    above = MoveAbove(grips, HOVER_M, item.name, (item.name,), takes=True)
    return Motion((above, close_on(item), Lift(item.name)))


def risks_of_taking(call: SkillCall, scene: Scene) -> Iterator[str]:
    """Yield what may move together with an object that is gripped."""
    item = scene.object(call.args[0])
    others = [other for other in scene.objects if other.kind in MOVABLE and other is not item]
    carried = [other.name for other in others if scene.has(other.name, 'on', item.name)]
    if carried:
        yield f'{item.name} carries {" and ".join(carried)}'
    shape = outline(item)
    touching = [
        other.name
        for other in others
        if other.name not in carried
        and not scene.has(item.name, 'on', other.name)
        and bottom_z(other) < top_z(item)
        and bottom_z(item) < top_z(other)
        and polygon_gap(shape, outline(other)) < TOUCH_M
    ]
    if touching:
        yield f'{item.name} touches {" and ".join(touching)}'


def _imagine(call: SkillCall, scene: Scene, motion: Motion | None) -> Scene:
    name = call.args[0]
    facts = changed(scene.facts, PICK, names_before(PICK.signature.params, call, scene))
    if name in unsure(scene):
        held = Fact(name, 'held_by', 'hand')
        facts = tuple(replace(fact, estimated=True) if fact == held else fact for fact in facts)
    above = None if motion is None else motion.above
    grips = grips_for(scene.object(name), ()) if above is None else above.grips
    if not isinstance(grips, tuple):
        return replace(scene, facts=facts)
    hand = closed_on(grips[0])  # lifting changes nothing between them
    reading = HandReading(tcp=hand.tcp, width_m=hand.width_m)
    return replace(scene, facts=facts, hand=reading)


PICK = ArmSkill(
    signature=Skill(
        'pick',
        ('object',),
        'grip an object from above by two opposite sides, which the arm chooses, at most '
        f'{WIDEST_GRASP_M * 1000:.0f} mm apart, and lift it. {ROOM_RULE}',
        ('grasp',),
    ),
    needs=(
        *taking('picked', '{object} is in the hand already.'),
        *GRIPPABLE,
        uncovered('picked'),
        FINGER_ROOM,
        IN_REACH,
        FREE_WAY,
    ),
    removes=(
        Fact('hand', 'is', 'empty'),
        Fact('{object}', '*', '*'),
        Fact('*', '*', '{object}'),
    ),
    adds=(
        Fact('{object}', 'held_by', 'hand'),
        Fact('{uncovered}', 'is', 'clear'),
    ),
    plan=_plan,
    handling=lambda call: Handling(takes=call.args[:1]),
    risks=risks_of_taking,
    words=TAKING,
    forms=('pick up {}', 'pick {} up'),
    imagine=_imagine,
)
