"""Preconditions that several skills have, as a scene shows them."""

from bbllm.core.text import listed
from bbllm.core.types import MOVABLE, Code, Kind, Scene, SceneObject, SkillCall
from bbllm.skills.skill import Judge, Precondition, Words


def not_movable(call: SkillCall, scene: Scene) -> Words | None:
    kind = scene.object(call.args[0]).kind
    return None if kind in MOVABLE else {'object': call.args[0], 'kind': kind.value}


def in_hand(call: SkillCall, scene: Scene) -> Words | None:
    name = call.args[0]
    return {'object': name, 'target': name, 'held': name} if scene.held == name else None


def full(call: SkillCall, scene: Scene) -> Words | None:
    return None if scene.held is None else {'object': call.args[0], 'held': scene.held}


def covered(call: SkillCall, scene: Scene) -> Words | None:
    name = call.args[0]
    above = [fact.subject for fact in scene.facts if (fact.predicate, fact.object) == ('on', name)]
    if not above:
        return None
    return {'object': name, 'above': listed(above), 'stand': 'stand' if above[1:] else 'stands'}


def empty(call: SkillCall, scene: Scene) -> Words | None:
    return {} if scene.held is None else None


def named(call: SkillCall, scene: Scene) -> SceneObject | None:
    """Return the target of a call, None where that is a pose."""
    return scene.object(call.args[0]) if call.args[0] in scene.names else None


def is_hand(call: SkillCall, scene: Scene) -> Words | None:
    target = named(call, scene)
    names_hand = target is not None and target.kind is Kind.HAND
    return {'held': scene.held or ''} if names_hand else None


def far(call: SkillCall, scene: Scene) -> Words | None:
    name = call.args[0]
    return {'target': name} if scene.has(name, 'reachable', 'no') else None


def taking(done: str, in_hand_already: str) -> tuple[Precondition, ...]:
    """Return what a skill that takes an object with an empty hand needs; *done* as in `picked`."""
    return (
        Precondition(
            '{object} is a cube, a cylinder or another object that is loose',
            Code.NOT_GRASPABLE,
            f'{{object}} is a {{kind}}, and that cannot be {done}.',
            unmet=not_movable,
        ),
        Precondition(
            '{object} is not in the hand', Code.ALREADY_HOLDING, in_hand_already, unmet=in_hand
        ),
        Precondition(
            'the hand is empty',
            Code.ALREADY_HOLDING,
            f'{{object}} cannot be {done} because {{held}} is in the hand; place that first.',
            unmet=full,
        ),
    )


def uncovered(done: str) -> Precondition:
    return Precondition(
        'nothing is on {object}',
        Code.COVERED,
        f'{{object}} cannot be {done} because {{above}} {{stand}} on it.',
        unmet=covered,
    )


IN_REACH = Precondition(
    'the arm reaches it',
    Code.OUT_OF_WORKSPACE,
    '{target} is out of the workspace of the robot.',
    Judge.ARM,
    far,
)
FREE_WAY = Precondition('the arm finds a free way', Code.NO_PATH, judge=Judge.ARM)
FINGER_ROOM = Precondition(
    'the fingers have room beside it', Code.NO_CLEARANCE, judge=Judge.GEOMETRY
)
