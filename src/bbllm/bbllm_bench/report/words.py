"""How the report writes numbers and other people's texts."""

from collections.abc import Iterable

from markupsafe import Markup

from bbllm.core.text import escape_hidden
from bbllm_bench.metrics.metrics import METRICS

NONE = '–'
"""Stands for a missing value."""
THIN = '\u202f'
"""A narrow space that does not break."""


def finalize(value: object) -> object:
    """Make visible in a text what no page can show: control characters, lone surrogates."""
    return (
        escape_hidden(value) if isinstance(value, str) and not isinstance(value, Markup) else value
    )


def two(value: float | None) -> str:
    """Return a rate with two digits."""
    return NONE if value is None else f'{value:.2f}'


def metric(key: str, value: float | None) -> str:
    """Return a value in the digits of its metric."""
    return METRICS[key].write(value).replace('-', '−').replace(',', THIN) or NONE


def interval(low: float | None, high: float | None) -> str:
    """Return `[0.41, 0.87]`, '' where there is none."""
    return '' if low is None or high is None else f'[{low:.2f}, {high:.2f}]'


def count(value: int | None) -> str:
    """Return a whole number with its thousands apart."""
    return NONE if value is None else f'{value:,}'.replace(',', THIN)


def median(value: float | None) -> str:
    """Return a median, which may be a half."""
    return NONE if value is None else f'{value:,.10g}'.replace(',', THIN)


def plural(n: int, noun: str) -> str:
    """Return `1 episode`, `2 episodes`."""
    return f'{count(n)} {noun}' if n == 1 else f'{count(n)} {noun}s'


def duration(seconds: float | None) -> str:
    """Return a time in the units that suit it."""
    if seconds is None:
        return NONE
    if seconds < 59.95:
        return f'{seconds:.1f} s'
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f'{minutes} min {rest} s'
    return f'{minutes // 60} h {minutes % 60} min'


def listed(items: Iterable[object]) -> str:
    """Return `a, b, c`."""
    return ', '.join(str(item) for item in items)


def titled(label: str, name: str) -> str:
    """Return a task's name as words, after what its paper calls it: `T3 pick heavier`."""
    return f'{label} {name.replace("_", " ")}'.strip()
