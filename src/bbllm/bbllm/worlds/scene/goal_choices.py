"""Conditions that each of some objects meets or does not."""

from collections.abc import Callable
from dataclasses import replace

from bbllm.core.goals import GoalCondition, Selection
from bbllm.core.text import listed

UNSEEN = 'is not in sight'


def chosen(condition: GoalCondition, fault_of: Callable[[str], str]) -> str:
    """Return the fault of a condition that each of some objects meets or does not."""
    selection = condition.subjects[0]
    faults = {name: fault_of(name) for name in selection.names}
    good = [name for name, fault in faults.items() if not fault]
    if condition.negated:
        return alone(condition, good[0]).in_words if good else ''
    if selection.exact and len(good) > selection.count:
        return f'of {selection}, {listed(good)} are so'
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


def counted_places(condition: GoalCondition, name: str, fault_of: Callable[[str], str]) -> str:
    """
    Return why an object is not so related to a number of others, '' if it is.

    *fault_of* returns the fault of its relation to one of them.
    """
    place = condition.place
    assert place is not None  # of conditions that count
    faults = {other: fault_of(other) for other in place.names if other != name}
    good = [other for other, fault in faults.items() if not fault]
    if place.exact and len(good) > place.count:
        return f'{name} is so related to {listed(good)}, not to {place.in_words}'
    if len(good) >= place.count:
        return ''
    short = f', {place.count - len(good)} too few' if place.count < len(place.names) else ''
    return f'{next(filter(None, faults.values()))}{short}'


def to_one(condition: GoalCondition, other: str) -> GoalCondition:
    """Return that a condition is so in relation to one object."""
    return replace(condition, place=Selection((other,), 1, other))


def alone(condition: GoalCondition, name: str) -> GoalCondition:
    """Return that one object is so, without `not`."""
    return replace(condition, subjects=(Selection((name,), 1, name),), negated=False)
