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

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Annotated, Literal

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from bbllm.core.errors import BbllmError, ConfigError
from bbllm.core.naming import class_of
from bbllm.core.paths import config_dir
from bbllm.core.protocols import Embedder
from bbllm.planners.common.goal_predicates import goal_sentence, parse_goal
from bbllm.planners.common.matching import Similarity
from bbllm.planners.fltrnn.context_selection import memory_text
from bbllm.planners.fltrnn.grammar import parse_calls, parse_thing
from bbllm.planners.fltrnn.memory_graph import ARITY

DEMONSTRATIONS = 3
"""Number of demonstrations in a prompt, as in the paper."""
RELATIONS = ('inside', 'on', 'held')
RULE_THOUGHT = '# Rule thought:'
"""Beginning of a line with the rule that the next calls obey; `rule_cot=no` omits them."""


def _thing(text: str) -> str:
    if (name := parse_thing(text)) is None:
        raise ValueError(f'{text!r} is no thing; one is written `milk(id:21)`')
    return name


def _placed(text: object) -> tuple[str, str, str]:
    match str(text).split():
        case [thing, relation, place] if relation in RELATIONS:
            return _thing(thing), relation, _thing(place)
    raise ValueError(f'{text!r} is no place; one is written `milk(id:21) inside fridge(id:5)`')


def _states(text: object) -> tuple[str, ...]:
    # YAML parses `off` as a boolean.
    return tuple(text.split()) if isinstance(text, str) else ('on' if text else 'off',)


def _plan(text: object) -> tuple[str, ...]:
    return tuple(line.strip() for line in str(text).splitlines() if line.strip())


class Demonstration(BaseModel):
    """A goal with its plan; objects have the names of scenes."""

    model_config = ConfigDict(extra='forbid', frozen=True)

    goal: str = Field(min_length=1, max_length=500)
    """Predicates or a sentence."""
    things: tuple[Annotated[tuple[str, str, str], BeforeValidator(_placed)], ...]
    """(object, `inside`, `on` or `held`, its place)."""
    states: dict[
        Annotated[str, AfterValidator(_thing)],
        Annotated[tuple[str, ...], BeforeValidator(_states)],
    ] = {}
    plan: Annotated[tuple[str, ...], BeforeValidator(_plan)]
    """Its lines."""

    @model_validator(mode='after')
    def _check_calls(self) -> Demonstration:
        try:
            plan = parse_calls('\n'.join(self.plan))
        except BbllmError as error:
            raise ValueError(f'it has no plan: {error}') from error
        named = {name for thing, _, place in self.things for name in (thing, place)}
        named.update(self.states)
        wrong = [line.text for line in plan.discarded] + [
            str(call)
            for call in plan.calls
            if ARITY.get(call.skill) != len(call.args) or not named.issuperset(call.args)
        ]
        if wrong:
            raise ValueError(
                f'{wrong[0]!r} is no action on its things; those are {", ".join(sorted(named))}, '
                f'and the actions with their numbers of things {ARITY}'
            )
        return self

    @property
    def memory(self) -> str:
        return memory_text(self.things, self.states)

    @property
    def in_words(self) -> Demonstration:
        """The demonstration with its goal as a sentence."""
        names = (name for item, _, place in self.things for name in (item, place))
        predicates = parse_goal(self.goal, {class_of(name) for name in names})
        goal = goal_sentence(predicates) if predicates else self.goal
        return self.model_copy(update={'goal': goal})

    def lines(self, *, rule_thoughts: bool) -> str:
        """Return the plan as the body of a function, with or without the rules' thoughts."""
        kept = [x for x in self.plan if rule_thoughts or not x.startswith(RULE_THOUGHT)]
        return '\n'.join(f'    {line}' for line in kept)


class _File(BaseModel):
    model_config = ConfigDict(extra='forbid')

    demonstrations: tuple[Demonstration, ...] = Field(min_length=1)


@cache
def household_demonstrations() -> tuple[Demonstration, ...]:
    """Return the demonstrations of the project; raise ConfigError if they cannot be read."""
    return read_demonstrations(config_dir() / 'demonstrations' / 'household.yaml')


def read_demonstrations(path: Path) -> tuple[Demonstration, ...]:
    """Read a file; raise ConfigError for a fault, also for unknown actions and objects."""
    try:
        return _File.model_validate(yaml.safe_load(path.read_text('utf-8'))).demonstrations
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(
            f'{path} cannot be read: {error}\nWanted is `demonstrations:`, a list of goal, '
            'things, states and plan.'
        ) from error


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
