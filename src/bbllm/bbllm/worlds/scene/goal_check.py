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
    ARM,
    PLUS_SIZE,
    WORDS,
    Amount,
    ConditionKind,
    GoalCondition,
    GoalFinding,
    Selection,
    TaskGoal,
)
from bbllm.core.observation import Observed, as_seen, last_moves
from bbllm.core.text import listed
from bbllm.core.types import MOVABLE, Fact, Kind, Scene, SceneObject
from bbllm.files.yaml_files import FileRecord
from bbllm.scene.relations import REST_GAP_M, stands_on
from bbllm.scene.transforms import difference
from bbllm.skills.containers import lies_in
from bbllm.skills.effects import LOCATION_RADIUS_M
from bbllm.skills.shapes import (
    bottom_z,
    contains,
    free_space,
    outline,
    polygon_gap,
    rotation_of,
    top_z,
    yaw_of,
)

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
Order = Sequence[Sequence[str]]
"""Which objects may be in each place of a shape; nothing where any order will do."""
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
    within_m: float = 0.01
    """How far a length may be from an amount, and what is unchanged from where it was [m]."""
    within_deg: float = 5.0
    """The same for angles [deg]."""
    bound: float = 0.2
    """How far a length or an angle may be beyond a bound [parts of these]."""


DEFAULTS = TableTolerances()


def check_goal(
    goal: TaskGoal,
    scene: Scene,
    start: Scene,
    limits: TableTolerances = DEFAULTS,
    observations: Sequence[Observed] | None = None,
) -> GoalFinding:
    """
    Return what a scene shows of a goal.

    Args:
        goal: The conditions.
        scene: The settled scene.
        start: The scene before the task, for what has moved.
        limits: What counts on a table.
        observations: All of the table from the start to the end, which have the order of moves
            and what was so on the way; None where they are not known.
    """
    moves = None if observations is None else last_moves(observations)
    check = _House(scene) if scene.is_symbolic else _Table(scene, start, limits, moves)
    past = [
        _Table(as_seen(start, seen), start, limits, moves) for seen in (observations or ())[1:]
    ]
    unmet: list[str] = []
    broken: list[GoalCondition] = []
    n_met = 0
    unseen = f'no condition expresses {goal.rest!r}' if goal.rest else ''
    for condition in goal.conditions:
        try:
            if condition.once and observations is None:
                raise NoGoalError('what was so on the way is not known')
            fault = _never(condition, past) if condition.once else check.fault(condition)
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
            broken.append(condition)
        else:
            n_met += 1
    return GoalFinding(tuple(unmet), unseen, n_met, tuple(broken))


def _never(condition: GoalCondition, past: Sequence['_Table']) -> str:
    """Return that a condition was so at no time on the way, '' if it was."""
    now = replace(condition, once=False)
    return (
        ''
        if any(not table.fault(now) for table in past)
        else f'at no time on the way: {now.in_words}'
    )


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


def _rest(angle_deg: float, alike_deg: float) -> float:
    """Return the smallest turn that has the same result [deg]."""
    return angle_deg - alike_deg * round(angle_deg / alike_deg)


def _width(item: SceneObject) -> float:
    """Return the smaller horizontal extent of an object [m]."""
    return min(item.size_m[:2])


def _point(item: SceneObject) -> complex:
    """Return where a middle is: 1 is away from the arm, 1j to its left [m]."""
    x, y, _ = item.pose.position_m
    return complex(x, y)


class _Table:
    """A settled table as conditions query it."""

    def __init__(
        self,
        scene: Scene,
        start: Scene,
        limits: TableTolerances,
        moves: Mapping[str, int] | None,
    ):
        self._moves = moves
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
        if condition.kind is K.UNCHANGED:
            return self._unchanged(item)
        if condition.kind is K.SHIFTED:
            return self._shifted(item, condition.word, condition.amount)
        if condition.kind in (K.YAW, K.TURNED):
            return self._turned(item, condition)
        assert condition.place is not None  # of all other kinds, by the grammar
        if condition.kind is K.BETWEEN:
            return self._between(item, condition.place.names, condition.amount)
        others = [other for other in condition.place.names if other != name]
        if condition.kind in (K.DISTANCE, K.GAP):
            return self._apart(item, others, condition)
        if condition.kind in (K.NEAREST, K.FARTHEST):
            return self._extreme(item, others, condition)
        if condition.kind is K.MOVED_BEFORE:
            return self._moved_before(name, others)
        relations: dict[ConditionKind, Relate] = {
            K.ON: self._on,
            K.IN: self._in,
            K.BESIDE: self._beside,
            **{kind: partial(self._towards, kind) for kind in TOWARDS},
            K.AT_PLACE_OF: self._at_place_of,
            K.ALIGNED: self._aligned,
        }
        faults = []
        for other in others:
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

    def _shifted(self, item: SceneObject, word: str, amount: Amount | None) -> str:
        was = self._start.get(item.name)
        if was is None:
            return f'{item.name} was not seen at the start'
        if absent := self._absent(item.name):
            return absent
        way = ((_point(item) - _point(was)) / WAYS[word]).real
        words = WORDS[K.SHIFTED][word]
        if amount is not None:
            return self._off_by(f'{item.name} is', way, f'{words} than at the start', amount)
        if way >= self._offset(item) - SLACK_M:
            return ''
        needed = f'{_cm(self._offset(item))} count as {words}'
        return f'{item.name} is {_cm(way)} {words} than at the start, and {needed}'

    def _between(self, item: SceneObject, ends: Sequence[str], amount: Amount | None) -> str:
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
        if amount is None or self._fits(at.real, amount.value / 100 * length, amount.bound):
            return ''
        share, wanted = f'{100 * at.real / length:.0f} %', f'{amount}{self._tolerance(amount)}'
        return (
            f'{item.name} is {share} of the way from {one.name} to {other.name}; wanted: {wanted}'
        )

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

    # --- amounts --------------------------------------------------------------------------------

    def _fits(self, measured: float, wanted: float, bound: str, unit: str = 'cm') -> bool:
        """Return whether a length [m] or an angle [deg] is as wanted, or within its bound."""
        within = self._limits.within_deg if unit == 'deg' else self._limits.within_m
        slack = self._limits.bound * within + SLACK_M
        if bound:
            return (measured - wanted if bound == 'at least' else wanted - measured) >= -slack
        return abs(measured - wanted) <= within + SLACK_M

    def _tolerance(self, amount: Amount) -> str:
        """Return how far off an exact amount may be, in words that follow it."""
        degrees, cm = f'{self._limits.within_deg:g} deg', f'{100 * self._limits.within_m:g} cm'
        return '' if amount.bound else f', within {degrees if amount.unit == "deg" else cm}'

    def _off_by(self, who: str, measured_m: float, what: str, amount: Amount) -> str:
        """Return that a length is not as wanted, '' if it is."""
        if self._fits(measured_m, amount.value / 100, amount.bound):
            return ''
        return f'{who} {_cm(measured_m)} {what}; wanted: {amount}{self._tolerance(amount)}'

    def _apart(self, item: SceneObject, others: Sequence[str], condition: GoalCondition) -> str:
        """Return why the nearest of some objects is not at a distance, '' if it is."""
        if absent := self._absent(item.name, *others):
            return absent
        if condition.kind is K.GAP:
            ways = {n: free_space(outline(item), outline(self._items[n])) for n in others}
        else:
            ways = {n: abs(_point(item) - _point(self._items[n])) for n in others}
        other = min(others, key=ways.__getitem__)
        how = f'from {other}, ' + (
            'outline to outline' if condition.kind is K.GAP else 'middle to middle'
        )
        assert condition.amount is not None  # by the grammar
        return self._off_by(f'{item.name} is', ways[other], how, condition.amount)

    def _extreme(self, item: SceneObject, others: Sequence[str], condition: GoalCondition) -> str:
        """Return which other object is nearer to something, or farther from it; '' for none."""
        arm = condition.word == ARM
        others = [other for other in others if other != condition.word]
        if absent := self._absent(item.name, *others, *(() if arm else (condition.word,))):
            return absent
        origin = 0 if arm else _point(self._items[condition.word])
        ways = {n: abs(_point(self._items[n]) - origin) for n in (item.name, *others)}
        nearest = condition.kind is K.NEAREST
        best = (min if nearest else max)(others, key=ways.__getitem__)
        more = ways[best] - ways[item.name]
        if (more if nearest else -more) > SLACK_M:
            return ''
        to = f'the {ARM}' if arm else condition.word
        measured = f'{_cm(ways[best])}, and {item.name} {_cm(ways[item.name])}'
        return f'{best} is {"nearer to" if nearest else "farther from"} {to}: {measured}'

    def _moved_before(self, name: str, others: Sequence[str]) -> str:
        """Return which object was last moved before another one was, '' for none."""
        moves = self._moves
        if moves is None:
            raise NoGoalError('the order of the moves is not known')
        if name not in moves:
            return f'{name} was not moved'
        for other in others:
            if moves.get(other) == moves[name]:
                raise NoGoalError(
                    f'the record does not show which of {name} and {other} moved last'
                )
        earlier = [other for other in others if moves.get(other, moves[name]) < moves[name]]
        return f'{name} was moved after {earlier[0]} was in its last place' if earlier else ''

    # --- turns ----------------------------------------------------------------------------------

    def _yaw(self, item: SceneObject) -> tuple[float, float]:
        """Return an object's yaw, and after what turn it is seen to be the same [deg]."""
        found = yaw_of(item)
        if found is None:
            raise NoGoalError(f'{item.name} has no yaw: it is round seen from above, or leans')
        return found

    def _turned(self, item: SceneObject, condition: GoalCondition) -> str:
        """Return why an object has another yaw, or has turned otherwise, than is wanted; or ''."""
        if absent := self._absent(item.name):
            return absent
        (yaw, alike), amount, was = self._yaw(item), condition.amount, 0.0
        assert amount is not None  # by the grammar
        turned = condition.kind is K.TURNED
        if turned:
            if item.name not in self._start:
                return f'{item.name} was not seen at the start'
            was = self._yaw(self._start[item.name])[0]
        measured = _rest(yaw - was, alike)
        wanted = [amount.value] + [-amount.value] * (turned and not amount.signed)
        if (turned and abs(_rest(amount.value, alike)) <= self._limits.within_deg) or (
            amount.bound and amount.value > alike / 2
        ):
            raise NoGoalError(f'{item.name} looks the same after {alike:g} deg')
        if amount.bound:
            fits = self._fits(abs(measured), amount.value, amount.bound, 'deg')
        else:
            fits = any(self._fits(_rest(measured - w, alike), 0.0, '', 'deg') for w in wanted)
        if fits:
            return ''
        how = 'turned by' if turned else 'at a yaw of'
        more = f'{amount}{self._tolerance(amount)} (it looks the same after {alike:g} deg)'
        return f'{item.name} is {how} {measured:.0f} deg; wanted: {more}'

    def _aligned(self, item: SceneObject, place: SceneObject) -> str:
        (yaw, alike), (other, too) = self._yaw(item), self._yaw(place)
        off = abs(_rest(yaw - other, min(alike, too)))
        if off <= self._limits.within_deg + SLACK_M:
            return ''
        allowed = f'{self._limits.within_deg:g} deg are allowed'
        return f'{item.name} is turned by {off:.0f} deg against {place.name}, and {allowed}'

    def _unchanged(self, item: SceneObject) -> str:
        was = self._start.get(item.name)
        if was is None:
            return f'{item.name} was not seen at the start'
        if absent := self._absent(item.name):
            return absent
        way = math.dist(item.pose.position_m, was.pose.position_m)
        most_m, most_deg = self._limits.within_m, self._limits.within_deg
        if way > most_m + SLACK_M:
            return f'{item.name} is {_cm(way)} from where it was, and {_cm(most_m)} are allowed'
        turn = difference(item.pose.quat_xyzw, was.pose.quat_xyzw, item.kind, item.size_m)
        if math.degrees(turn) <= most_deg + SLACK_M:
            return ''
        return (
            f'{item.name} is turned by {math.degrees(turn):.0f} deg, and {most_deg:g} are allowed'
        )

    # --- several objects ------------------------------------------------------------------------

    def _shape(
        self, condition: GoalCondition, fault_of: Callable[[Sequence[SceneObject], Order], Fault]
    ) -> str:
        """Return the fault of a shape, of the best choice of its members."""
        parts = condition.subjects
        order = [item.names for item in parts for _ in range(item.count)] if len(parts) > 1 else []
        gone = [n for item in parts for n in item.names if self._absent(n)]
        far = [n for item in parts for n in item.names if self._scene.has(n, 'reachable', 'no')]
        fault = self._best(condition, order, fault_of, gone)
        # What is out of reach is named, and the others are judged: it is no fault of theirs.
        if fault and far and not condition.negated:
            missed = f'{listed(far)} {"is" if len(far) == 1 else "are"} out of reach'
            near = [n for item in parts for n in item.names if n not in (*gone, *far)]
            rest = Selection(tuple(near), len(near), '')
            short = len(near) < sum(item.count for item in parts)
            if short and len(near) > 1 and condition.kind is not K.PLUS:
                others = self._best(replace(condition, subjects=(rest,)), [], fault_of, gone)
                fault = f'{missed}, and of the others {others}' if others else missed
            elif short:
                fault = missed
        if condition.negated:
            return '' if fault else GoalCondition(condition.kind, condition.subjects).in_words
        who = listed([item.in_words for item in condition.subjects])
        return fault and f'there is no {condition.kind.words} of {who}: {fault}'

    def _best(
        self,
        condition: GoalCondition,
        order: Order,
        fault_of: Callable[[Sequence[SceneObject], Order], Fault],
        gone: Sequence[str],
    ) -> str:
        """Return the fault of the best choice of the members of a shape, '' where one has none."""
        choices = []
        for item in condition.subjects:
            there = [self._items[n] for n in item.names if n not in gone]
            if len(there) < item.count:
                return self._absent(next(n for n in item.names if n in gone))
            choices.append(itertools.combinations(there, item.count))
        best: Fault = (sys.maxsize, 0.0, '')
        for tried, chosen in enumerate(itertools.product(*choices)):
            if tried == MOST_SUBSETS:
                raise NoGoalError(f'{condition} has too many choices to try: name fewer.')
            best = min(best, fault_of([*itertools.chain(*chosen)], order))
            if best == GOOD:
                break
        return best[2]

    @cached_property
    def _under(self) -> Mapping[str, Sequence[str]]:
        """What each object stands on."""
        return {
            item.name: [low.name for low in self._loose if stands_on(item, low)]
            for item in self._loose
            if item.name not in self._held
        }

    def _tower(self, members: Sequence[SceneObject], order: Order) -> Fault:
        names = [item.name for item in members]
        if all(len(names) == 1 for names in order):
            for low, high in itertools.pairwise(members if order else ()):
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
        if crooked := self._crooked(members):
            return 1, 0.0, crooked
        upwards = [item.name for item in sorted(members, key=bottom_z)]
        if _breaks(order, upwards):
            return 1, 0.0, f'the order from the bottom up is {", ".join(upwards)}'
        return GOOD

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

    def _line(self, members: Sequence[SceneObject], order: Order) -> Fault:
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
        row = sorted(along, key=lambda n: along[n].real)
        most = self._limits.gap * max(map(_width, members))
        for one, other in itertools.pairwise(row):
            gap = (along[other] - along[one]).real
            if gap > most + SLACK_M:
                why = (
                    f'{one} and {other} are {_cm(gap)} apart, where the line has a gap from '
                    f'{_cm(most)} on'
                )
                return 2, gap, why
        if _breaks(order, row):
            return 1, 0.0, f'the order is {", ".join(row)}'
        return GOOD

    def _plus(self, members: Sequence[SceneObject], order: Order) -> Fault:
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


def _breaks(order: Order, names: Sequence[str]) -> bool:
    """Return whether the members of a shape are in another order than is wanted."""
    return bool(order) and any(n not in may for n, may in zip(names, order, strict=True))


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
