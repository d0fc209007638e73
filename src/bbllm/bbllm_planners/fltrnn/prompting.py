"""
The prompts of FLTRNN and of its two baselines, and the demonstrations in them.

Source: Zhang et al., FLTRNN, listings 1, 2, 7 and 8, completed by the published program: the parts
and their order, in our own words. A demonstration is a goal with a plan that reaches it, an entry
of `config/demonstrations/household.yaml`. A prompt shows the three whose goals are nearest to the
sub-goal, by the cosine of their embeddings (section on short-term memory).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Annotated, Literal

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from bbllm import Scene, errors
from bbllm.planning import (
    Embedder,
    as_data,
    class_of,
    classes,
    config_dir,
    declared,
    further_skills,
    one_line,
    render,
)
from bbllm_planners.fltrnn.context_selection import is_useful, memory_text
from bbllm_planners.fltrnn.grammar import parse_calls, parse_object
from bbllm_planners.fltrnn.memory_graph import ARITY, MemoryGraph
from bbllm_planners.goal_predicates import (
    goal_sentence,
    goal_text,
    parse_goal,
)
from bbllm_planners.similarity import Similarity

DEMONSTRATIONS = 3
"""Number of demonstrations in a prompt, as in the paper."""
RELATIONS = ('inside', 'on', 'held')
RULE_THOUGHT = '# Rule thought:'
"""Beginning of a line with the rule that the next calls obey; `rule_cot=no` omits them."""


def _object(text: str) -> str:
    if (name := parse_object(text)) is None:
        raise ValueError(f'{text!r} is no object; one is written `milk(id:21)`')
    return name


def _placed(text: object) -> tuple[str, str, str]:
    match str(text).split():
        case [item, relation, place] if relation in RELATIONS:
            return _object(item), relation, _object(place)
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
        Annotated[str, AfterValidator(_object)],
        Annotated[tuple[str, ...], BeforeValidator(_states)],
    ] = {}
    plan: Annotated[tuple[str, ...], BeforeValidator(_plan)]
    """Its lines."""

    @model_validator(mode='after')
    def _check_calls(self) -> Demonstration:
        try:
            plan = parse_calls('\n'.join(self.plan))
        except errors.BbllmError as error:
            raise ValueError(f'it has no plan: {error}') from error
        named = {name for item, _, place in self.things for name in (item, place)}
        named.update(self.states)
        wrong = [line.text for line in plan.discarded] + [
            str(call)
            for call in plan.calls
            if ARITY.get(call.skill) != len(call.args) or not named.issuperset(call.args)
        ]
        if wrong:
            raise ValueError(
                f'{wrong[0]!r} is no action on its objects; those are {", ".join(sorted(named))}, '
                f'and the actions with their numbers of objects {ARITY}'
            )
        return self

    @property
    def in_words(self) -> Demonstration:
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
    return read_demonstrations(config_dir() / 'demonstrations' / 'household.yaml')


def read_demonstrations(path: Path) -> tuple[Demonstration, ...]:
    """Read a file; raise ConfigError for a fault, also for unknown actions and objects."""
    try:
        return _File.model_validate(yaml.safe_load(path.read_text('utf-8'))).demonstrations
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise errors.ConfigError(
            f'{path} cannot be read: {error}\nWanted is `demonstrations:`, a list of goal, '
            'things, states and plan.'
        ) from error


def chooser(
    how: Literal['similar', 'random', 'fixed'], embedder: Embedder, rng: Random
) -> Callable[[str], Sequence[Demonstration]]:
    """Return a function that chooses the demonstrations for a goal: of equals, the first."""
    among = household_demonstrations()
    if how == 'random':
        return lambda _: rng.sample(among, min(DEMONSTRATIONS, len(among)))
    if how == 'fixed':
        return lambda _: among[:DEMONSTRATIONS]
    similarity = Similarity(embedder)

    def similar(goal: str) -> Sequence[Demonstration]:
        near = similarity.of(goal, [item.goal for item in among])
        return sorted(among, key=lambda item: -near[item.goal])[:DEMONSTRATIONS]

    return similar


PACKAGE = 'bbllm_planners.fltrnn'
SPLIT = 'Split the goal of a task in a household into sub-goals, as the examples do.'
CELL = 'Write what a robot in a household does for one sub-goal, as the body of a function.'
WHOLE = 'Write what a robot in a household does for a whole task, as the body of a function.'
REASON = 'List the sub-tasks of a task in a household, as the examples do.'
ACT = 'Write what a robot in a household does for one sub-task, as the body of a function.'
"""First line of each prompt."""
MEMORY = '# Where the key things are, and how: '
GOAL = '# The goal: '
"""Beginnings of the two lines above each function."""
RULES = (
    'What is inside something closed can be taken only after that was opened; to use what is in '
    'another room, walk there first. Things of one class differ by their id.',
    'Only one thing may be held at a time, and what is open already must not be opened again.',
    'An appliance is switched on only while its door is closed.',
)
"""The paper's instructions, and as a third line a rule that its examples follow."""
REPLY = (
    'Write the body of the last function below, in the form of those before it: calls of what is '
    'imported, one a line, with things that are told of and their ids, and `# done` at the end.'
)
THINK = (
    'Before each part write `# Sub-goal thought: ...`, what it is for, and `# Rule thought: ...`, '
    'which rule its calls have to obey and how.'
)
NO_LOOPS = (
    'No loops, no branches. If it cannot be done, reply with the one line `cannot: ` and why.'
)


EXPLORE = (
    'Part of the house is not in sight. Where the goal needs what is not told of, write a plan '
    'that only looks: it walks into the rooms that are not seen yet and opens what is closed, the '
    'likely ones first and all if none is. It ends with `# done` too; you are asked again with '
    'what is seen then.'
)
CHECKED = 'After each plan the goal is checked, and you are asked again while it is not reached.'
ASKED_AGAIN = (
    'You are asked again after each plan: where nothing is left to do for the goal, reply with '
    '`# done` alone.'
)


@dataclass(frozen=True, slots=True)
class ShortTerm:
    """The short-term memory: the part of a prompt for one sub-goal."""

    sub_goal: str
    memory: str
    """Places and states of its objects."""
    demonstrations: Sequence[Demonstration]
    tried: str = ''
    """Why an earlier plan did not reach it; '' without one."""
    done: Sequence[str] = ()
    """The calls that were carried out for it."""
    checked: bool = False
    """Whether the memory graph decides when it is reached, and the model is asked until then."""
    confirmed: bool = False
    """Whether the model decides when it is reached, and is asked until then."""


@dataclass(frozen=True)
class FLTRNNPrompts:
    """Renders the prompts, with or without the chain of thought on rules, and a long memory."""

    rule_thoughts: bool = True
    long_memory: bool = True

    def split(self, goal: str, scene: Scene) -> str:
        predicates = parse_goal(goal, classes(scene))
        return render(
            PACKAGE,
            'split',
            opening=SPLIT,
            goal=_goal_line(goal, scene),
            words=goal_sentence(predicates) if predicates else '',
            classes=nameable(scene),
            whole=scene.whole,
        )

    def cell(
        self, scene: Scene, goal: str, completed: Sequence[str], short_term: ShortTerm
    ) -> str:
        """Return the prompt of a cell; goal and completed sub-goals are the long-term memory."""
        return self._plan(CELL, scene, short_term, goal, completed, long=self.long_memory)

    def whole(self, scene: Scene, short_term: ShortTerm) -> str:
        return self._plan(WHOLE, scene, short_term)

    def reason(self, goal: str, scene: Scene) -> str:
        return render(PACKAGE, 'reason', opening=REASON, goal=_goal_line(goal, scene))

    def act(self, scene: Scene, short_term: ShortTerm) -> str:
        return self._plan(ACT, scene, short_term)

    def _plan(
        self,
        opening: str,
        scene: Scene,
        short: ShortTerm,
        goal: str = '',
        completed: Sequence[str] = (),
        *,
        long: bool = False,
    ) -> str:
        instructions = [REPLY, *([THINK] if self.rule_thoughts else [])]
        instructions += [EXPLORE] if opening == CELL and not scene.whole else []
        instructions += [CHECKED] if short.checked else []
        instructions += [ASKED_AGAIN] if short.confirmed else []
        instructions.append(NO_LOOPS)
        if opening != CELL:
            # The baselines have no memory; their rules stand before the examples.
            opening = '\n'.join([opening, *RULES])
        examples = [
            {
                'goal': item.goal,
                'memory': memory_text(item.things, item.states),
                'body': item.lines(rule_thoughts=self.rule_thoughts),
            }
            # In a fixed order, so that prompts with common examples have a common beginning.
            for item in sorted(short.demonstrations, key=lambda item: item.goal)
        ]
        return render(
            PACKAGE,
            'plan',
            opening=opening,
            imports=imports(scene),
            long_memory=long,
            rules=RULES,
            goal=one_line(goal),
            completed=completed,
            examples=examples,
            instructions='\n'.join(instructions),
            tried=one_line(short.tried),
            done=short.done,
            memory=short.memory,
            sub_goal=one_line(short.sub_goal),
            example_head=_head,
        )


def nameable(scene: Scene) -> list[str]:
    """Return the rooms and the classes that planning prompts can show, sorted."""
    graph = MemoryGraph(scene)
    return sorted(
        {class_of(name) for name in graph.names if is_useful(graph, name)}
        | {class_of(name) for name in graph.rooms}
    )


def imports(scene: Scene) -> str:
    there = {skill.name: skill for skill in scene.skills}
    own = [there[name] for name in ARITY if name in there]
    return 'from actions import ' + ', '.join(map(declared, [*own, *further_skills(scene, ARITY)]))


def _head(memory: str, goal: str, *, delimited: bool = False) -> str:
    known = f'{MEMORY}{memory}'
    known = as_data(known, comment='# ') if delimited else known
    return f'{known}\n{GOAL}{goal}\ndef task():'


def _goal_line(goal: str, scene: Scene) -> str:
    predicates = parse_goal(goal, classes(scene))
    return goal_text(predicates) if predicates else one_line(goal)
