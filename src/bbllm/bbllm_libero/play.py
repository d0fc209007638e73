"""The benchmark as the bench knows it: its tasks, and an episode with its own verdict."""

from collections.abc import Sequence
from dataclasses import replace

from bbllm.core.errors import ConfigError, WorldError
from bbllm.core.protocols import EventSink
from bbllm.core.types import Code, Outcome, Scene, SkillCall
from bbllm.llm.models.factory import Models
from bbllm_bench.log.episodes import EpisodeSpec
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.runner.episode_setup import Alone, begin_episode
from bbllm_bench.scorers.limits import limit_of
from bbllm_bench.scorers.scoring import lost, score
from bbllm_bench.suites.benchmark import BenchmarkGoal, BenchmarkStart, BenchmarkTask
from bbllm_bench.suites.scores import Condition, Score
from bbllm_libero.client import RefusedError, TaskEntry, Worker
from bbllm_libero.expert import calls_for
from bbllm_libero.skills import SKILLS
from bbllm_libero.world import LiberoWorld

PERTURBATIONS = {
    'object': 'object',
    'swap': 'position',
    'lan': 'language',
    'task': 'task',
    'env': 'environment',
}
"""LIBERO-PRO's words for what it changes, by the ends of the names of its suites."""
SHORT = {'10': 'long'}
"""LIBERO-10 is also called LIBERO-Long; a name of ours begins with a letter."""


class LiberoBenchmark:
    """LIBERO and LIBERO-PRO; see `suites.benchmark.Benchmark`."""

    def __init__(self) -> None:
        self._worker: Worker | None = None

    def tasks(self, suites: Sequence[str]) -> tuple[BenchmarkTask, ...]:
        """Return the tasks of its suites of these names, in its own order."""
        with Worker() as worker:
            try:
                return tuple(_task(s, entry) for s in suites for entry in worker.tasks(s))
            except (RefusedError, WorldError) as error:
                raise ConfigError(str(error)) from error

    def calls(
        self, goal: BenchmarkGoal, scene: Scene, outcomes: Sequence[Outcome]
    ) -> tuple[SkillCall, ...]:
        no_grasp = {one.call.args[0] for one in outcomes if one.code is Code.NOT_GRASPABLE}
        return calls_for(goal.predicates, scene, no_grasp)

    def play_with(
        self, job: EpisodeSpec, models: Models, sink: EventSink, around: Alone
    ) -> EpisodeResult:
        """
        Play an episode; the process of the benchmark stays for the next one.

        An episode whose task cannot be begun, or whose process dies, is lost.

        Raises:
            ConfigError: The benchmark is not installed, or is of another version.
        """
        start = job.case.benchmark_start
        if self._worker is None or not self._worker.is_alive:
            self.close()
            self._worker = Worker()
        worker = self._worker
        try:
            worker.reset(
                start.suite, task=start.number, init_state=start.start, seed=job.case.seed
            )
            world = LiberoWorld(worker, SKILLS)
            before, first = world.observe(), _judged(world, worker)
            _, execute = begin_episode(job, models, sink, around, scene=start.name)
            episode = execute(world)
            after, last = world.observe(), _judged(world, worker)
        except (RefusedError, WorldError) as error:
            kind, case = type(error).__name__, job.case
            return lost(job.key, str(error), kind, least_loops=case.least_loops, case=case)
        result = score(
            job,
            episode,
            before=before,
            after=after,
            robot_s=world.time_s,
            unsafe=None,  # the benchmark's controller has its own limits
            judged=(first, last),
        )
        return replace(result, limit=limit_of(episode) if result.verdict == 'failed' else '')

    def close(self) -> None:
        """End the process of the benchmark, if there is one."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None


def _judged(world: LiberoWorld, worker: Worker) -> Score:
    """Return the verdict so far: the benchmark ends an episode when its check is true once."""
    goal = zip(worker.task.goal, worker.goal_holds(), strict=True)
    return Score(tuple(_condition(one, holds or world.passed) for one, holds in goal))


def _condition(predicate: Sequence[str], holds: bool) -> Condition:
    text = f'{predicate[0]}({", ".join(predicate[1:])})'
    return Condition(
        text, '' if holds else f'{text} does not hold, by the check of the benchmark.'
    )


def _task(suite: str, entry: TaskEntry) -> BenchmarkTask:
    of, _, change = suite.removeprefix('libero_').partition('_')
    part = '_'.join(filter(None, (SHORT.get(of, of), PERTURBATIONS.get(change, change))))
    return BenchmarkTask(
        name=f'{part}_{entry.number}',
        instruction=entry.language,
        predicates=entry.goal,
        split=part,
        start=BenchmarkStart(
            benchmark='libero',
            name=entry.name,
            suite=suite,
            number=entry.number,
            starts=entry.init_states,
        ),
    )


LIBERO = LiberoBenchmark()
