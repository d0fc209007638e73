"""One task on one table, or in one house: what a planner gets, and what it is judged by."""

import hashlib
import zlib
from dataclasses import dataclass, replace
from typing import Any

from bbllm.core.events import Limits, QuestionAsked
from bbllm.core.records import canonical
from bbllm.files.yaml_files import FileRecord
from bbllm.scene.scene_file import SceneFile
from bbllm.worlds.household.constraints import Constraint
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.visibility import SeenWord, Visibility
from bbllm_bench.suites.benchmark import BenchmarkGoal, BenchmarkStart
from bbllm_bench.suites.goals import Goal, Needs
from bbllm_bench.suites.house_goals import HouseGoal
from bbllm_bench.suites.person import Person


class HouseStart(FileRecord):
    """One household before anybody acts in it, and by which rules it goes on."""

    name: str
    graph: dict[str, Any]
    """As VirtualHome writes it, after what the trial drew."""
    mode: Mode = Mode.SANE
    visibility: SeenWord = 'full'

    constraints: tuple[Constraint, ...] = ()
    """Hidden constraints that a step may fail by."""
    shown: tuple[int, ...] | None = None
    """Ids of all that a planner may be shown; None: everything."""

    @property
    def sight(self) -> Visibility:
        """What of the house is seen."""
        only = None if self.shown is None else frozenset(self.shown)
        return Visibility(reach=self.visibility, only=only)

    def household(self) -> Household:
        """Return the house with the rules of this trial, constraints included; a new one."""
        return Household(self.build(), mode=self.mode, constraints=self.constraints)

    def build(self) -> Graph:
        """Return the graph; a new one each time."""
        # Whoever made it has looked at it, and VirtualHome's own rules bear rings of INSIDE.
        return Graph.from_dict(self.graph, strict=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What one trial of one task starts from; equal for every planner, model and K."""

    suite: str
    task: str
    trial: int
    seed: int
    """Seed of the run; it makes the scene together with task and trial."""
    instruction: str
    scene: SceneFile | HouseStart | BenchmarkStart
    goal: Goal | HouseGoal | BenchmarkGoal
    difficulty: str
    """easy, medium or hard, as in Table 4 of the paper."""
    least_loops: int
    out_of_reach: tuple[str, ...]
    """Objects and locations that the hand cannot come down on, by geometry."""
    needs: Needs = 'none'
    limit_steps: int | None = None
    earlier: tuple[str, ...] = ()
    solution: tuple[tuple[str, str], ...] = ()
    """Moves that reach the goal of a puzzle: what is picked, and where it is put."""
    person: Person | None = None
    """Who gives the task and answers questions; None where nobody is assumed."""

    def limits(self, of_run: Limits) -> Limits:
        """Return what an episode may use: what the run allows, and of steps no more than this."""
        given = [n for n in (of_run.steps, self.limit_steps) if n is not None]
        return replace(of_run, steps=min(given, default=None))

    def answer(self, question: QuestionAsked) -> str:
        """Return what the person answers."""
        assert self.person is not None
        if isinstance(self.scene, HouseStart):  # where prompts name classes
            names = {node.class_name for node in self.scene.build().nodes.values()}
        else:
            names = {item.name for item in (*self.table.movables, *self.table.places)}
        return self.person.answer(question, self.instruction, names)

    @property
    def noise_seed(self) -> int:
        """The seed of the sensors' noise: the same for every planner, model and K."""
        return zlib.crc32(f'{self.suite}/{self.task}/{self.trial}/{self.seed}'.encode())

    @property
    def table(self) -> SceneFile:
        assert isinstance(self.scene, SceneFile), f'{self.task} is not played on a table'
        return self.scene

    @property
    def house(self) -> HouseStart:
        assert isinstance(self.scene, HouseStart), f'{self.task} is not played in a house'
        return self.scene

    @property
    def benchmark_start(self) -> BenchmarkStart:
        assert isinstance(self.scene, BenchmarkStart), f'{self.task} is of no benchmark'
        return self.scene

    @property
    def table_goal(self) -> Goal:
        assert not isinstance(self.goal, HouseGoal | BenchmarkGoal)
        return self.goal

    @property
    def house_goal(self) -> HouseGoal:
        assert isinstance(self.goal, HouseGoal)
        return self.goal


def fingerprint(case: Case) -> str:
    """Return a hash of instruction, scene and goal: equal where two episodes can be compared."""
    parts: dict[str, object] = {
        'instruction': case.instruction,
        'scene': case.scene.model_dump(exclude=_not_in_hash(case.scene)),
        'goal': case.goal.model_dump(),
    }
    if case.limit_steps is not None:
        parts['limit_steps'] = case.limit_steps
    if case.earlier:
        parts['earlier'] = case.earlier
    if case.person is not None:
        parts['person'] = case.person.model_dump()
    return hashlib.sha256(canonical(parts).encode()).hexdigest()


def _not_in_hash(scene: SceneFile | HouseStart | BenchmarkStart) -> set[str]:
    if isinstance(scene, BenchmarkStart):
        return {'starts'}
    if isinstance(scene, SceneFile):  # what is as it always was changes no hash
        later = {
            name for name in ('grip_offset_m', 'friction', 'skills') if not getattr(scene, name)
        }
        return {'name', 'description', *later}
    return {'name', 'description', *([] if scene.shown is not None else ['shown'])}
