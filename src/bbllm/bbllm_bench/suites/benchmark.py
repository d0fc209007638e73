"""
The seam to benchmarks of others, which bring tasks, a world and a success check of their own.

A package names one by an entry point of the group `bbllm.benchmarks`; a suite file has its name
and what is to be played of it:

    benchmark: libero
    play: [libero_object]

No other part of bbllm knows the benchmark (design/benchmarks.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Protocol

from pydantic import Field, ValidationError

from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.plugins import installed
from bbllm.core.types import Outcome, Scene, SkillCall
from bbllm.files.yaml_files import FileRecord, explain

GROUP = 'bbllm.benchmarks'
Predicate = tuple[str, ...]
"""A relation and names of objects, in the benchmark's words: `('on', 'bowl_1', 'plate_1')`."""


class BenchmarkGoal(FileRecord):
    """What a benchmark asks for; only the benchmark finds out whether it is reached."""

    kind: Literal['benchmark']
    benchmark: str
    predicates: tuple[Predicate, ...]
    """All of them have to hold."""


class BenchmarkStart(FileRecord):
    """Where a benchmark begins a case."""

    benchmark: str
    name: str
    """Of the task, as the benchmark has it."""
    suite: str
    """The benchmark's own suite."""
    number: int
    """Of the task in that suite."""
    starts: Annotated[int, Field(ge=1)]
    """How many initial states the task has; trials take them in order."""
    start: int = 0
    """Number of the initial state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkTask:
    """One task of a benchmark."""

    name: str
    """Unique in all that a suite file plays."""
    instruction: str
    predicates: tuple[Predicate, ...]
    start: BenchmarkStart
    split: str
    """Of what part of the benchmark it is."""


class Benchmark(Protocol):
    """What an entry point of the group names; `runner.play_here` plays it."""

    def tasks(self, suites: Sequence[str]) -> tuple[BenchmarkTask, ...]:
        """Return the tasks of some of its suites; raises ConfigError where it has none."""
        ...

    def calls(
        self, goal: BenchmarkGoal, scene: Scene, outcomes: Sequence[Outcome]
    ) -> tuple[SkillCall, ...]:
        """
        Return the calls that are left to do for a goal, for the stand-in `expert`.

        *outcomes* are those of the episode so far: what was refused is not asked for again.
        """
        ...


def is_benchmark(world: str) -> bool:
    """Return whether a world is that of a benchmark of others."""
    return any(point.name == world for point in installed(GROUP))


def load_benchmark(name: str) -> Benchmark:
    """Return a benchmark; raises UnknownNameError where no installed package brings it."""
    points = {point.name: point for point in installed(GROUP)}
    if name not in points:
        raise UnknownNameError('benchmark', name, points)
    found: Benchmark = points[name].load()
    return found


class _BenchmarkFile(FileRecord):
    benchmark: str
    play: Annotated[tuple[str, ...], Field(min_length=1)]
    description: str = ''
    k: int = 3


def with_benchmark(data: Mapping[str, object]) -> Mapping[str, object]:
    """
    Return the content of a suite file with the tasks of a benchmark.

    Raises:
        ConfigError: The fields will not do, or the benchmark cannot be had.
        UnknownNameError: No installed package brings it.
    """
    try:
        file = _BenchmarkFile.model_validate(data)
    except ValidationError as error:
        raise ConfigError(explain(error, data)) from error
    return {
        'description': file.description,
        'k': file.k,
        'tasks': [
            {
                'name': task.name,
                'instruction': task.instruction,
                'difficulty': 'medium',
                'least_loops': 0,
                'split': task.split,
                'start': task.start.model_dump(),
                'goal': {
                    'kind': 'benchmark',
                    'benchmark': file.benchmark,
                    'predicates': task.predicates,
                },
            }
            for task in load_benchmark(file.benchmark).tasks(file.play)
        ],
    }
