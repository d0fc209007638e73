"""
Whether a scene is what a goal requires, by geometry on a table and by facts in a household.

Tolerances are data, most of them in widths of the objects. Rest, contact and locations are those
of `relations`, so that facts of a scene and goals agree. An object is on a side if its middle is
half its width beyond the middle line, or it would stand on the line. It is beside another if the
larger of the two would not fit between them.
"""

import cmath
import itertools
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

from bbllm.core.errors import NoGoalError
from bbllm.core.goals import (
    PLUS_SIZE,
    WORDS,
    ConditionKind,
    GoalCondition,
    GoalFinding,
    Selection,
    TaskGoal,
)
from bbllm.core.text import listed
from bbllm.core.types import MOVABLE, Fact, Kind, Scene, SceneObject
from bbllm.files.yaml_files import FileRecord
from bbllm.scene.relations import REST_GAP_M, stands_on
from bbllm.skills.containers import lies_in
from bbllm.skills.effects import LOCATION_RADIUS_M
from bbllm.skills.shapes import bottom_z, contains, outline, polygon_gap, rotation_of, top_z

K = ConditionKind
MOST_SUBSETS = 20_000
"""So many ways to choose the objects of a shape are tried."""
WAYS: Mapping[str, complex] = {'left': 1j, 'right': -1j, 'near': -1, 'far': 1}
TOWARDS: Mapping[ConditionKind, complex] = {
    **{K.LEFT_OF: 1j, K.RIGHT_OF: -1j},
    **{K.NEARER: -1, K.FARTHER: 1},
}
"""Directions: 1 is away from the arm, 1j to its left."""
UNSEEN = 'is not in sight'
Fault = tuple[int, float, str]
"""How bad a choice of objects for a shape is: which check fails, by how much, and in words."""
GOOD: Fault = (0, 0.0, '')
Relate = Callable[[SceneObject, SceneObject], str]
"""Returns why an object is not so related to another, '' if it is."""
SLACK_M = 1e-6
"""Limits include what is on them, as far as floats go [m]."""


class TableTolerances(FileRecord):
    """
    What counts where a condition has no figures; widths are those of the objects themselves.

    A suite file may state others. Its goals in `tabletop` have the same for cubes of 4 cm.
    """

    level_m: float = REST_GAP_M
    """How far undersides may be from what they are level with [m]."""
    location_m: float = LOCATION_RADIUS_M
    """How far a middle may be from that of a location it is on [m]."""
    middle_m: float | None = None
    """How far a middle may be from that of an object it is on [m]; None: any overlap will do."""
    rim_m: float = 0.0
    """How far inside the outer edge of a container a middle must be to be in it [m]."""
    still_m: float | None = None
    """How far what has not moved may be from where it was [m]; None: by `offset`."""
    tilt_deg: float | None = None
    """How far what stands on something may lean, a cube off a face of its own, a cylinder off its
    axis [deg]; None: as far as it likes."""
    offset: float = 0.5
    """How far a middle must be beyond a line or from where it was, and may be from a place or a
    straight line [widths]."""
    beside: float = 1.0
    """How far apart two objects beside each other may be [widths of the larger]."""
    gap: float = 2.5
    """Largest distance of neighbours in a line or a plus sign, between middles [widths]."""
    residual: float = 0.3
    """How far an object may be from its place in a plus sign [widths]."""
    turn_deg: float = 15.0
    """How far a plus sign may be turned against x and y [deg]."""


DEFAULTS = TableTolerances()


def check_goal(
    goal: TaskGoal, scene: Scene, start: Scene, limits: TableTolerances = DEFAULTS
) -> GoalFinding:
    """
    Return what a scene shows of a goal.

    Args:
        goal: The conditions.
        scene: The settled scene.
        start: The scene before the task, for what has moved.
        limits: What counts on a table.
    """
    check = _House(scene) if scene.is_symbolic else _Table(scene, start, limits)
    unmet: list[str] = []
    unseen = f'no condition expresses {goal.rest!r}' if goal.rest else ''
    for condition in goal.conditions:
        try:
            fault = check.fault(condition)
        except NoGoalError as error:
            unseen = unseen or str(error)
            continue
        # What is in sight can break a condition with `not`, and can meet any other.
        open_ = bool(fault) != condition.negated
        hidden = _hidden(condition, scene, check.fault) if open_ else ''
        if hidden:
            unseen = unseen or hidden
        elif fault:
            unmet.append(fault)
    return GoalFinding(tuple(unmet), unseen)


def undecided(goal: TaskGoal, start: Scene) -> str:
    """
    Return why a goal could not show that a task was done, '' if it can.

    A condition on any of several objects that one of them meets before anything has moved, such
    as a light that is off in a house of three.
    """
    for condition in goal.conditions:
        choice = len(condition.subjects) == 1 and condition.subjects[0].count < len(
            condition.subjects[0].names
        )
        if choice and not condition.negated:
            found = check_goal(TaskGoal((condition,)), start, start)
            if found.met:
                return f'`{condition}` is met before anything has moved'
    return ''


def _hidden(
    condition: GoalCondition, scene: Scene, fault_of: Callable[[GoalCondition], str]
) -> str:
    """Return that an object that could decide a condition is not in sight, '' if none could."""
    if scene.whole:
        return ''
    (chosen,) = condition.subjects  # only houses are seen in part, and they have no shapes
    gone = [name for name in chosen.names if name not in scene.names]
    places = condition.place.names if condition.place else ()
    far = [name for name in places if name not in scene.names]
    good = [n for n in chosen.names if n not in gone and not fault_of(_alone(condition, n))]
    enough = condition.negated or len(good) + len(gone) >= chosen.count
    deciding = [*(gone if enough else ()), *far]
    return f'{deciding[0]} {UNSEEN} at the end' if deciding else ''


def _chosen(condition: GoalCondition, fault_of: Callable[[str], str]) -> str:
    """Return the fault of a condition that each of some objects meets or does not."""
    selection = condition.subjects[0]
    faults = {name: fault_of(name) for name in selection.names}
    good = [name for name, fault in faults.items() if not fault]
    if condition.negated:
        return _alone(condition, good[0]).in_words if good else ''
    if len(good) >= selection.count:
        return ''
    # What is in sight and wrong comes first: it decides.
    bad = sorted(filter(None, faults.values()), key=lambda fault: fault.endswith(UNSEEN))
    if selection.count == len(selection.names):
        more = f' (and {len(bad) - 1} more)' if len(bad) > 1 else ''
        return f'{bad[0]}{more}'
    if selection.count == 1 and len(bad) <= 3:
        return '; '.join(bad)
    holds = f'only {listed(good)}' if good else 'none of them'
    return f'of {selection}, {holds} {"is" if len(good) < 2 else "are"} so: {bad[0]}'


def _alone(condition: GoalCondition, name: str) -> GoalCondition:
    """Return that one object is so, without `not`."""
    return replace(condition, subjects=(Selection((name,), 1, name),), negated=False)


def _cm(length_m: float) -> str:
    return f'{100 * length_m:.1f} cm'


def leaning(item: SceneObject, tilt_deg: float | None) -> str:
    """Return that a cube is on no face, or a cylinder not upright; '' if it stands."""
    if tilt_deg is None or item.kind not in (Kind.CUBE, Kind.CYLINDER):
        return ''
    ups = [abs(share) for share in rotation_of(item.pose)[2]]
    up = max(ups) if item.kind is Kind.CUBE else ups[2]
    if up >= math.cos(math.radians(tilt_deg)) - SLACK_M:
        return ''
    how = 'is tipped onto an edge' if item.kind is Kind.CUBE else 'has toppled'
    leans = f'{math.degrees(math.acos(min(1.0, up))):.0f} degrees'
    return f'{item.name} {how}: it leans by {leans}, {tilt_deg:g} are allowed'


def _width(item: SceneObject) -> float:
    """Return the smaller horizontal extent of an object [m]."""
    return min(item.size_m[:2])


def _point(item: SceneObject) -> complex:
    """Return where a middle is: 1 is away from the arm, 1j to its left [m]."""
    x, y, _ = item.pose.position_m
    return complex(x, y)


class _Table:
    """A settled table as conditions query it."""

    def __init__(self, scene: Scene, start: Scene, limits: TableTolerances):
        self._scene = scene
        self._items = {item.name: item for item in scene.objects}
        self._start = {item.name: item for item in start.objects}
        self._held = {fact.subject for fact in scene.facts if fact.predicate == 'held_by'}
        self._loose = [item for item in scene.objects if item.kind in MOVABLE]
        self._limits = limits

    def fault(self, condition: GoalCondition) -> str:
        """Return why a condition does not hold, as a sentence without full stop; '' if it does."""
        shapes = {K.TOWER: self._tower, K.LINE: self._line, K.PLUS: self._plus}
        if condition.kind in shapes:
            return self._shape(condition, shapes[condition.kind])
        fault = _chosen(condition, partial(self._single, condition))
        return self._with_reach(fault, condition) if fault else ''

    def _with_reach(self, fault: str, condition: GoalCondition) -> str:
        far = [
            name
            for item in condition.subjects
            for name in item.names
            if name in fault and self._scene.has(name, 'reachable', 'no')
        ]
        return f'{fault} ({listed(far)} is out of reach)' if len(far) == 1 else fault

    def _offset(self, item: SceneObject) -> float:
        return self._limits.offset * _width(item)

    def _absent(self, *names: str) -> str:
        """Return that one of some objects is in the hand or gone, '' if all lie somewhere."""
        if held := [name for name in names if name in self._held]:
            return f'{held[0]} is in the hand'
        gone = (f'{name} is no longer in the scene' for name in names if name not in self._items)
        return next(gone, '')

    # --- one object -----------------------------------------------------------------------------

    def _single(self, condition: GoalCondition, name: str) -> str:
        """Return why one object does not meet a condition, '' if it does."""
        if name not in self._items:
            return self._absent(name)
        item = self._items[name]
        if condition.kind is K.HELD:
            return '' if name in self._held else f'{name} is not in the hand'
        if condition.kind is K.SIDE:
            return self._side(item, condition.word, condition.negated)
        if condition.kind is K.MOVED:
            return self._moved(item)
        if condition.kind is K.SHIFTED:
            return self._shifted(item, condition.word)
        assert condition.place is not None  # of all other kinds, by the grammar
        if condition.kind is K.BETWEEN:
            return self._between(item, condition.place.names)
        relations: dict[ConditionKind, Relate] = {
            K.ON: self._on,
            K.IN: self._in,
            K.BESIDE: self._beside,
            **{kind: partial(self._towards, kind) for kind in TOWARDS},
            K.AT_PLACE_OF: self._at_place_of,
        }
        faults = []
        for other in condition.place.names:
            if other == name:
                continue
            # Where b is now is of no account to at_place_of, unless it is gone.
            lying = condition.kind is K.AT_PLACE_OF and other in self._items
            fault = self._absent(name) if lying else self._absent(name, other)
            fault = fault or relations[condition.kind](item, self._items[other])
            if not fault:
                return ''
            faults.append(fault)
        if len(faults) == 1:
            return faults[0]
        return f'{name} is not {condition.kind.words.format(condition.place.in_words)}'

    def _where(self, item: SceneObject) -> str:
        """Return what an object rests on, in words that follow a fault."""
        for fact in self._scene.facts:
            if fact.subject == item.name and fact.predicate in ('on', 'in'):
                return f': it is {fact.predicate} {fact.object}'
        return ''

    def _on(self, item: SceneObject, place: SceneObject) -> str:
        if leans := leaning(item, self._limits.tilt_deg):
            return leans
        gap = bottom_z(item) - top_z(place)
        level = abs(gap) <= self._limits.level_m + SLACK_M
        if place.kind is Kind.LOCATION:
            way = abs(_point(item) - _point(place))
            if way > self._limits.location_m + SLACK_M:
                limit = f'{_cm(self._limits.location_m)} count as on it'
                return f'{item.name} is {_cm(way)} from {place.name}, and {limit}'
            side = 'above' if gap > 0 else 'below'
            return '' if level else f'{item.name} is {_cm(abs(gap))} {side} {place.name}'
        if place.kind is Kind.CONTAINER:
            return '' if lies_in(item, place) else self._not('on', item, place)
        if place.kind is Kind.FIXTURE:
            over = contains(outline(place), item.pose.position_m[:2])
            return '' if over and level else self._not('on', item, place)
        return self._off(item, place) if stands_on(item, place) else self._not('on', item, place)

    def _off(self, item: SceneObject, place: SceneObject) -> str:
        """Return that the middle of an object is too far from that of one it is on, or ''."""
        way, most = abs(_point(item) - _point(place)), self._limits.middle_m
        if most is None or way <= most + SLACK_M:
            return ''
        return f'{item.name} is {_cm(way)} from the middle of {place.name}, and {_cm(most)} count'

    def _not(self, relation: str, item: SceneObject, place: SceneObject) -> str:
        return f'{item.name} is not {relation} {place.name}{self._where(item)}'

    def _in(self, item: SceneObject, place: SceneObject) -> str:
        rim_m = self._limits.rim_m
        stated = not rim_m and self._scene.has(item.name, 'in', place.name)
        inside = stated or lies_in(item, place, rim_m)
        return '' if inside else self._not('in', item, place)

    def _beside(self, item: SceneObject, place: SceneObject) -> str:
        if place.kind is not Kind.LOCATION:
            low, high = max(map(bottom_z, (item, place))), min(map(top_z, (item, place)))
            if high - low <= REST_GAP_M:
                return f'{item.name} and {place.name} do not stand at the same height'
        gap = polygon_gap(outline(item), outline(place))
        if gap < -REST_GAP_M / 2:
            return f'{item.name} is on {place.name}, not beside it'
        limit = self._limits.beside * max(_width(item), _width(place))
        if gap <= limit + SLACK_M:
            return ''
        allowed = f'at most {_cm(limit)} count as right next to it'
        return f'{item.name} is {_cm(gap)} away from {place.name}, and {allowed}'

    def _towards(self, kind: ConditionKind, item: SceneObject, place: SceneObject) -> str:
        way = TOWARDS[kind]
        offset = (_point(item) - _point(place)) / way
        along, across = offset.real, abs(offset.imag)
        clear = min(_along(item, way)) - max(_along(place, way))
        if clear >= -REST_GAP_M - SLACK_M and along >= across:
            return ''
        measured = f'{_cm(abs(along))} {"in" if along > 0 else "against"} that direction'
        words = kind.words.format(place.name)
        return f'{item.name} is not {words}: {measured}, {_cm(across)} across it'

    def _side(self, item: SceneObject, word: str, negated: bool) -> str:
        line, name = 0.0, 'the middle line'
        if word in ('near', 'far'):
            tables = [t for t in self._scene.objects if t.kind is Kind.FIXTURE]
            under = [t for t in tables if contains(outline(t), item.pose.position_m[:2])]
            if not under:
                return f'{item.name} is not over a table that would have a {word} half'
            line, name = under[0].pose.position_m[0], f'the middle of {under[0].name}'
        inside = ((_point(item) - line) / WAYS[word]).real
        needed = 0.0 if negated else self._offset(item)
        if absent := self._absent(item.name):
            return absent
        if inside > needed - SLACK_M:
            return ''
        if inside >= 0:
            return (
                f'{item.name} is only {_cm(inside)} beyond {name}, and {_cm(needed)} are needed '
                f'to be on the {word}'
            )
        return f'{item.name} is {_cm(-inside)} on the other side of {name}, not on the {word}'

    def _moved(self, item: SceneObject) -> str:
        was = self._start.get(item.name)
        way = math.inf if was is None else math.dist(item.pose.position_m, was.pose.position_m)
        still_m = self._limits.still_m
        moved = way >= self._offset(item) - SLACK_M if still_m is None else way > still_m + SLACK_M
        if moved or leaning(item, self._limits.tilt_deg):
            return ''
        return f'{item.name} is {_cm(way)} from where it was, which is the same place'

    def _shifted(self, item: SceneObject, word: str) -> str:
        was = self._start.get(item.name)
        if was is None:
            return f'{item.name} was not seen at the start'
        if absent := self._absent(item.name):
            return absent
        way = ((_point(item) - _point(was)) / WAYS[word]).real
        if way >= self._offset(item) - SLACK_M:
            return ''
        words = WORDS[K.SHIFTED][word]
        needed = f'{_cm(self._offset(item))} count as {words}'
        return f'{item.name} is {_cm(way)} {words} than at the start, and {needed}'

    def _between(self, item: SceneObject, ends: Sequence[str]) -> str:
        if absent := self._absent(item.name, *ends):
            return absent
        one, other = (self._items[name] for name in ends)
        words = f'{item.name} is not between {one.name} and {other.name}'
        heights = [bottom_z(each) for each in (item, one, other)]
        if max(heights) - min(heights) > self._limits.level_m + SLACK_M:
            return f'{words}: they do not stand at the same height'
        way = _point(other) - _point(one)
        length = max(abs(way), SLACK_M)
        at = (_point(item) - _point(one)) / (way or 1) * length
        if not SLACK_M < at.real < length - SLACK_M:
            return f'{words}: it is beyond {(one if at.real <= 0 else other).name}'
        if abs(at.imag) > self._offset(item) + SLACK_M:
            allowed = f'{_cm(self._offset(item))} are allowed'
            return f'{words}: it is {_cm(abs(at.imag))} off the line of the two, and {allowed}'
        return ''

    def _at_place_of(self, item: SceneObject, place: SceneObject) -> str:
        was = self._start.get(place.name, place)
        way, rise = abs(_point(item) - _point(was)), bottom_z(item) - bottom_z(was)
        if abs(rise) > self._limits.level_m + SLACK_M:
            side = 'higher' if rise > 0 else 'lower'
            return f'{item.name} is {_cm(abs(rise))} {side} than {place.name} was'
        if way <= self._offset(item) + SLACK_M:
            return ''
        allowed = f'{_cm(self._offset(item))} are allowed'
        return f'{item.name} is {_cm(way)} from where {place.name} was, and {allowed}'

    # --- several objects ------------------------------------------------------------------------

    def _shape(
        self, condition: GoalCondition, fault_of: Callable[[Sequence[SceneObject], bool], Fault]
    ) -> str:
        """Return the fault of a shape: of its members in order, or of the best choice of them."""
        ordered = len(condition.subjects) > 1
        names = [name for item in condition.subjects for name in item.names]
        size = len(names) if ordered else condition.subjects[0].count
        there = [self._items[n] for n in names if n in self._items and n not in self._held]
        missing = [name for name in names if name not in self._items or name in self._held]
        if len(there) < size:
            fault = self._absent(missing[0])
        else:
            best: Fault = (sys.maxsize, 0.0, '')
            for tried, members in enumerate(itertools.combinations(there, size)):
                if tried == MOST_SUBSETS:
                    raise NoGoalError(f'{condition} has too many choices to try: name fewer.')
                best = min(best, fault_of(members, ordered))
                if best == GOOD:
                    break
            fault = best[2]
        if condition.negated:
            return '' if fault else GoalCondition(condition.kind, condition.subjects).in_words
        if fault:
            fault = self._with_reach(fault, condition)
        who = listed([item.in_words for item in condition.subjects])
        return fault and f'there is no {condition.kind.words} of {who}: {fault}'

    @cached_property
    def _under(self) -> Mapping[str, Sequence[str]]:
        """What each object stands on."""
        return {
            item.name: [low.name for low in self._loose if stands_on(item, low)]
            for item in self._loose
            if item.name not in self._held
        }

    def _tower(self, members: Sequence[SceneObject], ordered: bool) -> Fault:
        names = [item.name for item in members]
        if ordered:
            for low, high in itertools.pairwise(members):
                if not stands_on(high, low):
                    return 2, 0.0, self._not('on', high, low)
        bottoms = [n for n in names if not set(names).intersection(self._under[n])]
        if len(bottoms) > 1:
            best = max(map(self._pile, names), key=len)
            why = (
                f'the highest tower of these has {len(best)} of {len(names)} objects '
                f'({", ".join(best)})'
            )
            return 2, -len(best), why
        for name in sorted(names):
            above = [n for n, lows in self._under.items() if name in lows]
            foreign = [n for n in (*above, *self._under[name]) if n not in names]
            if foreign:
                return 1, 0.0, f'{foreign[0]} is part of it too'
            if len(above) > 1:
                return 1, 0.0, f'{listed(above)} are both on {name}'
        crooked = self._crooked(members)
        return (1, 0.0, crooked) if crooked else GOOD

    def _crooked(self, members: Sequence[SceneObject]) -> str:
        """Return which object of a tower leans, or is too far from the middle below it, or ''."""
        on = {item.name: item for item in members}
        faults = (leaning(item, self._limits.tilt_deg) for item in members)
        offs = (self._off(on[n], on[low]) for n in on for low in self._under[n] if low in on)
        return next(filter(None, (*faults, *offs)), '')

    def _pile(self, name: str) -> list[str]:
        pile = [name]
        while above := [n for n, lows in self._under.items() if pile[-1] in lows]:
            pile.append(above[0])
        return pile

    def _line(self, members: Sequence[SceneObject], ordered: bool) -> Fault:
        low = min(map(bottom_z, members))
        for item in members:
            rise = bottom_z(item) - low
            if rise > self._limits.level_m + SLACK_M:
                return 4, rise, f'{item.name} is {_cm(rise)} higher than the others'
        points = {item.name: _point(item) for item in members}
        ends = max(
            itertools.combinations(points.values(), 2), key=lambda two: abs(two[1] - two[0])
        )
        way = ends[1] - ends[0]
        # From left to right, or from near to far where it runs more away from the arm.
        if (-way.imag if abs(way.imag) >= abs(way.real) else way.real) < 0:
            ends, way = (ends[1], ends[0]), -way
        if abs(way) < SLACK_M:
            return 4, 0.0, 'they are at one place'
        along = {name: (point - ends[0]) / (way / abs(way)) for name, point in points.items()}
        straight = min(map(self._offset, members))
        name, off = max(along.items(), key=lambda item: abs(item[1].imag))
        if abs(off.imag) > straight + SLACK_M:
            allowed = f'{_cm(straight)} are allowed'
            why = f'{name} is {_cm(abs(off.imag))} off the line, and {allowed}'
            return 3, abs(off.imag), why
        order = sorted(along, key=lambda n: along[n].real)
        most = self._limits.gap * max(map(_width, members))
        for one, other in itertools.pairwise(order):
            gap = (along[other] - along[one]).real
            if gap > most + SLACK_M:
                why = (
                    f'{one} and {other} are {_cm(gap)} apart, where the line has a gap from '
                    f'{_cm(most)} on'
                )
                return 2, gap, why
        if ordered and order != [item.name for item in members]:
            return 1, 0.0, f'the order is {", ".join(order)}'
        return GOOD

    def _plus(self, members: Sequence[SceneObject], ordered: bool) -> Fault:
        width = min(map(_width, members))
        least, most, near = width, self._limits.gap * width, self._limits.residual * width
        points = [_point(item) for item in members]
        middle = sum(points) / PLUS_SIZE
        centre, *arms = sorted(points, key=lambda point: abs(point - middle))
        cells = (1 + 0j, 1j, -1 + 0j, -1j)
        arms.sort(key=lambda point: cmath.phase(point - centre))
        best = min(
            (arms[i:] + arms[:i] for i in range(4)),
            key=lambda turn: abs(cmath.phase(_step(turn, cells))) if _step(turn, cells) else 9.0,
        )
        step = _step(best, cells)
        residual = max(
            abs(centre - middle),
            *(abs(point - middle - step * cell) for point, cell in zip(best, cells, strict=True)),
        )
        heights = [bottom_z(item) for item in members]
        if max(heights) - min(heights) > self._limits.level_m + SLACK_M:
            return 5, max(heights) - min(heights), 'they do not all stand at one height'
        if residual > near + SLACK_M:
            return 4, residual, f'the best one has an object {_cm(residual)} from its place'
        if not least - SLACK_M <= abs(step) <= most + SLACK_M:
            long = f'{_cm(abs(step))} long, not {_cm(least)} to {_cm(most)}'
            return 3, abs(step), f'its arms are {long}'
        # The fit alone does not bound an arm: it follows it by 9/20 of its way.
        lines = (step / abs(step) * cell for cell in cells)
        aside = max(abs(((at - centre) / way).imag) for at, way in zip(best, lines, strict=True))
        if aside > near + SLACK_M:
            why = f'{_cm(aside)} beside its line through the middle, and {_cm(near)} are allowed'
            return 3, aside, f'an arm is {why}'
        turn_deg = abs(math.degrees(cmath.phase(step)))
        if turn_deg > self._limits.turn_deg:
            return 2, turn_deg, f'it is turned by {turn_deg:.0f} degrees'
        free = {item.name for item in members} | self._held
        for other in (item for item in self._loose if item.name not in free):
            ray = (_point(other) - middle) / (step / abs(step))
            inside = max(abs(ray.real), abs(ray.imag)) < abs(step) + width / 2
            if inside or min(abs(_point(other) - point) for point in points) < abs(step) + near:
                return 1, 0.0, f'{other.name} stands {"within" if inside else "next to"} it'
        return GOOD


def _along(item: SceneObject, way: complex) -> Iterator[float]:
    """Yield how far the corners of an object are in a direction [m]."""
    for x, y in outline(item):
        yield (complex(x, y) / way).real


def _step(points: Sequence[complex], cells: Sequence[complex]) -> complex:
    """Fit the step from the middle of four arms to each, by least squares."""
    return sum(point * cell.conjugate() for point, cell in zip(points, cells, strict=True)) / 4


class _House:
    """A household as conditions query it: by its facts, which are symbols already."""

    def __init__(self, scene: Scene):
        self._scene = scene
        self._around: dict[str, list[Fact]] = {}
        for fact in scene.facts:
            if fact.predicate in ('on', 'in', 'inside', 'in_room'):
                self._around.setdefault(fact.subject, []).append(fact)

    def fault(self, condition: GoalCondition) -> str:
        """Return why a condition does not hold, as a sentence without full stop; '' if it does."""
        return _chosen(condition, partial(self._single, condition))

    def _single(self, condition: GoalCondition, name: str) -> str:
        has = self._scene.has
        if name not in self._scene.names:
            return f'{name} {UNSEEN}'
        match condition.kind:
            case K.HELD:
                return '' if has(name, 'held_by') else f'{name} is in no hand'
            case K.STATE:
                return '' if has(name, 'is', condition.word) else f'{name} is not {condition.word}'
        assert condition.place is not None  # of both other kinds, by the grammar
        place = condition.place
        if not self._places_of(name, condition.kind).isdisjoint(place.names):
            return ''
        now = next((f': it is {f.predicate} {f.object}' for f in self._scene.facts
                    if f.subject == name and f.predicate in ('on', 'inside')), '')  # fmt: skip
        return f'{name} is not {condition.kind.value} {place.in_words}{now}'

    def _places_of(self, name: str, kind: ConditionKind) -> set[str]:
        """Return all that an object is in, its room included, or on, also by way of others."""
        found: set[str] = set()
        passed = [name]
        for each in passed:
            for fact in self._around.get(each, ()):
                if (fact.predicate == 'on') is (kind is K.ON):
                    found.add(fact.object)
                if fact.object not in passed:
                    passed.append(fact.object)
        return found
