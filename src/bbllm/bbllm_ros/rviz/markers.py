"""Scene and plan as markers, for rviz."""

from collections.abc import Iterator
from dataclasses import dataclass

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Vector3
from geometry_msgs.msg import Pose as PoseMsg
from std_msgs.msg import ColorRGBA
from visualization_msgs import msg as msgs

from bbllm.core.observation import LAST_SEEN_AT, UNSEEN_FOR, lost_names
from bbllm.core.text import escape_hidden, escape_line
from bbllm.core.types import Kind, Plan, Pose, Scene, SceneObject
from bbllm.scene.object_models import ObjectPart, model_like
from bbllm.scene.transforms import compose
from bbllm.skills.shapes import Vector
from bbllm_ros.convert.records import header, pose_to_msg, vector_to_msg
from bbllm_viewer.viz.colors import color_of

TEXT_M = 0.025
"""Height of letters [m]."""
PLAN_AT_M = (0.3, 0.0, 0.9)
"""Where the plan is drawn [m]."""
FLAT_M = 0.002
"""Thickness that rviz needs to show a place [m]."""
BEYOND = 0.3
"""Opacity of what is out of reach."""
GHOST_M = 0.05
"""Diameter of what marks where a lost object was last seen [m]."""


def scene_markers(scene: Scene) -> msgs.MarkerArray:
    return msgs.MarkerArray(markers=[_clear(), *_scene(scene), *_lost(scene)])


def plan_markers(plan: Plan, current: int) -> msgs.MarkerArray:
    """Return the plan as one text, with an arrow at the current step."""
    lines = [
        f'{">" if step.index == current else " "} {escape_line(str(step))}' for step in plan.steps
    ]
    text = _text('plan', 0, PLAN_AT_M, '\n'.join(lines), 'white')
    return msgs.MarkerArray(markers=[_clear(), text] if lines else [_clear()])


def _scene(scene: Scene) -> Iterator[msgs.Marker]:
    number = 0
    for i, item in enumerate(scene.objects):
        beyond = scene.has(item.name, 'reachable', 'no')
        solid = 0.5 if item.kind is Kind.LOCATION else 1.0
        alpha = min(solid, BEYOND) if beyond else solid
        for part in marker_shapes(item):
            marker = _marker('objects', number, part.shape)
            marker.pose = pose_to_msg(part.pose)
            marker.scale = vector_to_msg([max(size, FLAT_M) for size in part.scale_m])
            marker.color = _color(part.color, alpha)
            yield marker
            number += 1
        if item.kind is not Kind.FIXTURE:
            yield _name(item, i, beyond=beyond)


def _lost(scene: Scene) -> Iterator[msgs.Marker]:
    for i, name in enumerate(lost_names(scene)):
        stated = {fact.predicate: fact.object for fact in scene.facts if fact.subject == name}
        try:
            x, y, z = (float(number) for number in stated[LAST_SEEN_AT].split())
        except (KeyError, ValueError):
            continue  # nobody knows where: the status names it
        marker = _marker('lost', i, msgs.Marker.SPHERE)
        marker.pose = PoseMsg(position=_point((x, y, z)))
        marker.scale = Vector3(x=GHOST_M, y=GHOST_M, z=GHOST_M)
        marker.color = _color('red', BEYOND)
        yield marker
        since = f'lost {stated[UNSEEN_FOR]} ago' if UNSEEN_FOR in stated else 'lost'
        yield _text('lost names', i, (x, y, z + GHOST_M), f'{name}\n({since})', 'red')


def _name(item: SceneObject, i: int, *, beyond: bool) -> msgs.Marker:
    x, y, z = item.pose.position_m
    # rviz centres a text: a line more grows half of its height down into the object.
    at_m = (x, y, z + item.size_m[2] / 2 + TEXT_M * (1.5 if beyond else 1.0))
    return _text(
        'names', i, at_m, f'{item.name}\n(out of reach)' if beyond else item.name, 'white'
    )


def _text(
    group: str, number: int, at_m: tuple[float, float, float], text: str, color: str
) -> msgs.Marker:
    marker = _marker(group, number, msgs.Marker.TEXT_VIEW_FACING)
    marker.pose = PoseMsg(position=_point(at_m))
    marker.scale = Vector3(z=TEXT_M)
    marker.color = _color(color)
    marker.text = escape_hidden(text)
    return marker


def _marker(group: str, number: int, kind: int) -> msgs.Marker:
    # A stamp of zero: whatever the time, rviz shows it with the newest transform.
    return msgs.Marker(header=header(0.0), ns=group, id=number, type=kind, lifetime=Duration())


def _clear() -> msgs.Marker:
    return msgs.Marker(header=header(0.0), action=msgs.Marker.DELETEALL)


def _color(name: str, alpha: float = 1.0) -> ColorRGBA:
    r, g, b = (int(color_of(name)[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return ColorRGBA(r=r, g=g, b=b, a=alpha)


def _point(position_m: tuple[float, float, float]) -> Point:
    x, y, z = position_m
    return Point(x=x, y=y, z=z)


@dataclass(frozen=True, slots=True)
class MarkerShape:
    """One shape as a Marker has it."""

    shape: int
    pose: Pose
    scale_m: Vector
    color: str


def marker_shapes(item: SceneObject) -> list[MarkerShape]:
    """
    Return the shapes of an object; at least one.

    Those of `scene.object_models` are recognized by their size. Other containers and objects are
    drawn round if they are as long as wide, else as a box.
    """
    good = model_like(item)
    if good is not None:
        return [shape for part in good.parts for shape in _marker_shapes_of_part(part, item)]
    round_ = item.kind is Kind.CYLINDER or (
        item.kind in (Kind.CONTAINER, Kind.OTHER) and item.size_m[0] == item.size_m[1]
    )
    shape = msgs.Marker.CYLINDER if round_ else msgs.Marker.CUBE
    return [MarkerShape(shape, item.pose, item.size_m, item.color)]


def _marker_shapes_of_part(part: ObjectPart, item: SceneObject) -> Iterator[MarkerShape]:
    pose = compose(item.pose, Pose(position_m=part.at_m, quat_xyzw=part.quat_xyzw))
    color = part.color or item.color
    a, b, c = (2 * half for half in part.half_m)
    if part.shape == 'box':
        yield MarkerShape(msgs.Marker.CUBE, pose, (a, b, c), color)
        return
    if part.shape == 'ellipsoid':
        yield MarkerShape(msgs.Marker.SPHERE, pose, (a, b, c), color)
        return
    yield MarkerShape(msgs.Marker.CYLINDER, pose, (a, a, b), color)
    if part.shape == 'capsule' and not part.painted:  # painted ones overlap, end to end
        for end in (-b / 2, b / 2):
            at = compose(pose, Pose(position_m=(0.0, 0.0, end)))
            yield MarkerShape(msgs.Marker.SPHERE, at, (a, a, a), color)
