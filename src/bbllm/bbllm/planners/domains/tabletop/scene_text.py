"""The text of a scene on a table: a header on frame and kinds, a row per object, the facts."""

import math
from collections import Counter
from collections.abc import Collection, Iterable

from bbllm.core.types import MOVABLE, Fact, Kind, Scene, SceneObject
from bbllm.skills.containers import RIM_M

LEFT_OUT = frozenset(
    {
        # A mark in the row of the object.
        *('reachable', 'unreachable', 'out_of_reach'),
        # These only repeat the positions, once for each pair of objects.
        *('left_of', 'right_of', 'in_front_of', 'behind', 'near'),
        # The same as `on`, the other way round.
        'occupied_by',
    }
)
"""Predicates that no prompt contains as facts."""
OUT_OF_REACH = 'out of reach'
"""Ends the row of what the arm cannot come down on."""
KINDS = {
    Kind.LOCATION: 'A location is a marked spot on the table, empty unless a line shows an object '
    'on it.',
    Kind.CONTAINER: 'A container is to put objects in or on, within its room, an oval along its '
    'own x and y [m]; it cannot be picked.',
    Kind.FIXTURE: 'A fixture is furniture.',
    Kind.OTHER: 'What is neither a cube nor a cylinder, and can be picked, is of the kind other.',
}
"""Explanations of the kinds of objects that do not explain themselves."""
UPRIGHT = 0.95
"""Least vertical part of the axis of what stands: it leans by 18 degrees at most."""


def table_environment(scene: Scene, *, reach: bool) -> str:
    """
    Return the text of a sensed scene; lengths are in metres and in the frame of the arm's base.

    `reach` marks objects and locations with the fact `reachable no`.
    """
    far = {f.subject for f in scene.facts if (f.predicate, f.object) == ('reachable', 'no')}
    every = set(filter(None, map(_size, scene.objects)))
    # Furniture has a size of its own; it is not what others are compared with.
    sizes = Counter(_size(item) for item in scene.objects if item.kind is not Kind.FIXTURE)
    usual = max(every, key=lambda size: (sizes[size], size), default='')
    if len(every) > 1 and sizes[usual] < 2:  # every size is another one
        usual = ''
    sized = f', size [m]{f" if not {usual}" if usual else ""}' if every else ''
    header = (
        'A row for each object: name, kind, colour, x y z of its centre [m], yaw [deg] if not 0'
        f'{sized}. Seen from the base of the arm, x points away (up in a letter or figure), y '
        'left, z up from the table top at z = 0. What no line shows elsewhere is on the table.'
    )
    there = {item.kind for item in scene.objects}
    kinds = [text for kind, text in KINDS.items() if kind in there]
    rows = [_row(item, usual, far if reach else ()) for item in scene.objects]
    return '\n'.join([header, *kinds, *rows, *(str(f) for f in scene.facts if _is_listed(f))])


def _is_listed(fact: Fact) -> bool:
    # An object is clear, and on the table, where no line shows another on it or it elsewhere.
    usual = (fact.predicate, fact.object) in (('is', 'clear'), ('on', 'table'))
    return fact.predicate not in LEFT_OUT and not usual


def _size(item: SceneObject) -> str:
    if item.kind is Kind.LOCATION or not any(item.size_m):
        return ''
    return _lengths(item.size_m)


def _lengths(values: Iterable[float]) -> str:
    return ' x '.join(f'{max(0.0, value):.3g}' for value in values)


def _row(item: SceneObject, usual: str, far: Collection[str]) -> str:
    words = [item.name, item.kind.value]
    if item.color:
        words.append(item.color)
    words += [f'{value:.3f}' for value in item.pose.position_m]
    if turn := _turn(item):
        words.append(turn)
    if (size := _size(item)) and size != usual:
        words.append(f'size {size}')
    if item.kind is Kind.CONTAINER:
        words.append(f'room {_lengths(size - 2 * RIM_M for size in item.size_m[:2])}')
    if item.name in far:
        words.append(OUT_OF_REACH)
    return ' '.join(words)


def _turn(item: SceneObject) -> str:
    """
    Return `yaw N` in degrees, or `tilted` for what leans or lies; empty where the yaw is 0.

    The yaw is that of the nearest pose that looks alike: within 45 degrees for a square outline,
    within 90 for others. Any face of a cube may be the top, and a round outline has no yaw.
    """
    if item.kind not in MOVABLE | {Kind.CONTAINER}:
        return ''
    x, y, z, w = item.pose.quat_xyzw
    axes = (
        (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
        (2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
        (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)),
    )
    up = 2 if item.kind is not Kind.CUBE else max(range(3), key=lambda i: abs(axes[i][2]))
    if abs(axes[up][2]) < UPRIGHT:
        return 'tilted'
    if item.kind is Kind.CYLINDER:
        return ''
    forward, left, _ = axes[up - 2]
    alike = 90 if math.isclose(item.size_m[0], item.size_m[1], rel_tol=0.01) else 180
    yaw = math.degrees(math.atan2(left, forward))
    turned = round(yaw - alike * round(yaw / alike))
    return f'yaw {turned}' if turned else ''
