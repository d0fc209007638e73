"""Which puzzle a task is, and how large: the field `puzzle` of a task on a table."""

from typing import Annotated, Literal

from pydantic import Field

from bbllm.files.yaml_files import FileRecord

PuzzleKind = Literal['towers', 'partly', 'retrieve', 'insert']


class PuzzleRecipe(FileRecord):
    """
    Draws table, sentence and goal together (scene_sampling.puzzles).

    The task's instruction has a word in braces, such as `{moves}`, wherever a trial fills
    something in, and its goal has the tolerances.
    """

    kind: PuzzleKind
    n: Annotated[int, Field(ge=2, le=16)]
    """How many objects it is about."""
    places: Annotated[int, Field(ge=0, le=12)] = 0
    """How many locations it has, where that is a choice."""
    least: Annotated[int, Field(ge=0, le=60)] = 0
    """No trial can be done in fewer moves."""
    bound: Annotated[int, Field(ge=0, le=60)] = 0
    """A lower bound that each trial shows before it is searched, which saves searches."""
    tallest: Annotated[int, Field(ge=1, le=9)] = 4
    """How many objects may stand on each other, where that is a rule."""
    far: Annotated[int, Field(ge=0, le=10)] = 5
    """How many objects are out of reach."""
