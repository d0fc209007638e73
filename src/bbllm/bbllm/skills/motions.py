"""
From a call and a scene to motions of the tool, or to the reason why nothing should move.

Pure geometry: which grips would do, how high to hover, what to check afterwards. Which of the
grips the arm can reach, and by which way, is for `arm.executor` to find out.

Conventions: a pose given as target of `place` is where the centre of the thing shall be; it
is set on the surface under that pose when its underside is within 25 mm of it, so that
`0.5 0.1 0` and `0.5 0.1 0.02` both put a cube of 4 cm on the table. Without a yaw, a thing is
aligned with what it is set on: the location, the object below, else the axes of the table. A
pose with a quaternion is where the TCP shall be, for `place` when it lets go (pose_targets).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bbllm.core.calls import looks_like_pose
from bbllm.core.types import MOVABLE, Code, Scene, SceneObject, SkillCall
from bbllm.skills.containers import container_place, is_container
from bbllm.skills.grasps import (
    MAX_WIDTH_M,
    GraspParams,
    Grip,
    Hand,
    NoRoom,
    grip_widths,
    grips_for,
)
from bbllm.skills.placing import place_grips, place_target
from bbllm.skills.pose_targets import PlaceTarget
from bbllm.skills.reach_targets import reach_target
from bbllm.skills.rejection import Rejection, listed

WIDEST_GRASP_M = 0.076
"""Widest thing that fits with a little room on both sides [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MotionParams:
    """How far and how hard."""

    hover_m: float = 0.08
    """Height above a grip from where the tool comes straight down [m]."""
    place_gap_m: float = 0.0005
    """How far above the surface a thing is let go [m]."""
    force_n: float = 40.0
    """Grasp force of both fingers together [N]."""
    width_window_m: float = 0.005
    """How much a grasp may end off the expected width [m]."""
    grasp: GraspParams = field(default_factory=GraspParams)


@dataclass(frozen=True, slots=True)
class MoveToBase:
    """Move all joints back to the ready posture."""


@dataclass(frozen=True, slots=True)
class MoveAbove:
    """Choose one of the grips and move over it; later motions use the chosen one."""

    grips: tuple[Grip, ...]
    """In order of liking."""
    hover_m: float
    """Height above the grip [m]."""
    target: str
    """What people call the place: the name of an object or location, or the pose."""
    touching: tuple[str, ...] = ()
    """Names of what the fingers or the held thing may touch on the way down."""


@dataclass(frozen=True, slots=True)
class OpenTo:
    """Open the fingers to a width."""

    width_m: float | None = None
    """None: as wide as the chosen grip says [m]."""


@dataclass(frozen=True, slots=True)
class Descend:
    """Go straight down from above the chosen grip to it."""


@dataclass(frozen=True, slots=True)
class LiftOff:
    """Rise a little at first, to feel whether a thing comes along."""

    name: str


@dataclass(frozen=True, slots=True)
class Rise:
    """Go straight back up."""


@dataclass(frozen=True, slots=True)
class CloseOn:
    """Grip with a force."""

    name: str
    width_m: float
    """Width of the thing, the narrowest way it can lie between the fingers [m]."""
    widest_m: float
    """Its width the widest way [m]."""


@dataclass(frozen=True, slots=True)
class Close:
    """Close the fingers on whatever is there."""


@dataclass(frozen=True, slots=True)
class ExpectHeld:
    """Look whether a thing is in the hand."""

    name: str


@dataclass(frozen=True, slots=True)
class ExpectAt:
    """Look whether a thing came to rest where it should."""

    name: str
    target: PlaceTarget


@dataclass(frozen=True, slots=True)
class Pause:
    """Let time pass."""

    duration_s: float


Motion = (
    MoveToBase
    | MoveAbove
    | OpenTo
    | Descend
    | LiftOff
    | Rise
    | CloseOn
    | Close
    | ExpectHeld
    | ExpectAt
    | Pause
)
Motions = tuple[Motion, ...]


def plan_motions(
    call: SkillCall, scene: Scene, hand: Hand, params: MotionParams | None = None
) -> Motions | Rejection:
    """
    Return the motions of a call, or why it cannot be tried.

    Args:
        call: A call that `check_call` has passed.
        scene: What is there.
        hand: Where the TCP is and how far the fingers are open.
        params: How far and how hard.
    """
    params = params or MotionParams()
    if call.skill == 'pick':
        return _pick(scene.object(call.args[0]), scene, params)
    if call.skill == 'place':
        return _place(call.args[0], scene, hand, params)
    if call.skill == 'reach':
        return _reach(call.args[0], scene, hand, params)
    if call.skill == 'return_to_base':
        return (MoveToBase(),)
    if call.skill == 'wait':
        return (Pause(float(call.args[0])),)
    if call.skill == 'open_gripper':
        return (OpenTo(MAX_WIDTH_M),)
    if call.skill == 'close_gripper':
        return (Close(),)
    return Rejection(Code.UNKNOWN_SKILL, f'The arm has no skill named {call.skill!r}.')


def _pick(item: SceneObject, scene: Scene, params: MotionParams) -> Motions | Rejection:
    name, widths = item.name, grip_widths(item)
    rejection = _unpickable(item, widths, scene)
    if rejection is not None:
        return rejection
    others = [other for other in scene.objects if other.name != name]
    grips = grips_for(item, others, params.grasp)
    if isinstance(grips, NoRoom):
        leave = 'leaves' if len(grips.neighbours) == 1 else 'leave'
        return Rejection(
            Code.NO_CLEARANCE,
            f'{name} cannot be picked because {listed(grips.neighbours)} {leave} no room for '
            'the fingers.',
        )
    return (
        MoveAbove(grips, params.hover_m, name, (name,)),
        OpenTo(),
        Descend(),
        CloseOn(name, min(widths), max(width for width in widths if width <= MAX_WIDTH_M)),
        LiftOff(name),
        Rise(),
        ExpectHeld(name),
    )


def _unpickable(item: SceneObject, widths: Sequence[float], scene: Scene) -> Rejection | None:
    """Return why a thing cannot be picked however much room there is around it, if so."""
    name = item.name
    if item.kind not in MOVABLE:
        return Rejection(
            Code.NOT_GRASPABLE, f'{name} is a {item.kind.value}, and that cannot be picked.'
        )
    if scene.held == name:
        return Rejection(Code.ALREADY_HOLDING, f'{name} is in the hand already.')
    if scene.held is not None:
        return Rejection(
            Code.ALREADY_HOLDING,
            f'{name} cannot be picked because {scene.held} is in the hand; place that first.',
        )
    if not widths:
        return Rejection(
            Code.NOT_GRASPABLE, f'{name} stands on an edge, and cannot be gripped from above.'
        )
    if min(widths) > WIDEST_GRASP_M:
        return Rejection(
            Code.NOT_GRASPABLE,
            f'{name} is {min(widths) * 100:.1f} cm wide, but the hand grips at most '
            f'{WIDEST_GRASP_M * 100:.1f} cm.',
        )
    on_top = [
        fact.subject for fact in scene.facts if fact.predicate == 'on' and fact.object == name
    ]
    if on_top:
        stands = 'stands' if len(on_top) == 1 else 'stand'
        return Rejection(
            Code.COVERED,
            f'{name} cannot be picked because {listed(on_top)} {stands} on it.',
        )
    return None


def _place(arg: str, scene: Scene, hand: Hand, params: MotionParams) -> Motions | Rejection:
    if scene.held is None:
        return Rejection(
            Code.NOT_HOLDING,
            'nothing is in the hand, so nothing can be placed; pick an object first.',
        )
    held = scene.object(scene.held)
    if not looks_like_pose(arg) and is_container(scene.object(arg)):
        return _place_in(scene.object(arg), held, scene, hand, params)
    target = place_target(arg, held, scene, hand)
    if isinstance(target, Rejection):
        return target
    grips = place_grips(held, target, scene, hand, params.grasp, params.place_gap_m)
    if isinstance(grips, NoRoom):
        leave = 'leaves' if len(grips.neighbours) == 1 else 'leave'
        return Rejection(
            Code.NO_CLEARANCE,
            f'{held.name} cannot be placed at {target.label} because '
            f'{listed(grips.neighbours)} {leave} no room for the fingers.',
        )
    return (
        MoveAbove(grips, params.hover_m, target.label, (held.name, *target.supports)),
        Descend(),
        OpenTo(),
        Rise(),
        ExpectAt(held.name, target),
    )


def _place_in(
    container: SceneObject, held: SceneObject, scene: Scene, hand: Hand, params: MotionParams
) -> Motions | Rejection:
    found = container_place(container, scene, hand, params.grasp, params.place_gap_m)
    if isinstance(found, Rejection):
        return found
    target, grips = found
    return (
        MoveAbove(grips, params.hover_m, target.label, (held.name, *target.supports)),
        Descend(),
        OpenTo(),
        Rise(),
        ExpectAt(held.name, target),
    )


def _reach(arg: str, scene: Scene, hand: Hand, params: MotionParams) -> Motions | Rejection:
    target = reach_target(arg, scene, hand, params.hover_m)
    if isinstance(target, Rejection):
        return target
    return (MoveAbove(target.grips, 0.0, target.label),)
