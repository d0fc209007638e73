"""
Constraints in plain words: what no call and no motion may do to an object.

    touch OBJECT                neither arm, hand nor what is held may come into contact with it
    move OBJECT                 it may be neither taken nor pushed aside; things may be put on it
    place anything on OBJECT    nothing may be set down or let go on it

The words are read by this grammar, never by a model. OBJECT is a name of the scene, such as
`blue_cylinder`, or words, such as `the blue cylinder` or `any cube`, which stand for every object
whose name, or whose colour and kind, they are: rather too many than too few.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from bbllm.core.observation import lost_names, lost_text
from bbllm.core.skill_calls import NAMES_LISTED, nearest_first, plain
from bbllm.core.text import escape_line, listed
from bbllm.core.types import Kind, Scene, SceneObject, SkillCall
from bbllm.skills.catalog import find_skill, moves
from bbllm.skills.open_gripper import DROP_M
from bbllm.skills.placing import SURFACE_SNAP_M, TOUCHING_M, put_down
from bbllm.skills.segments import Motion, Rest
from bbllm.skills.shapes import bottom_z, is_solid, outline, polygon_gap, top_z
from bbllm.skills.skill import Handling
from bbllm.skills.step_words import ARTICLES

FORMS = (
    '`touch OBJECT`, `move OBJECT` or `place anything on OBJECT`, for example '
    '`touch the blue cylinder`'
)
LONGEST = 100
"""Longest constraint [characters]."""
FLAT_M = 1e-3
"""What rises less above the table has no body that could be touched [m]."""


class Ban(Enum):
    """What is forbidden, by the words of the canonical form."""

    TOUCH = 'touch'
    MOVE = 'move'
    PLACE_ON = 'place anything on'


MARGINS_M = {Ban.TOUCH: 0.01, Ban.MOVE: -0.003}
"""How far from the surface of an object everything that moves has to stay [m]. Negative: how far
inside it it may seem to be, as what is put on it, whose place is measured."""
WORDS = {
    'touch': Ban.TOUCH,
    **dict.fromkeys(('move', 'push', 'pick', 'pick up', 'lift', 'take', 'grasp'), Ban.MOVE),
    **{
        f'{put} anything {where}': Ban.PLACE_ON
        for put in ('place', 'put')
        for where in ('on', 'onto', 'in', 'into')
    },
}
_FORM = re.compile(
    rf'(?P<verb>{"|".join(sorted(WORDS, key=len, reverse=True))}) (?P<object>[\w-]+(?: [\w-]+)*)',
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Never:
    """One constraint; which objects it is about, a scene shows."""

    verb: Ban
    words: str
    """The object, as it was written."""

    def __str__(self) -> str:
        return f'never {self.verb.value} {self.words}'

    def of(self, name: str) -> str:
        """Return the constraint with the name of one object that it is about."""
        return f'never {self.verb.value} {name}'


def parse_never(text: str) -> Never:
    """Read a constraint; raises ValueError with the forms that there are."""
    found = _FORM.fullmatch(' '.join(text.split())) if len(text) <= LONGEST else None
    if found is None:
        raise ValueError(f'{escape_line(text)[:LONGEST]!r} is no constraint; write {FORMS}.')
    return Never(WORDS[found['verb'].lower()], found['object'])


def objects_of(never: Never, objects: Sequence[SceneObject]) -> tuple[SceneObject, ...]:
    """Return the objects that a constraint is about; empty where it names none that it can be."""
    return tuple(item for item in _named(never.words, objects) if _can_be(never.verb, item))


def fault_of(never: Never, objects: Sequence[SceneObject]) -> str:
    """Return why a constraint is about nothing, in a clause that ends with what would do."""
    if objects_of(never, objects):
        return ''
    if flat := [item.name for item in _named(never.words, objects)]:
        return (
            f'{listed(flat)} does not rise above the table, so that everything is beside it; '
            f'`{Ban.PLACE_ON.value} {flat[0]}` would do'
        )
    names = nearest_first(never.words, (i.name for i in objects if _can_be(never.verb, i)))
    if not names:
        return 'it names no object, and the scene has none; a scene with it would do'
    more = len(names) - NAMES_LISTED
    known = ', '.join(names[:NAMES_LISTED]) + (f' and {more} more' if more > 0 else '')
    return (
        f'it names no object of the scene, which has {known}; '
        f'`{never.verb.value} {names[0]}` would do'
    )


def unbound(nevers: Iterable[Never], scene: Scene) -> Iterator[tuple[Never, str]]:
    """Yield the constraints that cannot be kept in a scene, as their objects are not in it."""
    for never in nevers:
        if not (fault := fault_of(never, scene.objects)):
            continue
        lost = [name for name in lost_names(scene) if _is_called(never.words, name)]
        seen = (
            f'{lost_text(scene, lost[0]).rstrip(".")}; a scene that shows it would do'
            if lost
            else fault
        )
        yield never, seen


def descriptions(nevers: Iterable[Never], objects: Sequence[SceneObject]) -> tuple[str, ...]:
    """Return constraints for people: `never touch the blue cylinder (blue_cylinder)`."""
    lines: list[str] = []
    for never in nevers:
        names = [item.name for item in objects_of(never, objects)]
        lines.append(str(never) if names == [never.words] else f'{never} ({", ".join(names)})')
    return tuple(lines)


def broken_by_call(call: SkillCall, nevers: Iterable[Never], scene: Scene) -> tuple[str, str]:
    """
    Return the constraint that a call would break by what it is for, and why; empty where none.

    The call is one that `check_call` has passed. The clause ends with what would do.
    """
    if not moves(call):
        return '', ''
    skill = find_skill(call.skill)
    return _broken_by(Handling() if skill is None else skill.handling(call), nevers, scene)


def broken_by_motion(motion: Motion, nevers: Iterable[Never], scene: Scene) -> tuple[str, str]:
    """Return the same of what a motion takes, whatever its skill states, and of its end."""
    nevers = tuple(nevers)
    taken = tuple(name for name in motion.moved if name != scene.held)
    constraint, why = _broken_by(Handling(takes=taken, sets_down=True), nevers, scene)
    if constraint or motion.rest is None:
        return constraint, why
    return _broken_by_rest(motion.rest, nevers, scene)


def _broken_by_rest(rest: Rest, nevers: Iterable[Never], scene: Scene) -> tuple[str, str]:
    target, moved = rest.target, scene.object(rest.name)
    ghost = put_down(moved, target)
    for never, item in _bearing(nevers, scene, moved):
        rests = item.name in (*target.supports, target.within, target.label) or (
            not is_solid(item)
            and abs(bottom_z(ghost) - top_z(item)) <= SURFACE_SNAP_M
            and polygon_gap(outline(ghost), outline(item)) < -TOUCHING_M
        )
        if rests:
            why = f'{moved.name} would come to rest on {item.name}; a place beside it would do'
            return never.of(item.name), why
    return '', ''


def _broken_by(does: Handling, nevers: Iterable[Never], scene: Scene) -> tuple[str, str]:
    for never in nevers:
        for item in objects_of(never, scene.objects):
            if why := _broken(does, never.verb, item.name, scene):
                return never.of(item.name), why
    return '', ''


def _broken(does: Handling, verb: Ban, name: str, scene: Scene) -> str:
    takes, onto = does.takes, does.onto
    if verb is not Ban.PLACE_ON:
        if name in takes:
            return f'it would {does.verb} {name}; a call that leaves {name} where it is would do'
        if scene.held == name and not does.sets_down:
            return f'{name} is in the hand; a call of place that sets it down would do'
    if verb is not Ban.MOVE and scene.held != name:
        item = scene.object(name)
        if name in onto:
            put = scene.held or takes[0] if takes else scene.held or 'what is held'
            return f'{put} would be put on {name}; a target beside it would do'
        if does.drops and scene.held is not None and _is_above(item, scene):
            return f'{scene.held} would fall on {name}; a call of place beside it would do'
    return ''


def _is_above(item: SceneObject, scene: Scene) -> bool:
    """Return whether what is held is over an object, onto which it would fall."""
    assert scene.held is not None  # the caller looked
    held = scene.object(scene.held)
    is_higher = top_z(item) < bottom_z(held) + DROP_M
    return is_higher and polygon_gap(outline(held), outline(item)) < 0.0


def _bearing(
    nevers: Iterable[Never], scene: Scene, moved: SceneObject
) -> Iterator[tuple[Never, SceneObject]]:
    for never in nevers:
        if never.verb is not Ban.MOVE:
            for item in objects_of(never, scene.objects):
                if item is not moved:
                    yield never, item


def _can_be(verb: Ban, item: SceneObject) -> bool:
    if item.kind is Kind.HAND:
        return False
    return verb is Ban.PLACE_ON or (is_solid(item) and top_z(item) > FLAT_M)


def _named(words: str, objects: Sequence[SceneObject]) -> list[SceneObject]:
    exact = [item for item in objects if item.name == words]
    return exact or [item for item in objects if _fits(words, item)]


def _fits(words: str, item: SceneObject) -> bool:
    if _is_called(words, item.name):
        return True
    if item.kind in (Kind.OTHER, Kind.HAND):
        return False
    color = f'{plain(item.color)}_' if item.color else ''
    noun = item.kind.value
    return _noun(words) in {c + n for c in ('', color) for n in (noun, f'{noun}s')}


def _is_called(words: str, name: str) -> bool:
    """Return whether words are a name, with or without the number of one of several."""
    called = plain(name)
    return _noun(words) in (called, re.sub(r'_\d+$', '', called))


def _noun(words: str) -> str:
    first, _, rest = words.partition(' ')
    return plain(rest if rest and first.lower() in ARTICLES else words)
