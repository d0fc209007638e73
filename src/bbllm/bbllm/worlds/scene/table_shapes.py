"""A settled table, and the towers, lines and plus signs on it."""

import cmath
import itertools
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from bbllm.core.errors import NoGoalError
from bbllm.core.goals import PLUS_SIZE, Amount, ConditionKind, GoalCondition, Selection
from bbllm.core.text import listed
from bbllm.core.types import MOVABLE, Kind, Scene, SceneObject
from bbllm.scene.relations import stands_on
from bbllm.skills.shapes import bottom_z, free_space, outline, rotation_of
from bbllm.worlds.scene.table_tolerances import SLACK_M, TableTolerances

K = ConditionKind
MOST_SUBSETS = 20_000
"""So many ways to choose the objects of a shape are tried."""
Fault = tuple[int, float, str]
"""How bad a choice of objects for a shape is: which check fails, by how much, and in words."""
GOOD: Fault = (0, 0.0, '')
Order = Sequence[Sequence[str]]
"""Which objects may be in each place of a shape; nothing where any order will do."""


def cm(length_m: float) -> str:
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


def width_of(item: SceneObject) -> float:
    """Return the smaller horizontal extent of an object [m]."""
    return min(item.size_m[:2])


def middle_of(item: SceneObject) -> complex:
    """Return where a middle is: 1 is away from the arm, 1j to its left [m]."""
    x, y, _ = item.pose.position_m
    return complex(x, y)


class TableShapes:
    """A settled table, with what conditions on shapes find."""

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

    def _offset(self, item: SceneObject) -> float:
        return self._limits.offset * width_of(item)

    def _absent(self, *names: str) -> str:
        """Return that one of some objects is in the hand or gone, '' if all lie somewhere."""
        if held := [name for name in names if name in self._held]:
            return f'{held[0]} is in the hand'
        gone = (f'{name} is no longer in the scene' for name in names if name not in self._items)
        return next(gone, '')

    def _where(self, item: SceneObject) -> str:
        """Return what an object rests on, in words that follow a fault."""
        for fact in self._scene.facts:
            if fact.subject == item.name and fact.predicate in ('on', 'in'):
                return f': it is {fact.predicate} {fact.object}'
        return ''

    def _off(self, item: SceneObject, place: SceneObject) -> str:
        """Return that the middle of an object is too far from that of one it is on, or ''."""
        way, most = abs(middle_of(item) - middle_of(place)), self._limits.middle_m
        if most is None or way <= most + SLACK_M:
            return ''
        return f'{item.name} is {cm(way)} from the middle of {place.name}, and {cm(most)} count'

    def _not(self, relation: str, item: SceneObject, place: SceneObject) -> str:
        return f'{item.name} is not {relation} {place.name}{self._where(item)}'

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
        return f'{who} {cm(measured_m)} {what}; wanted: {amount}{self._tolerance(amount)}'

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

    def _line(
        self, members: Sequence[SceneObject], order: Order, apart: Amount | None = None
    ) -> Fault:
        low = min(map(bottom_z, members))
        for item in members:
            rise = bottom_z(item) - low
            if rise > self._limits.level_m + SLACK_M:
                return 4, rise, f'{item.name} is {cm(rise)} higher than the others'
        points = {item.name: middle_of(item) for item in members}
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
            allowed = f'{cm(straight)} are allowed'
            why = f'{name} is {cm(abs(off.imag))} off the line, and {allowed}'
            return 3, abs(off.imag), why
        row = sorted(along, key=lambda n: along[n].real)
        most = self._limits.gap * max(map(width_of, members))
        items = {item.name: item for item in members}
        for one, other in itertools.pairwise(row):
            if apart is not None:
                free_m = free_space(outline(items[one]), outline(items[other]))
                who = f'{one} and {other} are'
                if fault := self._off_by(who, free_m, 'apart, outline to outline', apart):
                    return 2, free_m, fault
                continue
            gap = (along[other] - along[one]).real
            if gap > most + SLACK_M:
                why = (
                    f'{one} and {other} are {cm(gap)} apart, where the line has a gap from '
                    f'{cm(most)} on'
                )
                return 2, gap, why
        if _breaks(order, row):
            return 1, 0.0, f'the order is {", ".join(row)}'
        return GOOD

    def _plus(self, members: Sequence[SceneObject], order: Order) -> Fault:
        width = min(map(width_of, members))
        least, most, near = width, self._limits.gap * width, self._limits.residual * width
        points = [middle_of(item) for item in members]
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
            return 4, residual, f'the best one has an object {cm(residual)} from its place'
        if not least - SLACK_M <= abs(step) <= most + SLACK_M:
            long = f'{cm(abs(step))} long, not {cm(least)} to {cm(most)}'
            return 3, abs(step), f'its arms are {long}'
        # The fit alone does not bound an arm: it follows it by 9/20 of its way.
        lines = (step / abs(step) * cell for cell in cells)
        aside = max(abs(((at - centre) / way).imag) for at, way in zip(best, lines, strict=True))
        if aside > near + SLACK_M:
            why = f'{cm(aside)} beside its line through the middle, and {cm(near)} are allowed'
            return 3, aside, f'an arm is {why}'
        turn_deg = abs(math.degrees(cmath.phase(step)))
        if turn_deg > self._limits.turn_deg:
            return 2, turn_deg, f'it is turned by {turn_deg:.0f} degrees'
        free = {item.name for item in members} | self._held
        for other in (item for item in self._loose if item.name not in free):
            ray = (middle_of(other) - middle) / (step / abs(step))
            inside = max(abs(ray.real), abs(ray.imag)) < abs(step) + width / 2
            if inside or min(abs(middle_of(other) - point) for point in points) < abs(step) + near:
                return 1, 0.0, f'{other.name} stands {"within" if inside else "next to"} it'
        return GOOD


def _breaks(order: Order, names: Sequence[str]) -> bool:
    """Return whether the members of a shape are in another order than is wanted."""
    return bool(order) and any(n not in may for n, may in zip(names, order, strict=True))


def _step(points: Sequence[complex], cells: Sequence[complex]) -> complex:
    """Fit the step from the middle of four arms to each, by least squares."""
    return sum(point * cell.conjugate() for point, cell in zip(points, cells, strict=True)) / 4
