"""
Demonstrations: goals in households with a plan that reaches them, shown to a model as examples.

`config/demonstrations/household.yaml` has them, each as

    - goal: 'on_milk_kitchentable: 1'           predicates, or a plain sentence
      things: [milk(id:21) inside fridge(id:5), fridge(id:5) inside kitchen(id:1)]
      states: {fridge(id:5): closed}
      plan: |                                   what the model is to write, thoughts included
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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bbllm.core.errors import BbllmError, ConfigError
from bbllm.core.paths import config_dir
from bbllm.core.protocols import Embedder
from bbllm.planners.common.similarity import Similarity
from bbllm.planners.fltrnn.context_selection import memory_text
from bbllm.planners.fltrnn.grammar import parse_calls, parse_thing, shown
from bbllm.planners.fltrnn.memory_graph import ARITY

RELATIONS = ('inside', 'on', 'held')
RULE_THOUGHT = '# Rule thought:'
"""How a line begins that says which rule the next calls obey; `rule_cot=no` leaves them out."""


class DemonstrationError(ConfigError):
    """A file of demonstrations that cannot be shown; says which one, and what would do."""


class _Entry(BaseModel):
    model_config = ConfigDict(extra='forbid', frozen=True)

    goal: str = Field(min_length=1, max_length=500)
    things: tuple[str, ...]
    states: dict[str, str | bool] = {}
    """YAML reads `off` as a truth value."""
    plan: str = Field(min_length=1)


class _File(BaseModel):
    model_config = ConfigDict(extra='forbid', frozen=True)

    demonstrations: tuple[_Entry, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Demonstration:
    """One goal and how it is reached."""

    goal: str
    """Predicates or a sentence, as it is shown."""
    things: tuple[tuple[str, str, str], ...]
    """(thing, `inside`, `on` or `held`, its place), in the names of scenes."""
    states: Mapping[str, tuple[str, ...]]
    """Of things, in the names of scenes."""
    plan: tuple[str, ...]
    """Its lines."""

    @property
    def memory(self) -> str:
        """Where its things are and how, as prompts write it."""
        return memory_text(self.things, self.states)

    def lines(self, *, rule_thoughts: bool) -> str:
        """Return the plan as the body of a function, with or without the rules' thoughts."""
        kept = [x for x in self.plan if rule_thoughts or not x.startswith(RULE_THOUGHT)]
        return '\n'.join(f'    {line}' for line in kept)


@cache
def household_demonstrations() -> tuple[Demonstration, ...]:
    """
    Return those that come with the project.

    Raises:
        ConfigError: This installation has none, or they cannot be read.
    """
    return read_demonstrations(config_dir() / 'demonstrations' / 'household.yaml')


def read_demonstrations(path: Path) -> tuple[Demonstration, ...]:
    """
    Read a file of demonstrations.

    Raises:
        DemonstrationError: It cannot be read, or one of its plans calls an action that there is
            not or a thing that it does not tell of; names the nearest.
    """
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


class Chooser:
    """
    Chooses the demonstrations that a prompt shows.

    Args:
        among: All there are.
        embedder: What makes vectors of goals.
    """

    def __init__(self, among: Sequence[Demonstration], embedder: Embedder):
        self._among = tuple(among)
        self._nearness = Similarity(embedder)

    def similar(self, goal: str, n: int) -> list[Demonstration]:
        """
        Return those whose goals are nearest to a goal, the nearest first.

        Raises:
            ModelError: The embedder could not be reached.
        """
        near = self._nearness.of(goal, [item.goal for item in self._among])
        # Sorted is stable: of equals, the first in the file.
        return sorted(self._among, key=lambda item: -near[item.goal])[:n]

    def random(self, rng: Random, n: int) -> list[Demonstration]:
        """Return any of them."""
        return rng.sample(self._among, min(n, len(self._among)))

    def fixed(self, n: int) -> list[Demonstration]:
        """Return the first of the file."""
        return list(self._among[:n])


def _demonstration(entry: _Entry, path: Path) -> Demonstration:
    where = f'{path}: the demonstration {entry.goal[:60]!r}'
    things = tuple(_placed(text, where) for text in entry.things)
    states = {_thing(text, where): _words(said) for text, said in entry.states.items()}
    try:
        calls = parse_calls(entry.plan)
    except BbllmError as error:
        raise DemonstrationError(f'{where} has no plan: {error}') from error
    for text, why in calls.left_out:
        raise DemonstrationError(f'{where} has the line {text[:80]!r}: {why}')
    told = {name for thing, _, place in things for name in (thing, place)} | set(states)
    for call in calls.calls:
        if ARITY.get(call.skill) != len(call.args):
            near = difflib.get_close_matches(call.skill, ARITY, n=1, cutoff=0.0)
            raise DemonstrationError(
                f'{where} calls {call.skill}({len(call.args)} things), which is no action. Did '
                f'you mean {near[0]}({ARITY[near[0]]})? Known: {", ".join(ARITY)}.'
            )
        for name in call.args:
            if name not in told:
                near = difflib.get_close_matches(name, sorted(told), n=1, cutoff=0.0)
                raise DemonstrationError(
                    f'{where} uses {shown(name)}, of which its things do not tell. Did you mean '
                    f'{shown(near[0]) if near else "to list its things"}?'
                )
    plan = tuple(line.strip() for line in entry.plan.splitlines() if line.strip())
    return Demonstration(entry.goal, things, states, plan)


def _placed(text: str, where: str) -> tuple[str, str, str]:
    thing, relation, place = (*text.split(), '', '', '')[:3]
    if len(text.split()) != 3 or relation not in RELATIONS:
        raise DemonstrationError(
            f'{where} places {text[:80]!r}; it is written `milk(id:21) inside fridge(id:5)`, with '
            f'one of {", ".join(RELATIONS)}.'
        )
    return _thing(thing, where), relation, _thing(place, where)


def _words(said: str | bool) -> tuple[str, ...]:
    return tuple(said.split()) if isinstance(said, str) else ('on' if said else 'off',)


def _thing(text: str, where: str) -> str:
    name = parse_thing(text)
    if name is None:
        raise DemonstrationError(f'{where} names {text[:60]!r}; a thing is written `milk(id:21)`.')
    return name
