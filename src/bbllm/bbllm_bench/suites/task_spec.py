"""One task of a suite, as its file describes it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from bbllm.core.errors import ConfigError
from bbllm.files.yaml_files import FileRecord
from bbllm.scene.scene_file import Name
from bbllm.worlds.household.constraints import Constraint
from bbllm_bench.suites.benchmark import BenchmarkGoal, BenchmarkStart
from bbllm_bench.suites.goals import NEEDING, Goal, Layout, Needs
from bbllm_bench.suites.house_goals import HouseCondition, HouseGoal
from bbllm_bench.suites.person import Person
from bbllm_bench.suites.scene_recipe import PuzzleRecipe, Recipe

AnyGoal = Annotated[Goal | HouseGoal | BenchmarkGoal, Field(discriminator='kind')]
Instruction = Annotated[str, Field(min_length=3, max_length=2000)]
KNOWN_ONLY = frozenset({'label', 'split', 'least_steps'})
"""Fields that change no episode, and so count in no hash."""


class SuiteFileError(ConfigError):
    """A suite file that cannot be used; names the task and the field."""


class TaskSpec(FileRecord):
    """One task of a suite."""

    name: Name
    instruction: Instruction
    """All that a planner gets beside the scene."""
    difficulty: Literal['easy', 'medium', 'hard']
    least_loops: Annotated[int, Field(ge=0, le=20)]
    """Feedback loops that a planner spends that takes objects and places in the order listed."""
    goal: AnyGoal
    needs: Needs = 'none'
    """What has to be found out before acting, since no scene shows it."""
    label: Annotated[str, Field(pattern=r'^[A-Za-z0-9][A-Za-z0-9_.-]*$', max_length=12)] = ''
    """What a paper calls the task, as in T3; tables and reports show it before the name."""
    scene: Annotated[str, Field(min_length=1)] | None = None
    """Name of a scene, or path of a scene file from the suite file; the same in all trials."""
    generate: Recipe | None = None
    puzzle: PuzzleRecipe | None = None
    """Draws the table, the rest of the goal, and words for the braces of the instruction."""
    houses: Annotated[tuple[str, ...], Field(max_length=100)] = ()
    """Names of houses, or paths of house files from the suite file; trials take turns."""
    start: BenchmarkStart | None = None
    """Where a benchmark of others begins it."""
    at_first: tuple[HouseCondition, ...] = ()
    """How objects are in a house at the start of a trial, whatever its file has."""
    shuffled: bool = False
    """Whether each trial deals the places of `at_first` anew among its entries."""
    constraints: Annotated[tuple[Constraint, ...], Field(max_length=10)] = ()
    """What no scene shows and a step may fail by, see worlds.household.constraints."""
    start_seed: Annotated[int, Field(ge=0)] | None = None
    """Every trial of every run begins as this seed draws it; so `least_steps` is valid in all."""
    limit_steps: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """Calls of an episode of this task; where a run allows fewer, these are all."""
    split: Annotated[str, Field(pattern=r'^[a-z0-9_]*$', max_length=32)] = ''
    """To which part of a suite it belongs, for example `new_houses`."""
    least_steps: Annotated[int, Field(ge=1)] | None = None
    """Length of the shortest plan there is, where that is proven (docs/household.md)."""
    earlier: Annotated[tuple[Instruction, ...], Field(max_length=10)] = ()
    """What is asked for before, at the same table: an episode each, which is not judged."""
    person: Person | None = None
    """Who gives the task and answers questions; None where nobody is assumed."""

    @property
    def table_goal(self) -> Goal:
        assert not isinstance(self.goal, HouseGoal | BenchmarkGoal)  # the file was checked
        return self.goal

    @property
    def house_goal(self) -> HouseGoal:
        assert isinstance(self.goal, HouseGoal)  # the file was checked
        return self.goal

    @model_validator(mode='after')
    def _one_kind_of_table(self) -> TaskSpec:
        kinds = (self.scene, self.generate, self.puzzle, self.start)
        if bool(self.houses) + sum(kind is not None for kind in kinds) != 1:
            raise ValueError('give one of houses, scene (a fixed one), generate and puzzle')
        if (self.puzzle is not None) is not isinstance(self.goal, Layout):
            raise ValueError('a puzzle goes with the goal layout, and that with a puzzle')
        if (self.start is not None) is not isinstance(self.goal, BenchmarkGoal):
            raise ValueError(
                'a start of a benchmark goes with the goal benchmark, and that with one'
            )
        if bool(self.houses) is not isinstance(self.goal, HouseGoal):
            where = 'in houses' if self.houses else 'on a table'
            raise ValueError(
                f'the goal {self.goal.kind} cannot be that of a task {where}; houses go with the '
                'goals household and graph, scene and generate with all others'
            )
        only_in_houses = (
            self.at_first or self.constraints or self.shuffled or self.start_seed is not None
        )
        if only_in_houses and not self.houses:
            raise ValueError(
                'at_first, shuffled, constraints and start_seed are for a task in houses'
            )
        if self.earlier and (self.houses or self.needs != 'none'):
            raise ValueError(
                'earlier goes with a task on a table that needs nothing to be found out; leave it '
                'out'
            )
        if self.needs != 'none' and not isinstance(self.goal, NEEDING):
            raise ValueError(
                f'needs = {self.needs} goes with the goals tower, corners and hold, of which it '
                f'is known what commits to them; leave needs out for {self.goal.kind}'
            )
        return self
