"""
What conditions require of a settled table, by geometry.

Rest, contact and locations are those of `relations`, so that facts of a scene and goals agree. An
object is on a side if its middle is half its width beyond the middle line, or it would stand on
the line. It is beside another if the larger of the two would not fit between them.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from bbllm.core.errors import NoGoalError
from bbllm.core.goals import ARM, SHAPES, WORDS, Amount, ConditionKind, GoalCondition
from bbllm.core.text import listed
from bbllm.core.types import Kind, SceneObject
from bbllm.scene.relations import REST_GAP_M, stands_on
from bbllm.scene.transforms import difference
from bbllm.skills.containers import lies_in
from bbllm.skills.shapes import (
    bottom_z,
    contains,
    free_space,
    outline,
    polygon_gap,
    top_z,
    yaw_of,
)
from bbllm.worlds.scene.goal_choices import chosen, counted_places, to_one
from bbllm.worlds.scene.table_shapes import TableShapes, cm, leaning, middle_of, width_of
from bbllm.worlds.scene.table_tolerances import SLACK_M

K = ConditionKind
WAYS: Mapping[str, complex] = {'left': 1j, 'right': -1j, 'near': -1, 'far': 1}
TOWARDS: Mapping[ConditionKind, complex] = {
    **{K.LEFT_OF: 1j, K.RIGHT_OF: -1j},
    **{K.NEARER: -1, K.FARTHER: 1},
}
"""Directions: 1 is away from the arm, 1j to its left."""
Relate = Callable[[SceneObject, SceneObject], str]
"""Returns why an object is not so related to another, '' if it is."""


class TableConditions(TableShapes):
    """A settled table as conditions query it."""

    def fault(self, condition: GoalCondition) -> str:
        """Return why a condition does not hold, as a sentence without full stop; '' if it does."""
        if condition.kind is K.LINE:
            return self._shape(condition, partial(self._line, apart=condition.amount))
        if condition.kind in SHAPES:
            fault_of = self._tower if condition.kind is K.TOWER else self._plus
            return self._shape(condition, fault_of)
        fault = chosen(condition, partial(self._single, condition))
        return self._with_reach(fault, condition) if fault else ''

    def _with_reach(self, fault: str, condition: GoalCondition) -> str:
        far = [
            name
            for item in condition.subjects
            for name in item.names
            if name in fault and self._scene.has(name, 'reachable', 'no')
        ]
        return f'{fault} ({listed(far)} is out of reach)' if len(far) == 1 else fault

    def _single(self, condition: GoalCondition, name: str) -> str:
        """Return why one object does not meet a condition, '' if it does."""
        if name not in self._items:
            return self._absent(name)
        item = self._items[name]
        if condition.kind is K.HELD:
            return '' if name in self._held else f'{name} is not in the hand'
        if condition.kind is K.AT:
            return self._at(item, condition)
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
        if condition.counts_places:
            return counted_places(
                condition, name, lambda other: self._single(to_one(condition, other), name)
            )
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

    def _on(self, item: SceneObject, place: SceneObject) -> str:
        if leans := leaning(item, self._limits.tilt_deg):
            return leans
        gap = bottom_z(item) - top_z(place)
        level = abs(gap) <= self._limits.level_m + SLACK_M
        if place.kind is Kind.LOCATION:
            way = abs(middle_of(item) - middle_of(place))
            if way > self._limits.location_m + SLACK_M:
                limit = f'{cm(self._limits.location_m)} count as on it'
                return f'{item.name} is {cm(way)} from {place.name}, and {limit}'
            side = 'above' if gap > 0 else 'below'
            return '' if level else f'{item.name} is {cm(abs(gap))} {side} {place.name}'
        if place.kind is Kind.CONTAINER:
            return '' if lies_in(item, place) else self._not('on', item, place)
        if place.kind is Kind.FIXTURE:
            over = contains(outline(place), item.pose.position_m[:2])
            return '' if over and level else self._not('on', item, place)
        return self._off(item, place) if stands_on(item, place) else self._not('on', item, place)

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
        limit = self._limits.beside * max(width_of(item), width_of(place))
        if gap <= limit + SLACK_M:
            return ''
        allowed = f'at most {cm(limit)} count as right next to it'
        return f'{item.name} is {cm(gap)} away from {place.name}, and {allowed}'

    def _towards(self, kind: ConditionKind, item: SceneObject, place: SceneObject) -> str:
        way = TOWARDS[kind]
        offset = (middle_of(item) - middle_of(place)) / way
        along, across = offset.real, abs(offset.imag)
        clear = min(_along(item, way)) - max(_along(place, way))
        if clear >= -REST_GAP_M - SLACK_M and along >= across:
            return ''
        measured = f'{cm(abs(along))} {"in" if along > 0 else "against"} that direction'
        words = kind.words.format(place.name)
        return f'{item.name} is not {words}: {measured}, {cm(across)} across it'

    def _at(self, item: SceneObject, condition: GoalCondition) -> str:
        if absent := self._absent(item.name):
            return absent
        x, y, *height = condition.at_m
        way, most = abs(middle_of(item) - complex(x, y)), self._limits.within_m
        for z in height:
            way = max(way, abs(item.pose.position_m[2] - z))
        if way <= most + SLACK_M:
            return ''
        words = condition.kind.words.format(condition.at_words)
        return f'{item.name} is {cm(way)} off, not {words}; wanted: within {cm(most)}'

    def _side(self, item: SceneObject, word: str, negated: bool) -> str:
        line, name = 0.0, 'the middle line'
        if word in ('near', 'far'):
            tables = [t for t in self._scene.objects if t.kind is Kind.FIXTURE]
            under = [t for t in tables if contains(outline(t), item.pose.position_m[:2])]
            if not under:
                return f'{item.name} is not over a table that would have a {word} half'
            line, name = under[0].pose.position_m[0], f'the middle of {under[0].name}'
        inside = ((middle_of(item) - line) / WAYS[word]).real
        needed = 0.0 if negated else self._offset(item)
        if absent := self._absent(item.name):
            return absent
        if inside > needed - SLACK_M:
            return ''
        if inside >= 0:
            return (
                f'{item.name} is only {cm(inside)} beyond {name}, and {cm(needed)} are needed '
                f'to be on the {word}'
            )
        return f'{item.name} is {cm(-inside)} on the other side of {name}, not on the {word}'

    def _moved(self, item: SceneObject) -> str:
        was = self._start.get(item.name)
        way = math.inf if was is None else math.dist(item.pose.position_m, was.pose.position_m)
        still_m = self._limits.still_m
        moved = way >= self._offset(item) - SLACK_M if still_m is None else way > still_m + SLACK_M
        if moved or leaning(item, self._limits.tilt_deg):
            return ''
        return f'{item.name} is {cm(way)} from where it was, which is the same place'

    def _shifted(self, item: SceneObject, word: str, amount: Amount | None) -> str:
        was = self._start.get(item.name)
        if was is None:
            return f'{item.name} was not seen at the start'
        if absent := self._absent(item.name):
            return absent
        way = ((middle_of(item) - middle_of(was)) / WAYS[word]).real
        words = WORDS[K.SHIFTED][word]
        if amount is not None:
            return self._off_by(f'{item.name} is', way, f'{words} than at the start', amount)
        if way >= self._offset(item) - SLACK_M:
            return ''
        needed = f'{cm(self._offset(item))} count as {words}'
        return f'{item.name} is {cm(way)} {words} than at the start, and {needed}'

    def _between(self, item: SceneObject, ends: Sequence[str], amount: Amount | None) -> str:
        if absent := self._absent(item.name, *ends):
            return absent
        one, other = (self._items[name] for name in ends)
        words = f'{item.name} is not between {one.name} and {other.name}'
        heights = [bottom_z(each) for each in (item, one, other)]
        if max(heights) - min(heights) > self._limits.level_m + SLACK_M:
            return f'{words}: they do not stand at the same height'
        way = middle_of(other) - middle_of(one)
        length = max(abs(way), SLACK_M)
        at = (middle_of(item) - middle_of(one)) / (way or 1) * length
        if not SLACK_M < at.real < length - SLACK_M:
            return f'{words}: it is beyond {(one if at.real <= 0 else other).name}'
        if abs(at.imag) > self._offset(item) + SLACK_M:
            allowed = f'{cm(self._offset(item))} are allowed'
            return f'{words}: it is {cm(abs(at.imag))} off the line of the two, and {allowed}'
        if amount is None or self._fits(at.real, amount.value / 100 * length, amount.bound):
            return ''
        share, wanted = f'{100 * at.real / length:.0f} %', f'{amount}{self._tolerance(amount)}'
        return (
            f'{item.name} is {share} of the way from {one.name} to {other.name}; wanted: {wanted}'
        )

    def _at_place_of(self, item: SceneObject, place: SceneObject) -> str:
        was = self._start.get(place.name, place)
        way, rise = abs(middle_of(item) - middle_of(was)), bottom_z(item) - bottom_z(was)
        if abs(rise) > self._limits.level_m + SLACK_M:
            side = 'higher' if rise > 0 else 'lower'
            return f'{item.name} is {cm(abs(rise))} {side} than {place.name} was'
        if way <= self._offset(item) + SLACK_M:
            return ''
        allowed = f'{cm(self._offset(item))} are allowed'
        return f'{item.name} is {cm(way)} from where {place.name} was, and {allowed}'

    # --- amounts --------------------------------------------------------------------------------

    def _apart(self, item: SceneObject, others: Sequence[str], condition: GoalCondition) -> str:
        """Return why the nearest of some objects is not at a distance, '' if it is."""
        if absent := self._absent(item.name, *others):
            return absent
        if condition.kind is K.GAP:
            ways = {n: free_space(outline(item), outline(self._items[n])) for n in others}
        else:
            ways = {n: abs(middle_of(item) - middle_of(self._items[n])) for n in others}
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
        origin = 0 if arm else middle_of(self._items[condition.word])
        ways = {n: abs(middle_of(self._items[n]) - origin) for n in (item.name, *others)}
        nearest = condition.kind is K.NEAREST
        best = (min if nearest else max)(others, key=ways.__getitem__)
        more = ways[best] - ways[item.name]
        if (more if nearest else -more) > SLACK_M:
            return ''
        to = f'the {ARM}' if arm else condition.word
        measured = f'{cm(ways[best])}, and {item.name} {cm(ways[item.name])}'
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
            return f'{item.name} is {cm(way)} from where it was, and {cm(most_m)} are allowed'
        turn = difference(item.pose.quat_xyzw, was.pose.quat_xyzw, item.kind, item.size_m)
        if math.degrees(turn) <= most_deg + SLACK_M:
            return ''
        return (
            f'{item.name} is turned by {math.degrees(turn):.0f} deg, and {most_deg:g} are allowed'
        )


def _rest(angle_deg: float, alike_deg: float) -> float:
    """Return the smallest turn that has the same result [deg]."""
    return angle_deg - alike_deg * round(angle_deg / alike_deg)


def _along(item: SceneObject, way: complex) -> Iterator[float]:
    """Yield how far the corners of an object are in a direction [m]."""
    for x, y in outline(item):
        yield (complex(x, y) / way).real
