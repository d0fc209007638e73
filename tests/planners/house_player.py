"""Models that answer FLTRNN and its baselines in the house `studio`, and the house to do it in."""

import re
from collections.abc import Callable, Sequence

from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Episode, EventKind, Limits
from bbllm.core.naming import class_of
from bbllm.core.protocols import ModelRequest, Planner
from bbllm.core.types import Outcome, SkillCall, Task
from bbllm.testing import ScriptedModel
from bbllm.worlds.household.visibility import FULL, Visibility
from bbllm.worlds.household.world import HouseholdWorld
from bbllm_planners.fltrnn.grammar import shown
from bbllm_planners.fltrnn.prompting import CELL, SPLIT
from tests.planners.chosen import chosen, opening

Plan = Callable[[str], str]
"""Writes a plan for a prompt."""


class Studio(HouseholdWorld):
    """The house `studio`; every call is kept in `calls`."""

    def __init__(self, visibility: Visibility = FULL):
        super().__init__('studio', visibility=visibility)
        self.calls: list[str] = []

    def execute(self, call: SkillCall) -> Outcome:
        self.calls.append(str(call))
        return super().execute(call)

    def has(self, subject: str, predicate: str, object: str) -> bool:
        """Tell whether it is so of any things of these classes; a state is its own class."""
        return any(
            (class_of(fact.subject), fact.predicate, class_of(fact.object))
            == (subject, predicate, object)
            for fact in self.observe().facts
        )


def id_of(word: str, world: HouseholdWorld | None = None) -> str:
    """Return the first thing of a class in the studio, as prompts write it."""
    names = (world or Studio()).observe().names
    return shown(next(name for name in names if class_of(name) == word))


def call(verb: str, *words: str) -> str:
    """Write a call on the first things of some classes."""
    return f'{verb}({", ".join(repr(id_of(word)) for word in words)})'


def bring(obj: str, place: str, *, verb: str = 'putback') -> list[str]:
    """Write the calls that take a thing which is within reach, and put it somewhere."""
    lines = [call('walk', obj), call('grab', obj), call('walk', place)]
    return [*lines, call(verb, obj, place)]


def player(sub_goals: str, plan: Plan) -> ScriptedModel:
    """Return a model that splits any goal as told, and plans by a function of the prompt."""

    def answer(request: ModelRequest) -> str:
        splits = opening(request).startswith(SPLIT)
        return sub_goals if splits else plan(request.prompt)

    return ScriptedModel([answer] * 40)


def cells(model: ScriptedModel) -> list[str]:
    """Return the prompts for plans of sub-goals, in order."""
    prompts = [opening(request) for request in model.requests]
    return [prompt for prompt in prompts if prompt.startswith(CELL)]


def asked(prompt: str) -> str:
    """Return the sub-goal that a prompt asks a plan for."""
    return re.findall(r'^# The goal: (.*)$', prompt, re.MULTILINE)[-1]


def memory_of(prompt: str) -> str:
    """Return what the prompt tells of things and states."""
    return re.findall(r'^# Where the key things are, and how: (.*)$', prompt, re.MULTILINE)[-1]


def play(
    planner: Callable[..., Planner],
    model: ScriptedModel,
    task: str,
    world: HouseholdWorld,
    *,
    name: str = 't',
    **options: str,
) -> Episode:
    """Play an episode."""
    run = EpisodeRun(
        Task(name, task), planner='p', brain='b', body='b', limits=Limits(allow_circles=True)
    )
    varied = {'options': chosen('fltrnn', **options)} if options else {}
    return run.execute(planner(model, None, **varied), world)


def discarded(episode: Episode) -> Sequence[str]:
    """Return what was left out of replies."""
    return [str(event.data.text) for event in episode.events if event.kind is EventKind.DISCARDED]


def lines(*parts: str) -> str:
    """A plan of FLTRNN, with the line that says that it ends."""
    return '\n'.join([*parts, '# done'])
