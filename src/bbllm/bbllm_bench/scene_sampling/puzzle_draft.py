"""A try at a puzzle: table, words of its sentence, goal, and moves that solve it."""

from dataclasses import dataclass, field

from bbllm_bench.scene_sampling.placement import Dice, Point
from bbllm_bench.scene_sampling.puzzle_table import APART_M, PuzzleTable
from bbllm_bench.suites.puzzle_recipe import PuzzleRecipe

Moves = tuple[tuple[str, str], ...]
"""What is picked, and the target of the call that puts it down."""


@dataclass
class Draft:
    """A try: the table, and what becomes of it."""

    recipe: PuzzleRecipe
    table: PuzzleTable
    words: dict[str, str] = field(default_factory=dict)
    goal: dict[str, object] = field(default_factory=dict)
    moves: list[tuple[str, str]] = field(default_factory=list)

    @property
    def dice(self) -> Dice:
        return self.table.dice


def pose_text(at: Point, z: float, yaw: float | None = None) -> str:
    numbers = f'{at[0]:.4f} {at[1]:.4f} {z:.4f}'
    return numbers if yaw is None else f'{numbers} {yaw:g}'


def put_aside(draft: Draft, name: str, apart_m: float = APART_M) -> None:
    """Move what is in the way to a free point."""
    at = draft.table.spot(apart_m=apart_m)
    draft.moves.append((name, pose_text(at, draft.table.size(name)[2] / 2)))
