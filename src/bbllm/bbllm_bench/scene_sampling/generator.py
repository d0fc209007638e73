"""
Makes the case of a trial: the scene that its suite, task, seed and trial stand for.

A scene is drawn as a whole, and drawn anew where something does not fit. What is within reach is
decided by inverse kinematics, as in an episode; the distances of a suite only guide the draw.
"""

from collections import Counter

from bbllm.core.errors import ConfigError, SceneFileError
from bbllm.robots.registry import load_robot
from bbllm.scene.scene_file import SceneFile
from bbllm.worlds.scene.reaching import ReachCache
from bbllm_bench.scene_sampling.dry_run import faults_of
from bbllm_bench.scene_sampling.household import NoStartError, draw_start, start_dice
from bbllm_bench.scene_sampling.placement import Dice, NoRoomError
from bbllm_bench.scene_sampling.puzzles import Puzzle, draw_puzzle
from bbllm_bench.scene_sampling.tabletop import draw
from bbllm_bench.suites.benchmark import BenchmarkStart
from bbllm_bench.suites.case import Case, HouseStart
from bbllm_bench.suites.goal_needs import lacks
from bbllm_bench.suites.scene_recipe import PuzzleRecipe, Recipe
from bbllm_bench.suites.suite import Suite, TaskSpec

TRIES, PUZZLE_TRIES = 100, 20_000
"""How often a scene, or a puzzle, is drawn before it counts as impossible."""

_reach = ReachCache(load_robot())


class CaseError(ConfigError):
    """A case whose scene cannot be made."""


def make_case(suite: Suite, task: str, *, seed: int, trial: int) -> Case:
    """
    Return the case of one trial; always the same for the same arguments.

    Raises:
        UnknownNameError: The suite has no such task.
        CaseError: No scene as the task describes it could be made.
    """
    spec = suite.task(task)
    instruction, goal = spec.instruction, spec.goal
    solution: tuple[tuple[str, str], ...] = ()
    scene: SceneFile | HouseStart | BenchmarkStart
    out_of_reach: tuple[str, ...] = ()
    dice = Dice(f'{suite.name}/{task}/{seed}/{trial}')
    of = f'the task {task} of {suite.name} with seed {seed}, trial {trial}'
    if spec.start is not None:
        scene = _initial_state(of, spec.start, trial)
    elif spec.houses:
        scene = _start(suite, spec, trial, dice)
    elif spec.puzzle is not None:
        puzzle, out_of_reach = _puzzle(of, spec, spec.puzzle, dice)
        scene, solution = puzzle.scene, puzzle.solution
        try:
            instruction = spec.instruction.format_map(puzzle.words)
        except KeyError as error:
            known = ', '.join(f'{{{word}}}' for word in puzzle.words)
            raise CaseError(
                f'The instruction of {of} has {error} in braces, which this puzzle does not fill '
                f'in; there are {known}.'
            ) from error
        goal = spec.goal.model_copy(update=puzzle.goal)
    elif spec.generate is not None:
        scene, out_of_reach = _generated(of, spec, spec.generate, dice)
    else:
        scene = suite.scenes[task]
        out_of_reach = _out_of_reach(scene)
        if faults := lacks(spec.table_goal, scene, out_of_reach):
            raise CaseError(f'The task {task} of {suite.name} has no case: {"; ".join(faults)}.')
    return Case(
        suite=suite.name,
        task=task,
        trial=trial,
        seed=seed,
        instruction=instruction,
        scene=scene,
        goal=goal,
        needs=spec.needs,
        difficulty=spec.difficulty,
        least_loops=spec.least_loops,
        out_of_reach=out_of_reach,
        limit_steps=spec.limit_steps,
        earlier=spec.earlier,
        solution=solution,
        person=spec.person,
    )


def _initial_state(of: str, start: BenchmarkStart, trial: int) -> BenchmarkStart:
    if trial >= start.starts:
        raise CaseError(
            f'There is no case for {of}: the benchmark has {start.starts} initial states of it, '
            f'for trials 0 to {start.starts - 1}.'
        )
    return start.model_copy(update={'start': trial})


def _start(suite: Suite, spec: TaskSpec, trial: int, dice: Dice) -> HouseStart:
    """Draw the household of a trial; the houses of a task take turns."""
    houses = suite.houses[spec.name]
    house = houses[trial % len(houses)]
    if spec.start_seed is not None:
        dice = start_dice(suite.name, spec.name, spec.start_seed)
    try:
        graph = draw_start(
            house.graph, spec.house_goal, spec.at_first, dice, shuffled=spec.shuffled
        )
    except NoStartError as error:
        raise CaseError(
            f'The task {spec.name} of {suite.name} has no case in {house.name}: {error}.'
        ) from error
    return HouseStart(
        name=house.name,
        graph=graph.to_dict(),
        mode=suite.mode,
        visibility=suite.visibility,
        constraints=spec.constraints,
        shown=None if house.shown is None else tuple(sorted(house.shown)),
    )


def _generated(
    of: str, spec: TaskSpec, recipe: Recipe, dice: Dice
) -> tuple[SceneFile, tuple[str, ...]]:
    """Return a scene that is as its recipe and its goal promise, and what is out of reach."""
    failed: Counter[str] = Counter()
    for _ in range(TRIES):
        try:
            scene, promised = draw(recipe, spec.name, dice)
        except NoRoomError as error:
            failed[str(error)] += 1
            continue
        except SceneFileError as error:
            raise CaseError(f'The scene of {of} cannot stand: {error}') from error
        out_of_reach = _out_of_reach(scene)
        faults = _fault_of_reach(scene, promised, out_of_reach)
        faults = faults or lacks(spec.table_goal, scene, out_of_reach, spec.needs)
        if not faults:
            return scene, out_of_reach
        failed[faults[0]] += 1
    rules = '; '.join(f'{rule} ({count} times)' for rule, count in failed.most_common(4))
    raise CaseError(
        f'No scene for {of} in {TRIES} tries: {rules}. In its `generate`, ask for fewer objects '
        '(count), give them a larger area, a smaller spacing_m or pitch, or other distances '
        '(reach_m for what is within reach, beyond_m for what is not).'
    )


def _puzzle(
    of: str, spec: TaskSpec, recipe: PuzzleRecipe, dice: Dice
) -> tuple[Puzzle, tuple[str, ...]]:
    """Return a puzzle that the hand can solve, and what is out of reach."""
    failed: Counter[str] = Counter()
    for _ in range(PUZZLE_TRIES):
        try:
            puzzle = draw_puzzle(recipe, spec.name, dice)
        except (NoRoomError, SceneFileError) as error:
            failed[str(error)] += 1
            continue
        out_of_reach = _out_of_reach(puzzle.scene)
        faults = _fault_of_reach(puzzle.scene, puzzle.near, out_of_reach)
        faults = faults or [*faults_of(puzzle.scene, puzzle.solution)][:1]
        if not faults:
            return puzzle, out_of_reach
        failed[faults[0]] += 1
    rules = '; '.join(f'{rule} ({count} times)' for rule, count in failed.most_common(4))
    raise CaseError(f'No puzzle for {of} in {PUZZLE_TRIES} tries: {rules}.')


def _fault_of_reach(
    scene: SceneFile, promised: frozenset[str], out_of_reach: tuple[str, ...]
) -> list[str]:
    for item in (*scene.movables, *scene.places):
        if (item.name in promised) is (item.name in out_of_reach):
            near = item.name in promised
            rule = 'reach_m, but is out of reach' if near else 'beyond_m, but is in reach'
            return [f'a {item.kind.value} lies within {rule}']
    return []


def _out_of_reach(scene: SceneFile) -> tuple[str, ...]:
    items = (*scene.movables, *scene.places)
    return tuple(item.name for item in items if not _reach(item))
