"""
Demonstrations: household goals with a plan that reaches them, as examples in prompts.

Each is an entry of `config/demonstrations/household.yaml`:

    - goal: 'on_milk_kitchentable: 1'           predicates, or a plain sentence
      things: [milk(id:21) inside fridge(id:5), fridge(id:5) inside kitchen(id:1)]
      states: {fridge(id:5): closed}
      plan: |                                   the expected reply, with thoughts
        # Sub-goal thought: fetch the milk
        # Rule thought: the fridge is closed, so it is opened first
        walk('fridge(id:5)')
        ...
        # done

Source: Zhang et al., FLTRNN, section on short-term memory: the three of them whose goals are
nearest to the sub-goal, by the cosine of their embeddings.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bbllm.core.errors import BbllmError, ConfigError
from bbllm.core.naming import class_of
from bbllm.core.paths import config_dir
from bbllm.core.protocols import Embedder
from bbllm.planners.common.goal_predicates import goal_sentence, parse_goal
from bbllm.planners.common.matching import Similarity
from bbllm.planners.fltrnn.context_selection import memory_text
from bbllm.planners.fltrnn.grammar import parse_calls, parse_thing, shown
from bbllm.planners.fltrnn.memory_graph import ARITY

DEMONSTRATIONS = 3
"""Number of demonstrations in a prompt, as in the paper."""
RELATIONS = ('inside', 'on', 'held')
RULE_THOUGHT = '# Rule thought:'
"""Beginning of a line with the rule that the next calls obey; `rule_cot=no` omits them."""


class DemonstrationError(ConfigError):
    """A file of demonstrations has a fault; names the entry and an accepted form."""


class _Entry(BaseModel):
    model_config = ConfigDict(extra='forbid', frozen=True)

    goal: str = Field(min_length=1, max_length=500)
    things: tuple[str, ...]
    states: dict[str, str | bool] = {}
    """YAML parses `off` as a boolean."""
    plan: str = Field(min_length=1)


class _File(BaseModel):
    model_config = ConfigDict(extra='forbid', frozen=True)

    demonstrations: tuple[_Entry, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A goal with its plan."""

    goal: str
    """Predicates or a sentence."""
    things: tuple[tuple[str, str, str], ...]
    """(object, `inside`, `on` or `held`, its place), by the names of scenes."""
    states: Mapping[str, tuple[str, ...]]
    """States of objects, by the names of scenes."""
    plan: tuple[str, ...]
    """Its lines."""

    @property
    def memory(self) -> str:
        return memory_text(self.things, self.states)

    @property
    def in_words(self) -> Demonstration:
        """The demonstration with its goal as a sentence."""
        names = (name for item, _, place in self.things for name in (item, place))
        predicates = parse_goal(self.goal, {class_of(name) for name in names})
        return replace(self, goal=goal_sentence(predicates)) if predicates else self

    def lines(self, *, rule_thoughts: bool) -> str:
        """Return the plan as the body of a function, with or without the rules' thoughts."""
        kept = [x for x in self.plan if rule_thoughts or not x.startswith(RULE_THOUGHT)]
        return '\n'.join(f'    {line}' for line in kept)


@cache
def household_demonstrations() -> tuple[Demonstration, ...]:
    """Return the demonstrations of the project; raise ConfigError if they cannot be read."""
    return read_demonstrations(config_dir() / 'demonstrations' / 'household.yaml')


def read_demonstrations(path: Path) -> tuple[Demonstration, ...]:
    """Read a file; raise DemonstrationError for a fault, also for unknown actions and objects."""
    try:
        data = _File.model_validate(yaml.safe_load(path.read_text('utf-8')))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise DemonstrationError(f'{path} cannot be read: {error}') from error
    except ValidationError as error:
        first = error.errors()[0]
        where = '.'.join(map(str, first['loc'])) or 'the file'
        raise DemonstrationError(
            f'{path}: {where}: {first["msg"]}. Wanted is `demonstrations:`, a list of goal, '
            'things, states and plan.'
        ) from error
    return tuple(_demonstration(entry, path) for entry in data.demonstrations)


def chooser(
    how: Literal['similar', 'random', 'fixed'],
    embedder: Embedder,
    rng: Random,
    among: Sequence[Demonstration] | None = None,
) -> Callable[[str], Sequence[Demonstration]]:
    """Return a function that chooses the demonstrations for a goal: of equals, the first."""
    among = household_demonstrations() if among is None else among
    if how == 'random':
        return lambda _: rng.sample(among, min(DEMONSTRATIONS, len(among)))
    if how == 'fixed':
        return lambda _: among[:DEMONSTRATIONS]
    similarity = Similarity(embedder)

    def similar(goal: str) -> Sequence[Demonstration]:
        near = similarity.of(goal, [item.goal for item in among])
        return sorted(among, key=lambda item: -near[item.goal])[:DEMONSTRATIONS]

    return similar


def _demonstration(entry: _Entry, path: Path) -> Demonstration:
    where = f'{path}: the demonstration {entry.goal[:60]!r}'
    things = tuple(_placed(text, where) for text in entry.things)
    states = {_thing(text, where): _words(how) for text, how in entry.states.items()}
    try:
        calls = parse_calls(entry.plan)
    except BbllmError as error:
        raise DemonstrationError(f'{where} has no plan: {error}') from error
    for line in calls.discarded:
        raise DemonstrationError(f'{where} has the line {line.text[:80]!r}: {line.why}')
    named = {name for thing, _, place in things for name in (thing, place)} | set(states)
    for call in calls.calls:
        if ARITY.get(call.skill) != len(call.args):
            near = difflib.get_close_matches(call.skill, ARITY, n=1, cutoff=0.0)
            raise DemonstrationError(
                f'{where} calls {call.skill}({len(call.args)} things), which is no action. Did '
                f'you mean {near[0]}({ARITY[near[0]]})? Known: {", ".join(ARITY)}.'
            )
        for name in call.args:
            if name not in named:
                near = difflib.get_close_matches(name, sorted(named), n=1, cutoff=0.0)
                raise DemonstrationError(
                    f'{where} uses {shown(name)}, of which its things do not tell. Did you mean '
                    f'{shown(near[0]) if near else "to list its things"}?'
                )
    plan = tuple(line.strip() for line in entry.plan.splitlines() if line.strip())
    return Demonstration(entry.goal, things, states, plan)


def _placed(text: str, where: str) -> tuple[str, str, str]:
    match text.split():
        case [thing, relation, place] if relation in RELATIONS:
            return _thing(thing, where), relation, _thing(place, where)
    raise DemonstrationError(
        f'{where} places {text[:80]!r}; it is written `milk(id:21) inside fridge(id:5)`, with '
        f'one of {", ".join(RELATIONS)}.'
    )


def _words(how: str | bool) -> tuple[str, ...]:
    return tuple(how.split()) if isinstance(how, str) else ('on' if how else 'off',)


def _thing(text: str, where: str) -> str:
    name = parse_thing(text)
    if name is None:
        raise DemonstrationError(f'{where} names {text[:60]!r}; a thing is written `milk(id:21)`.')
    return name
