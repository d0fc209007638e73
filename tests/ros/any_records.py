"""Strategies that draw any record that the graph carries, from the types of its fields."""

import dataclasses
import types
import typing
from collections.abc import Mapping
from enum import Enum
from typing import Any

from hypothesis import strategies as st

from bbllm.core.events import ModelCall, PromptText
from bbllm.core.types import Code, HandReading, Pose, Scene, SceneObject

texts = st.text(st.characters(exclude_categories=['Cs'], exclude_characters='\0'), max_size=20)
floats = st.floats(-1e3, 1e3)
stamps = st.floats(0, 2**31 - 1).map(lambda t: round(t, 6))
counts = st.integers(0, 2**31 - 1)
lists = st.lists(texts, max_size=3).map(tuple)
codes = st.none() | st.sampled_from([code for code in Code if code is not Code.NONE])
quats = st.tuples(floats, floats, floats, floats).filter(any)
NOTHING = Scene((), (), (), 0.0)
SIMPLE: dict[Any, st.SearchStrategy[Any]] = {
    str: texts,
    int: counts,
    float: floats,
    bool: st.booleans(),
    object: counts | texts | st.booleans() | lists.map(list),
    Code | None: codes,
}
GIVEN: dict[type, dict[str, st.SearchStrategy[Any]]] = {
    Pose: {'quat_xyzw': quats},
    HandReading: {'width_m': st.floats(0, 0.08)},
    Scene: {
        'stamp_s': stamps,
        **{name: st.just(getattr(NOTHING, name)) for name in ('domain', 'whole', 'offers_all')},
    },
    ModelCall: {'prompt': st.lists(st.builds(PromptText, texts, texts, texts)).map(tuple)},
}
"""Fields that are not any value of their type, or do not travel."""


def any_of(kind: type, /, **given: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw a record; *given* draw fields that are not any value of their type."""
    given = {**GIVEN.get(kind, {}), **given}
    hints = typing.get_type_hints(kind)
    for item in dataclasses.fields(typing.cast(Any, kind)):
        if item.init and item.name not in given:
            given[item.name] = _drawn(hints[item.name])
    return st.builds(kind, **given)


def _drawn(hint: Any) -> st.SearchStrategy[Any]:
    if hint in SIMPLE:
        return SIMPLE[hint]
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        if args[-1] is Ellipsis:
            return st.lists(_drawn(args[0]), max_size=3).map(tuple)
        return st.tuples(*map(_drawn, args))
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*(st.none() if arg is type(None) else _drawn(arg) for arg in args))
    if origin in (dict, Mapping):
        return st.dictionaries(_drawn(args[0]), _drawn(args[1]), max_size=3)
    return st.sampled_from(hint) if issubclass(hint, Enum) else any_of(hint)


objects = any_of(SceneObject)
