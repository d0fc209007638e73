"""
Planners, and models that are not servers, by name, from entry points of installed packages.

A name may go on with options of that planner: `prog_prompt:check=graph,grounding=nearest`. The
whole of it is the planner's name in settings, journals and reports.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from typing import Any, cast, get_args, get_type_hints

from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.plugins import Plugin, installed
from bbllm.core.protocols import Body, ChatModel, Planner
from bbllm.core.text import error_text

GROUP = 'bbllm.planners'
EVERYWHERE = frozenset({'tabletop', 'household'})
"""The kinds of worlds that there are, each the `domain` of its scenes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerSpec:
    """
    What an entry point of the group `bbllm.planners` names: how to build a planner, and its needs.

    An entry point may also name a class or a function; it then has the defaults of these fields.
    """

    factory: Callable[..., Planner]
    """The class or function that builds the planner: called as `factory(brain, body, k=K)`, with
    `options=...` if there are options."""
    options: Any = None
    """
    What can be varied, with the values in force: a frozen dataclass whose fields are of type
    `bool` (written `yes` and `no`), an `Enum` of words or a `Literal`. `name:check=graph` builds
    the planner with another value of `check`.
    """
    uses_feedback: bool = True
    """Whether the number of feedback loops matters; if not, a bench runs each case once."""
    asks_body: bool = True
    """Whether the planner ever asks its Body."""
    uses_force: bool = False
    """Whether prompts contain the force on the gripper; a bench then measures it."""
    reads_experience: bool = False
    """Whether prompts contain what worked in similar situations, `Task.worked`."""
    domains: frozenset[str] = EVERYWHERE
    """The kinds of worlds that the planner supports, each the `domain` of its scenes."""

    def build(self, brain: ChatModel, body: Body, *, k: int) -> Planner:
        """Build the planner with its models and its number of feedback loops."""
        if self.options is None:
            return self.factory(brain, body, k=k)
        return self.factory(brain, body, k=k, options=self.options)

    @property
    def choices(self) -> Mapping[str, tuple[str, ...]]:
        """The values of each option as the command line spells them, the default first."""
        return {name: tuple(values) for name, values in _values_of(self.options).items()}


def planner_names() -> list[str]:
    """Return the names of all installed planners, sorted."""
    return sorted(_points())


def plain_name(spec: str) -> str:
    """Return a planner's name without its options: `prog_prompt` of `prog_prompt:check=graph`."""
    return spec.partition(':')[0]


def load_planner(spec: str) -> PlannerSpec:
    """
    Return the spec of a planner, with the options of `name:option=value,option=value`.

    Raises:
        UnknownNameError: No such planner is installed, or it has no such option, or that has no
            such value; names the nearest.
        ConfigError: The options are malformed or exclude each other, or the installed object
            cannot be imported, is no planner or is one of two with that name.
    """
    name, colon, text = spec.partition(':')
    points = _points()
    if name not in points:
        raise UnknownNameError('planner', name, points)
    found = _load(points[name])
    if not colon:
        return found
    chosen = _read_options(name, text, found.choices)
    assert found.options is not None  # else no option could be read
    values = _values_of(found.options)
    new = {key: values[key][word] for key, word in chosen.items()}
    return replace(found, options=replace(found.options, **new))


def uses_force(planner: object) -> bool:
    """Return whether prompts of a planner, or of an installed name, contain forces."""
    if isinstance(planner, str):
        return plain_name(planner) in _points() and load_planner(planner).uses_force
    return isinstance(planner, PlannerSpec) and planner.uses_force


def load_planners() -> tuple[Mapping[str, PlannerSpec], Mapping[str, ConfigError]]:
    """Return the specs of planners, and why some cannot be loaded, sorted by their names."""
    specs: dict[str, PlannerSpec] = {}
    faults: dict[str, ConfigError] = {}
    for name, point in sorted(_points().items()):
        try:
            specs[name] = _load(point)
        except ConfigError as error:
            faults[name] = error
    return specs, faults


def _values_of(options: Any) -> dict[str, dict[str, object]]:
    """Return the values of each option by how they are spelled, the default first."""
    if options is None:
        return {}
    types = get_type_hints(type(options))
    found: dict[str, dict[str, object]] = {}
    for field in fields(options):
        values = _spelled(types[field.name])
        default = field.default
        found[field.name] = dict(sorted(values.items(), key=lambda item: item[1] != default))
    return found


def _spelled(kind: Any) -> dict[str, object]:
    if kind is bool:
        return {'yes': True, 'no': False}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {str(member.value): member for member in kind}
    return {str(value): value for value in get_args(kind)}


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


def _how_to_write(name: str, item: str, known: Mapping[str, tuple[str, ...]]) -> str:
    if not known:
        return f'The planner {name} has no options; write just {name}.'
    key, values = next(iter(known.items()))
    listed = '; '.join(f'{option}={"|".join(values)}' for option, values in known.items())
    return (
        f'{item[:80]!r} is no option of {name}, or is there twice. Write each once, with commas '
        f'between them, as in `{name}:{key}={values[-1]}`. Known: {listed}.'
    )


def _load(point: Plugin) -> PlannerSpec:
    rivals = {item.value: item for item in installed(GROUP) if item.name == point.name}
    if len(rivals) > 1:
        brought = ' and '.join(
            f'{value} of {item.package or "no package"}' for value, item in rivals.items()
        )
        raise ConfigError(
            f'Two planners are named {point.name}: {brought}. Rename one in its package, or '
            'uninstall that, or take another planner.'
        )
    try:
        found: object = point.load()
    except Exception as error:  # whatever the module of another package does when imported
        if getattr(error, 'name', None) == (package := point.value.partition('.')[0]):
            raise ConfigError(
                f'The planner {point.name} is in the package {package}, which is not installed. '
                'Install it, or take another planner.'
            ) from error
        raise ConfigError(
            f'The planner {point.name} is installed, but {point.value} cannot be imported '
            f'({error_text(error)}). Mend or reinstall the package that brings it, or '
            'take another planner.'
        ) from error
    spec = found if isinstance(found, PlannerSpec) else PlannerSpec(factory=cast(Any, found))
    if fault := fault_of(spec):
        raise ConfigError(
            f'The planner {point.name} is installed, but {point.value} is no planner: {fault}. '
            'docs/writing-a-planner.md shows one. Mend the package that brings it, or take '
            'another planner.'
        )
    return spec


def fault_of(spec: PlannerSpec) -> str:
    """
    Return why a spec builds no planner, '' if nothing is wrong with it.

    The factory is not called: only a class shows whether the result has `run`.
    """
    factory: object = spec.factory
    if not callable(factory):
        return f'it is {type(factory).__name__} and no class, function or PlannerSpec'
    if unknown := sorted(spec.domains - EVERYWHERE):
        return f'it plays in {unknown[0]!r}; known are {", ".join(sorted(EVERYWHERE))}'
    if spec.options is not None and not is_dataclass(spec.options):
        return f'its options are {spec.options!r:.80} and not a dataclass'
    if few := [name for name, values in spec.choices.items() if len(values) < 2]:
        return f'its option {few[0]!r} is no bool, Enum or Literal with two values or more'
    if isinstance(factory, type) and not callable(getattr(factory, 'run', None)):
        return 'it has no method run(task, world, context)'
    named = {} if spec.options is None else {'options': spec.options}
    try:
        inspect.signature(factory).bind(None, None, k=0, **named)
    except TypeError as error:
        also = ''.join(f', {name}=...' for name in named)
        return f'it cannot be called as planner(brain, body, k=3{also}): {error}'
    except ValueError:
        return ''  # some builtins have no signature
    return ''


def _points() -> dict[str, Plugin]:
    return {point.name: point for point in installed(GROUP)}


MODELS = 'bbllm.models'
BRAIN_AND_BODY = ('brain', 'body')


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProvider:
    """What an entry point of the group `bbllm.models` names."""

    build: Callable[[Mapping[str, object] | None], ChatModel]
    """Return the model; takes the goal that a bench hands over, None where there is none."""
    remark: str
    """What it is, in words that follow its name: `is a rule-based model, ...`."""
    short: str
    """The same in a few words for brackets."""
    roles: Sequence[str] = BRAIN_AND_BODY
    fallback: bool = False
    """Whether `auto` takes it where no server is set."""
    needs_goal: bool = False
    """Whether a bench has to hand it the goal of a case."""


def provider_names() -> tuple[str, ...]:
    """Return the names of all installed providers, sorted."""
    return tuple(sorted(point.name for point in installed(MODELS)))


@cache
def find_provider(name: str) -> ModelProvider | None:
    """Return the provider of that name, None if there is none."""
    found: Iterator[ModelProvider] = (p.load() for p in installed(MODELS) if p.name == name)
    return next(found, None)


def fallback_name() -> str:
    """Return the name of the provider that `auto` takes where no server is set."""
    return next(name for name in provider_names() if (p := find_provider(name)) and p.fallback)


def needs_goal(name: str) -> bool:
    """Whether a name is that of a provider that has to be handed the goal of a case."""
    provider = find_provider(name)
    return provider is not None and provider.needs_goal


def with_remark(name: str) -> str:
    """Return the name of a model, with what it is where it is no language model."""
    provider = find_provider(name)
    return f'{name} ({provider.short})' if provider is not None else name
