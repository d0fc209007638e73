"""What is wrong with that which a package calls a planner, found out before it is played."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence


def fault_of(factory: object, domains: Collection[str]) -> str:
    """
    Say why an object builds no planner, '' where nothing speaks against it.

    It is not called: whether what it builds has `run` only shows of a class.

    Args:
        factory: What an entry point names.
        domains: The kinds of worlds that there are.
    """
    if not callable(factory):
        return f'it is {type(factory).__name__} and no class or function'
    told = _options_fault(factory) or _names_fault(factory, 'stand_ins')
    told = told or _names_fault(factory, 'plays_in', domains)
    if told:
        return told
    if isinstance(factory, type) and not callable(getattr(factory, 'run', None)):
        return 'it has no method run(task, world, context)'
    options = getattr(factory, 'options', {})
    try:
        inspect.signature(factory).bind(None, None, k=0, **dict.fromkeys(options, ''))
    except TypeError as error:
        named = ''.join(f', {name}=...' for name in options)
        return f'it cannot be called as planner(brain, body, k=3{named}): {error}'
    except ValueError:
        return ''  # some builtins tell nobody what they take
    return ''


def _options_fault(factory: object) -> str:
    options = getattr(factory, 'options', {})
    form = "a mapping such as {'note': ('yes', 'no')}"
    if not isinstance(options, Mapping):
        return f'its options are {options!r:.80} and not {form}'
    for name, values in options.items():
        ordered = isinstance(values, Sequence) and values and not _no_names(values)
        if not isinstance(name, str) or not ordered:
            return f'its option {name!r:.80} has the values {values!r:.80}; options are {form}'
    return ''


def _names_fault(factory: object, attribute: str, known: Collection[str] = ()) -> str:
    names = getattr(factory, attribute, ())
    form = f'a set of names such as {{{min(known, default="expert")!r}}}'
    if _no_names(names):
        return f'its {attribute} is {names!r:.80} and not {form}'
    unknown = sorted({*names} - {*known}) if known else []
    if unknown:
        return f'its {attribute} names {unknown[0]!r:.80}; known are {", ".join(sorted(known))}'
    return ''


def _no_names(values: object) -> bool:
    """Tell of what is no collection of words; a word alone is one of its letters."""
    return (
        isinstance(values, str)
        or not isinstance(values, Collection)
        or not all(isinstance(value, str) for value in values)
    )
