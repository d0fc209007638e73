"""
Planners by name, from the entry points of every installed package.

A name may go on with options of that planner: `prog_prompt:check=graph,grounding=nearest`. The
whole of it is the planner's name in settings, journals and reports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol, cast

from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.factory_faults import fault_of
from bbllm.core.protocols import Body, ChatModel, Planner

GROUP = 'bbllm.planners'
OFFLINE = 'offline'
"""The stand-in for a model that plans where no server is set."""
EVERYWHERE = frozenset({'tabletop', 'household'})
"""The kinds of worlds that there are, each the `domain` of its scenes."""


class PlannerFactory(Protocol):
    """
    What an entry point of the group `bbllm.planners` names: a class or a function.

    One whose planner does the same whatever `k` is says so by an attribute, `uses_feedback =
    False`; a bench then plays each case once, and not once for every number of loops. One that
    other stand-ins for a model can answer than `offline` names them: `stand_ins =
    frozenset({'expert'})`. One whose prompts tell the force on the gripper has `feels = True`; a
    bench then has it measured, which takes time that others need not spend. One that never asks
    its Body has `asks_body = False`, so that nobody is told of a Body that does nothing. One that
    only works with a Body which matches by embedding has `needs_embedder = True`. One that does
    not play in every kind of world names those it does, as a scene's `domain` does: `plays_in =
    frozenset({'household'})`. One that can be varied names how, and what each can be, the value
    in force first: `options = {'check': ('model', 'graph')}`; it is then called with
    `check='graph'` where somebody asks for that. Values of which one makes nothing of the other it
    names as well, so that nobody gets both: `excluding = ({'verify': 'yes', 'paper': 'yes'},)`.
    """

    def __call__(self, brain: ChatModel, body: Body, *, k: int) -> Planner:
        """Build the planner with its models and its number of feedback loops."""
        ...


def planner_names() -> list[str]:
    """Return the names of all installed planners, sorted."""
    return sorted(_points())


def plain_name(spec: str) -> str:
    """Return a planner's name without its options: `prog_prompt` of `prog_prompt:check=graph`."""
    return spec.partition(':')[0]


def find_planner(spec: str) -> PlannerFactory:
    """
    Return what builds the planner of that name, which has the planner's own attributes.

    Args:
        spec: A name, with or without options: `name:option=value,option=value`.

    Raises:
        UnknownNameError: No such planner is installed, or it has no such option, or that has no
            such value; names the nearest.
        ConfigError: The options are not written so, or exclude each other, or what is installed
            cannot be imported, is no planner or is one of two with that name.
    """
    name, colon, text = spec.partition(':')
    points = _points()
    if name not in points:
        raise UnknownNameError('planner', name, points)
    factory = _load(points[name])
    if not colon:
        return factory
    chosen = _read_options(name, text, options_of(factory))
    _refuse_excluding(name, chosen, getattr(factory, 'excluding', ()))
    return _WithOptions(factory, chosen)


def load_planners() -> tuple[Mapping[str, PlannerFactory], Mapping[str, ConfigError]]:
    """
    Return what builds each installed planner, and why some cannot be had, by their names.

    Both are sorted by name.
    """
    factories: dict[str, PlannerFactory] = {}
    faults: dict[str, ConfigError] = {}
    for name, point in sorted(_points().items()):
        try:
            factories[name] = _load(point)
        except ConfigError as error:
            faults[name] = error
    return factories, faults


def options_of(factory: PlannerFactory) -> Mapping[str, tuple[str, ...]]:
    """Return what of a planner can be varied, each with its values, the usual one first."""
    return dict(getattr(factory, 'options', {}))


def uses_feedback(factory: PlannerFactory) -> bool:
    """Tell whether the number of feedback loops matters to what a factory builds."""
    return bool(getattr(factory, 'uses_feedback', True))


def stand_ins(factory: PlannerFactory) -> frozenset[str]:
    """Return the names of the stand-ins for a model that know a planner's prompts."""
    return frozenset(getattr(factory, 'stand_ins', (OFFLINE,)))


def feels(factory: PlannerFactory) -> bool:
    """Tell whether the prompts of a planner tell the force on the gripper."""
    return bool(getattr(factory, 'feels', False))


def asks_body(factory: PlannerFactory) -> bool:
    """Tell whether a planner ever asks its Body."""
    return bool(getattr(factory, 'asks_body', True))


def needs_embedder(factory: PlannerFactory) -> bool:
    """Tell whether a planner only works with a Body that matches by embedding."""
    return bool(getattr(factory, 'needs_embedder', False))


def plays_in(factory: PlannerFactory) -> frozenset[str]:
    """Return the kinds of worlds that a planner plays in, each the `domain` of its scenes."""
    return frozenset(getattr(factory, 'plays_in', EVERYWHERE))


class _WithOptions:
    """A planner's factory with options chosen; in all else it is that factory."""

    def __init__(self, factory: PlannerFactory, chosen: Mapping[str, str]):
        self._factory = factory
        self._chosen = dict(chosen)

    def __call__(self, brain: ChatModel, body: Body, *, k: int) -> Planner:
        return cast(Callable[..., Planner], self._factory)(brain, body, k=k, **self._chosen)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._factory, name)


def _read_options(name: str, text: str, known: Mapping[str, tuple[str, ...]]) -> Mapping[str, str]:
    chosen: dict[str, str] = {}
    for item in text.split(','):
        key, equals, value = (part.strip() for part in item.partition('='))
        if not key or not equals or key in chosen:
            raise ConfigError(_how_to_write(name, item, known))
        if key not in known:
            raise UnknownNameError(f'option of {name}', key, known)
        if value not in known[key]:
            raise UnknownNameError(f'value of the option {key} of {name}', value, known[key])
        chosen[key] = value
    return chosen


def _refuse_excluding(
    name: str, chosen: Mapping[str, str], excluding: Sequence[Mapping[str, str]]
) -> None:
    """Refuse options of which one makes nothing of another, where somebody asks for both."""
    for group in excluding:
        if all(chosen.get(key) == value for key, value in group.items()):
            asked = [f'{key}={value}' for key, value in group.items()]
            raise ConfigError(
                f'{" and ".join(asked)} exclude each other in {name}. Leave one out, as in '
                f'`{name}:{asked[-1]}`.'
            )


def _how_to_write(name: str, item: str, known: Mapping[str, tuple[str, ...]]) -> str:
    if not known:
        return f'The planner {name} has no options; write just {name}.'
    key, values = next(iter(known.items()))
    listed = '; '.join(f'{option}={"|".join(values)}' for option, values in known.items())
    return (
        f'{item[:80]!r} is no option of {name}, or is there twice. Write each once, with commas '
        f'between them, as in `{name}:{key}={values[-1]}`. Known: {listed}.'
    )


def _load(point: EntryPoint) -> PlannerFactory:
    rivals = {item.value: item for item in _installed() if item.name == point.name}
    if len(rivals) > 1:
        brought = ' and '.join(f'{value} of {_package(item)}' for value, item in rivals.items())
        raise ConfigError(
            f'Two planners are named {point.name}: {brought}. Rename one in its package, or '
            'uninstall that, or take another planner.'
        )
    load: Callable[[], object] = point.load
    try:
        factory = load()
    except Exception as error:  # whatever the module of another package does when imported
        raise ConfigError(
            f'The planner {point.name} is installed, but {point.value} cannot be imported '
            f'({type(error).__name__}: {error}). Mend or reinstall the package that brings it, or '
            'take another planner.'
        ) from error
    fault = fault_of(factory, EVERYWHERE)
    if fault:
        raise ConfigError(
            f'The planner {point.name} is installed, but {point.value} is no planner: {fault}. '
            'docs/writing-a-planner.md shows one. Mend the package that brings it, or take '
            'another planner.'
        )
    return cast(PlannerFactory, factory)


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else 'no package'


def _points() -> dict[str, EntryPoint]:
    return {point.name: point for point in _installed()}


@cache
def _installed() -> tuple[EntryPoint, ...]:
    # To read the lists of all packages takes longer than some episodes.
    return tuple(entry_points(group=GROUP))
