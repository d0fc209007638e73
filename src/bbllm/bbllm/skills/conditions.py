"""
What each skill of the arm needs and what it changes, as one table.

A precondition is judged by what the scene states of objects and hand (`Judge.SCENE`), by outlines
and the room for the fingers (`Judge.GEOMETRY`), or by the ways of the arm (`Judge.ARM`). Those of
the first kind are judged here, in the order of the table, and their refusals are written here
only: `skills.motions` begins with `refusal`, and so do tables without a simulator. Sentences of
the other two contain measures, so that they are made where these are computed.

Effects are facts to remove and to add. `{object}` and the like stand for names, `*` for any.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import product

from bbllm.core.text import listed
from bbllm.core.types import MOVABLE, Code, Fact, Kind, Scene, SceneObject, Skill, SkillCall
from bbllm.skills.catalog import GRAB_AND_PUTIN, SKILLS
from bbllm.skills.containers import is_container, is_deep, is_upright
from bbllm.skills.grasps import WIDEST_GRASP_M, grip_widths
from bbllm.skills.placing import PlaceTarget
from bbllm.skills.rejection import Rejection
from bbllm.skills.shapes import is_round, vertical_axis

LOCATION_RADIUS_M = 0.02
"""An object is on a location when its centre is this near to it [m]."""
Words = Mapping[str, str]
"""What fills the braces of a sentence."""
Names = Mapping[str, Sequence[str]]
"""The names that a word in braces, such as `{held}`, stands for in effects."""


class Judge(Enum):
    """What a precondition is judged by."""

    SCENE = 'scene'
    GEOMETRY = 'geometry'
    ARM = 'arm'


@dataclass(frozen=True, slots=True)
class Precondition:
    """One condition that has to be met before a skill is tried."""

    means: str
    """What has to be so."""
    code: Code
    sentence: str = ''
    """Of the refusal, with words in braces; empty where it is made with the measures."""
    judge: Judge = Judge.SCENE
    unmet: Callable[[SkillCall, Scene], Words | None] | None = None
    """Returns what fills the sentence where it is not so, None where it is; of those that are
    judged by the scene alone."""

    def refusal(self, words: Words) -> Rejection:
        return Rejection(self.code, self.sentence.format_map(words))


@dataclass(frozen=True, slots=True)
class Row:
    """What a skill needs and changes."""

    skill: Skill
    needs: tuple[Precondition, ...] = ()
    """In the order in which they are judged."""
    removes: tuple[Fact, ...] = ()
    adds: tuple[Fact, ...] = ()
    halves: tuple[SkillCall, ...] = ()
    """The calls that it consists of; their needs and effects come in addition."""


# --- what the scene states ---------------------------------------------------------------------


def _not_movable(call: SkillCall, scene: Scene) -> Words | None:
    kind = scene.object(call.args[0]).kind
    return None if kind in MOVABLE else {'object': call.args[0], 'kind': kind.value}


def _in_hand(call: SkillCall, scene: Scene) -> Words | None:
    name = call.args[0]
    return {'object': name, 'target': name, 'held': name} if scene.held == name else None


def _full(call: SkillCall, scene: Scene) -> Words | None:
    return None if scene.held is None else {'object': call.args[0], 'held': scene.held}


def _on_edge(call: SkillCall, scene: Scene) -> Words | None:
    return None if grip_widths(scene.object(call.args[0])) else {'object': call.args[0]}


def _too_wide(call: SkillCall, scene: Scene) -> Words | None:
    narrowest_m = min(grip_widths(scene.object(call.args[0])))
    if narrowest_m <= WIDEST_GRASP_M:
        return None
    return {
        'object': call.args[0],
        'width': f'{narrowest_m * 100:.1f}',
        'most': f'{WIDEST_GRASP_M * 100:.1f}',
    }


def _covered(call: SkillCall, scene: Scene) -> Words | None:
    name = call.args[0]
    above = [fact.subject for fact in scene.facts if (fact.predicate, fact.object) == ('on', name)]
    if not above:
        return None
    return {'object': name, 'above': listed(above), 'stand': 'stand' if above[1:] else 'stands'}


def _empty(call: SkillCall, scene: Scene) -> Words | None:
    return {} if scene.held is None else None


def _named(call: SkillCall, scene: Scene) -> SceneObject | None:
    """Return the target of a call, None where that is a pose."""
    return scene.object(call.args[0]) if call.args[0] in scene.names else None


def _tilted(call: SkillCall, scene: Scene) -> Words | None:
    target = _named(call, scene)
    if target is None or not is_container(target) or is_upright(target):
        return None
    return {'target': target.name, 'held': scene.held or ''}


def _is_hand(call: SkillCall, scene: Scene) -> Words | None:
    target = _named(call, scene)
    is_hand = target is not None and target.kind is Kind.HAND
    return {'held': scene.held or ''} if is_hand else None


def _not_level(call: SkillCall, scene: Scene) -> Words | None:
    target = _named(call, scene)
    if target is None or target.kind not in MOVABLE:
        return None
    lies = target.kind is Kind.CYLINDER and not is_round(target)
    is_level = vertical_axis(target) is not None and not lies
    return None if is_level else {'target': target.name, 'held': scene.held or ''}


def _into_itself(call: SkillCall, scene: Scene) -> Words | None:
    return {'obj1': call.args[0]} if call.args[0] == call.args[1] else None


def _far(call: SkillCall, scene: Scene) -> Words | None:
    """The fact is of a hand that comes down on it: on top of an object it may be otherwise."""
    name = call.args[0]
    if not scene.has(name, 'reachable', 'no'):
        return None
    is_above = call.skill == 'place' and scene.object(name).kind in MOVABLE
    return None if is_above else {'target': name}


# --- the table ---------------------------------------------------------------------------------

IN_REACH = Precondition(
    'the arm reaches it',
    Code.OUT_OF_WORKSPACE,
    '{target} is out of the workspace of the robot.',
    Judge.ARM,
    _far,
)
HOLDING = Precondition(
    'something is in the hand',
    Code.NOT_HOLDING,
    'nothing is in the hand, so nothing can be placed; pick an object first.',
    unmet=_empty,
)
_FREE_WAY = Precondition('the arm finds a free way', Code.NO_PATH, judge=Judge.ARM)

_PICK = Row(
    SKILLS[0],
    needs=(
        Precondition(
            '{object} is a cube, a cylinder or another object that is loose',
            Code.NOT_GRASPABLE,
            '{object} is a {kind}, and that cannot be picked.',
            unmet=_not_movable,
        ),
        Precondition(
            '{object} is not in the hand',
            Code.ALREADY_HOLDING,
            '{object} is in the hand already.',
            unmet=_in_hand,
        ),
        Precondition(
            'the hand is empty',
            Code.ALREADY_HOLDING,
            '{object} cannot be picked because {held} is in the hand; place that first.',
            unmet=_full,
        ),
        Precondition(
            '{object} does not stand on an edge',
            Code.NOT_GRASPABLE,
            '{object} stands on an edge, and cannot be gripped from above.',
            unmet=_on_edge,
        ),
        Precondition(
            f'{{object}} is {WIDEST_GRASP_M * 100:.1f} cm wide at most',
            Code.NOT_GRASPABLE,
            '{object} is {width} cm wide, but the hand grips at most {most} cm.',
            unmet=_too_wide,
        ),
        Precondition(
            'nothing is on {object}',
            Code.COVERED,
            '{object} cannot be picked because {above} {stand} on it.',
            unmet=_covered,
        ),
        Precondition('the fingers have room beside it', Code.NO_CLEARANCE, judge=Judge.GEOMETRY),
        IN_REACH,
        _FREE_WAY,
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
)
_PLACE = Row(
    SKILLS[1],
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
            unmet=_in_hand,
        ),
        Precondition(
            '{target} is not the hand',
            Code.BAD_ARGUMENTS,
            '{held} is in the hand already.',
            unmet=_is_hand,
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
        Precondition('the fingers have room beside it', Code.NO_CLEARANCE, judge=Judge.GEOMETRY),
        IN_REACH,
        _FREE_WAY,
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
)
_REACH = Row(
    SKILLS[2],
    needs=(
        Precondition(
            '{target} is not in the hand',
            Code.ALREADY_HOLDING,
            '{target} is in the hand already, so the hand is at it.',
            unmet=_in_hand,
        ),
        Precondition(
            'the hand is in nothing there, if {target} is a pose',
            Code.NO_PATH,
            judge=Judge.GEOMETRY,
        ),
        replace(IN_REACH, unmet=None),  # the fact is of a hand that comes down
        _FREE_WAY,
    ),
)
_OPEN = Row(
    SKILLS[5],
    removes=(Fact('{held}', 'held_by', 'hand'), Fact('hand', 'is', 'empty')),
    adds=(Fact('hand', 'is', 'empty'), Fact('{held}', 'is', 'clear', estimated=True)),
)
_CLOSE = Row(
    SKILLS[6],
    removes=(Fact('{empty hand}', 'is', 'empty'),),
    adds=(Fact('{empty hand}', 'is', 'empty', estimated=True),),
)
_GRAB_AND_PUTIN = Row(
    GRAB_AND_PUTIN,
    needs=(
        Precondition(
            '{obj1} is not {obj2}',
            Code.BAD_ARGUMENTS,
            '{obj1} cannot be put into itself; name something to put it in or on.',
            unmet=_into_itself,
        ),
    ),
    halves=(SkillCall('pick', ('{obj1}',)), SkillCall('place', ('{obj2}',))),
)

TABLE: Mapping[str, Row] = {
    row.skill.name: row
    for row in (
        *(_PICK, _PLACE, _REACH),
        Row(SKILLS[3], needs=(_FREE_WAY,)),
        Row(SKILLS[4]),
        *(_OPEN, _CLOSE, _GRAB_AND_PUTIN),
    )
}
"""One row for each skill of the catalogue."""


def refusal(call: SkillCall, scene: Scene) -> Rejection | None:
    """Return the first precondition of a checked call that the scene shows to be unmet."""
    return _first(call, scene, Judge.SCENE)


def out_of_reach(call: SkillCall, scene: Scene) -> Rejection | None:
    """Return that a place is out of reach where the scene shows it."""
    return _first(call, scene, Judge.ARM)


def _first(call: SkillCall, scene: Scene, judge: Judge) -> Rejection | None:
    row = TABLE.get(call.skill)
    for need in () if row is None else row.needs:
        if need.judge is judge and need.unmet is not None:
            words = need.unmet(call, scene)
            if words is not None:
                return need.refusal(words)
    return None


def halves_of(call: SkillCall) -> tuple[SkillCall, ...]:
    """Return the calls that a call consists of; empty for most skills."""
    row = TABLE[call.skill]
    words = dict(zip((f'{{{name}}}' for name in row.skill.params), call.args, strict=True))
    return tuple(
        SkillCall(half.skill, tuple(words[arg] for arg in half.args)) for half in row.halves
    )


# --- effects -----------------------------------------------------------------------------------


def names_before(call: SkillCall, scene: Scene) -> Names:
    """Return what words of effects stand for; where an object comes to rest is not among them."""
    held = () if scene.held is None else (scene.held,)
    params = TABLE[call.skill].skill.params
    bears: dict[str, set[str]] = {i.name: set() for i in scene.objects if i.kind in MOVABLE}
    for fact in scene.facts:
        if fact.predicate == 'on' and fact.object in bears:
            bears[fact.object].add(fact.subject)
    return {
        **{f'{{{param}}}': (arg,) for param, arg in zip(params, call.args, strict=True)},
        '{held}': held,
        '{empty hand}': () if held else ('hand',),
        '{uncovered}': [
            name for name, above in bears.items() if above and above == {*call.args[:1]}
        ],
    }


def names_where(call: SkillCall, scene: Scene, target: PlaceTarget | None = None) -> Names:
    """
    Return what an object is on or in once it is placed.

    Without a target, whose place is known, what the call names.
    """
    named = [*call.args] if target is None else [*target.supports, call.args[0]]
    items = [scene.object(name) for name in dict.fromkeys(named) if name in scene.names]
    bodies = [item.name for item in items if item.kind in MOVABLE]
    around = [item.name for item in items if is_deep(item)]
    bowls = [item.name for item in items if is_container(item) and not is_deep(item)]
    marks = [item.name for item in items if item.kind is Kind.LOCATION]
    if target is not None and not marks:
        x, y, _ = target.centre_m
        marks = [
            item.name
            for item in scene.objects
            if item.kind is Kind.LOCATION
            and math.dist(item.pose.position_m[:2], (x, y)) <= LOCATION_RADIUS_M
        ]
    wide = [item.name for item in items if item.kind is Kind.FIXTURE]
    below = () if around else bowls[:1] or bodies or marks[:1] or wide[:1]
    return {
        '{below}': below,
        '{around}': around[:1],
        '{mark}': [name for name in below if name in marks],
    }


def changed(facts: Iterable[Fact], row: Row, names: Names) -> tuple[Fact, ...]:
    """Return facts with the effects of a skill."""
    gone = [pattern for each in row.removes for pattern in _bound(each, names)]
    new = [fact for each in row.adds for fact in _bound(each, names)]
    return (*(fact for fact in facts if not _is_among(fact, gone)), *new)


def _bound(pattern: Fact, names: Names) -> Iterator[Fact]:
    ends = (names.get(end, (end,)) for end in (pattern.subject, pattern.object))
    for subject, other in product(*ends):
        yield Fact(subject, pattern.predicate, other, estimated=pattern.estimated)


def _is_among(fact: Fact, patterns: Sequence[Fact]) -> bool:
    for pattern in patterns:
        if (
            pattern.subject in ('*', fact.subject)
            and pattern.predicate in ('*', fact.predicate)
            and pattern.object in ('*', fact.object)
        ):
            return True
    return False
