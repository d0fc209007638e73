"""What is left to do for a goal: the plan of the stand-in `expert`, which receives the goal."""

from collections.abc import Collection, Sequence

from bbllm.core.types import Scene, SkillCall

PLACES = {'in', 'on'}
ENDS = {'open': 'open', 'turnon': 'turn_on', 'turnoff': 'turn_off', 'close': 'close'}
"""The skill for each predicate of one object."""
REACHED = {'open': 'open', 'turnon': 'on', 'turnoff': 'off', 'close': 'closed'}
"""What a fact states once it holds."""
SHUT = ('closed', 'not_open')
"""What a fact states of a place that has to be opened."""


def calls_for(
    goal: Sequence[Sequence[str]], scene: Scene, no_grasp: Collection[str] = ()
) -> tuple[SkillCall, ...]:
    """
    Return the calls from a scene to a goal: what opens, what is turned, moves, what closes.

    A place that can be opened is opened before something goes into it, and before something is
    taken out of it. What others are put on is moved first. What is in *no_grasp* is pushed.
    """
    opening = [one for one in goal if one[0] == 'open']
    turning = [one for one in goal if one[0] in ('turnon', 'turnoff')]
    closing = [one for one in goal if one[0] == 'close']
    moves = [one for one in goal if one[0] in PLACES and not _is_there(one, scene)]
    calls = [_end_of(one) for one in (*opening, *turning) if not _is_reached(one, scene)]
    opened = {call.args[0] for call in calls if call.skill == 'open'}
    for relation, item, place in _lowest_first(moves, scene.held):
        ways = [f.object for f in scene.facts if f.subject == item and f.predicate == 'in']
        for way in [place, *ways] if relation == 'in' else ways:
            if way not in opened and any(scene.has(way, 'is', word) for word in SHUT):
                opened.add(way)
                calls.append(SkillCall('open', (way,)))
        if item in no_grasp:
            calls.append(SkillCall('push', (item, place)))
            continue
        if item != scene.held:
            calls.append(SkillCall('pick', (item,)))
        calls.append(SkillCall('place', (place,)))
    touched = {place for _, _, place in moves} | opened
    calls += [_end_of(one) for one in closing if one[1] in touched or not _is_reached(one, scene)]
    return tuple(calls)


def _is_there(predicate: Sequence[str], scene: Scene) -> bool:
    relation, item, place = predicate
    return item != scene.held and scene.has(item, relation, place)


def _is_reached(predicate: Sequence[str], scene: Scene) -> bool:
    return scene.has(predicate[1], 'is', REACHED[predicate[0]])


def _end_of(predicate: Sequence[str]) -> SkillCall:
    return SkillCall(ENDS[predicate[0]], (predicate[1],))


def _lowest_first(moves: Sequence[Sequence[str]], held: str | None) -> list[tuple[str, ...]]:
    """Return moves with what others are put on before them, what is in the hand before all."""
    left = sorted((tuple(one) for one in moves), key=lambda one: one[1] != held)
    done: list[tuple[str, ...]] = []
    while left:
        movers = {one[1] for one in left}
        free = next((one for one in left if one[2] not in movers or one[1] == held), left[0])
        left.remove(free)
        done.append(free)
    return done
