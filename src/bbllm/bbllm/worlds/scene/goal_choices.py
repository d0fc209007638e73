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


def alone(condition: GoalCondition, name: str) -> GoalCondition:
    """Return that one object is so, without `not`."""
    return replace(condition, subjects=(Selection((name,), 1, name),), negated=False)
