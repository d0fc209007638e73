"""Scene and plan as markers, for rviz."""

from __future__ import annotations

from collections.abc import Iterator

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Vector3
from geometry_msgs.msg import Pose as PoseMsg
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from bbllm.core.types import Kind, Plan, Scene, SceneObject
from bbllm.nodes.convert import header, pose_to_msg, vector_to_msg

COLORS: dict[str, tuple[float, float, float]] = {
    'red': (0.85, 0.15, 0.15),
    'green': (0.15, 0.65, 0.25),
    'blue': (0.15, 0.35, 0.85),
    'yellow': (0.95, 0.80, 0.15),
    'orange': (0.95, 0.55, 0.10),
    'purple': (0.55, 0.25, 0.70),
    'aqua': (0.20, 0.80, 0.80),
    'white': (0.95, 0.95, 0.95),
    'black': (0.10, 0.10, 0.10),
    'burlywood': (0.87, 0.72, 0.53),
}
"""Red, green, blue from 0 to 1; what is not here is grey."""
TEXT_M = 0.025
"""Height of letters [m]."""
PLAN_AT_M = (0.3, 0.0, 0.9)
"""Where the plan hangs in the air [m]."""
FLAT_M = 0.002
"""Thickness that rviz needs to show a place [m]."""


def scene_markers(scene: Scene) -> MarkerArray:
    """Return a shape and a name for every object; those of things that are gone are removed."""
    return MarkerArray(markers=[_clear(), *_scene(scene)])


def plan_markers(plan: Plan, current: int) -> MarkerArray:
    """Return the plan as one text, with an arrow at the step that is worked on."""
    lines = [f'{">" if step.index == current else " "} {step}' for step in plan.steps]
    text = _marker('plan', 0, Marker.TEXT_VIEW_FACING)
    text.pose = PoseMsg(position=_point(PLAN_AT_M))
    text.scale = Vector3(z=TEXT_M)
    text.color = _color('white')
    text.text = '\n'.join(lines)
    return MarkerArray(markers=[_clear(), text] if lines else [_clear()])


def _scene(scene: Scene) -> Iterator[Marker]:
    for i, item in enumerate(scene.objects):
        shape = Marker.CYLINDER if item.kind is Kind.CYLINDER else Marker.CUBE
        marker = _marker('objects', i, shape)
        marker.pose = pose_to_msg(item.pose)
        marker.scale = vector_to_msg([max(size, FLAT_M) for size in item.size_m])
        marker.color = _color(item.color, 0.5 if item.kind is Kind.LOCATION else 1.0)
        yield marker
        if item.kind is not Kind.FIXTURE:
            yield _name(item, i)


def _name(item: SceneObject, i: int) -> Marker:
    x, y, z = item.pose.position_m
    text = _marker('names', i, Marker.TEXT_VIEW_FACING)
    text.pose = PoseMsg(position=_point((x, y, z + item.size_m[2] / 2 + TEXT_M)))
    text.scale = Vector3(z=TEXT_M)
    text.color = _color('white')
    text.text = item.name
    return text


def _marker(group: str, number: int, kind: int) -> Marker:
    # A stamp of zero: whatever the time, rviz shows it with the newest transform.
    return Marker(header=header(0.0), ns=group, id=number, type=kind, lifetime=Duration())


def _clear() -> Marker:
    """Remove everything that this topic showed before."""
    return Marker(header=header(0.0), action=Marker.DELETEALL)


def _color(name: str, alpha: float = 1.0) -> ColorRGBA:
    r, g, b = COLORS.get(name, (0.6, 0.6, 0.6))
    return ColorRGBA(r=r, g=g, b=b, a=alpha)


def _point(position_m: tuple[float, float, float]) -> Point:
    x, y, z = position_m
    return Point(x=x, y=y, z=z)
