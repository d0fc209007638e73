"""Plays all episodes of a run that are not on record yet, and keeps each as it comes."""

import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from bbllm.core.errors import ConfigError
from bbllm.planners.common.experience.store import ExperienceFile
from bbllm_bench.log.episodes import EpisodeRecord, EpisodeSpec, RunConfig
from bbllm_bench.log.files import write_atomically
from bbllm_bench.log.results import NO_CASE, EpisodeKey, EpisodeResult
from bbllm_bench.log.run_settings import RunSettings, join
from bbllm_bench.log.store import FAULTS, RunFolder, Session
from bbllm_bench.runner.conversations import RunRecording
from bbllm_bench.runner.experience import learn
from bbllm_bench.runner.run_watch import RunEnd, RunProgress, Watch
from bbllm_bench.runner.worker_result import Answer, Failed
from bbllm_bench.runner.workers import Workers
from bbllm_bench.scorers.scoring import lost
from bbllm_bench.suites.case import Case

GIVE_UP_AFTER = 5
"""Episodes one after the other that come to nothing and end a run early."""
POLL_S = 0.1
"""How often the watch is asked whether to end the run [s]."""
TALK = 'talk'
TRIES = 3
"""How often an episode may cost a worker its life."""
NOTHING_USABLE = ('ModelError', 'ModelDeclinedError', 'EndlessReplyError')
"""Errors of an episode in which the model answered, but empty, without end, or with a refusal. A
reply that makes no sense (ParseError) is the model's doing, and one that others may better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """What to play, and when to give up."""

    settings: RunSettings
    config: RunConfig
    make_case: Callable[[str, int], Case]
    """From the name of a task and a trial; raises ConfigError where there can be no such case."""
    replay: Mapping[str, str] | None = None
    """Lines of a recording by episode, which answer instead of the models; those are asked only
    what it lacks, where they are recorded."""
    record: Path | None = None
    """File that records the exchanges with the models."""
    give_up_after: int = GIVE_UP_AFTER
    experience: ExperienceFile | None = None
    """Where what the run leaves is added at its end."""
    retry_lost: bool = False
    """Whether episodes that were lost before are played again."""


def begin(plan: RunPlan, folder: RunFolder) -> RunPlan:
    """
    Return the plan with the settings to go on with in a folder, which are on disk there then.

    Raises:
        ConfigError: The folder has a run with other settings, or the disk takes no more.
    """
    # Without a result there is nothing yet whose meaning could change.
    was = folder.settings if folder.results else None
    settings = join(was, plan.settings, str(folder.path))
    folder.write_settings(settings)
    return replace(plan, settings=settings)


def run_bench(plan: RunPlan, folder: RunFolder, workers: Workers, watch: Watch) -> RunEnd:
    """
    Play what is missing. After an early end, *workers* may still work: close them.

    Whatever ends it, the folder has each episode that `watch` was given, once; starting the
    same again goes on from there.

    Raises:
        ConfigError: Folder or recording cannot be had at all.
    """
    if plan.retry_lost:
        folder.drop(key for key, result in folder.results.items() if result.lost)
    return _Session(plan, folder, workers, watch).run()


class _SessionEndError(Exception):
    """The session is over before all was played."""

    def __init__(self, reason: str, interrupted: bool = False):
        super().__init__(reason)
        self.interrupted = interrupted


@dataclass
class _Session:
    plan: RunPlan
    folder: RunFolder
    workers: Workers
    watch: Watch
    waiting: deque[EpisodeKey] = field(init=False)
    under_way: dict[Future[Answer], EpisodeSpec] = field(default_factory=dict)
    played: int = 0

    def __post_init__(self) -> None:
        keys = self.plan.settings.keys
        self._recording = None
        if self.plan.record is not None:
            names = frozenset(key.name for key in self.folder.results)
            self._recording = RunRecording(self.plan.record, names)
        self.waiting = deque(key for key in keys if key not in self.folder.results)
        self._total = len({*keys, *self.folder.results})
        # The episodes of one trial that differ in K follow each other.
        self._case = lru_cache(maxsize=4)(self._case_or_error)
        self._tries: Counter[EpisodeKey] = Counter()
        self._in_a_row: list[EpisodeResult] = []
        """The last episodes, where nothing came of them."""
        self._least_loops = {t.name: t.least_loops for t in self.plan.settings.tasks}
        self._started_s = time.time()
        self._clock_s = time.monotonic()
        self._earlier = self.folder.sessions
        self._jobs = min(self.workers.size, len(self.waiting))

    def run(self) -> RunEnd:
        """Play until all is on record, or something ends it."""
        self.watch.began(self.progress())
        reason, interrupted = '', False
        try:
            self._play_all()
        except _SessionEndError as end:
            reason, interrupted = str(end), end.interrupted
        except ConfigError as error:
            reason = str(error)
        problem = _tables_lacking(self.folder.results.values())
        if self.plan.experience is not None:
            try:
                learn(self.folder, self.plan.settings, self.plan.experience)
            except ConfigError as error:
                problem = ' '.join(filter(None, (problem, str(error))))
        return RunEnd(
            progress=self.progress(),
            reason=reason,
            interrupted=interrupted,
            problem=problem,
        )

    def progress(self) -> RunProgress:
        wall_s = time.monotonic() - self._clock_s
        return RunProgress.of(self.folder.results.values(), self._total, self.played, wall_s)

    def _play_all(self) -> None:
        while self.waiting or self.under_way:
            # One more than are played at once, so that no worker waits for its next one.
            while self.waiting and len(self.under_way) <= self.workers.size:
                if job := self._job(self.waiting.popleft()):
                    self.under_way[self.workers.submit(job)] = job
            wait(self.under_way, POLL_S, FIRST_COMPLETED)
            for future in [future for future in self.under_way if future.done()]:
                self._take(self.under_way.pop(future), future.result())
            if self.watch.wants_end():
                raise _SessionEndError('Stopped from the keyboard.', interrupted=True)
        with suppress(OSError):  # there is none, or it has what lost episodes have asked
            (self.folder.path / TALK).rmdir()

    def _job(self, key: EpisodeKey) -> EpisodeSpec | None:
        """Return the job of an episode; None where there is none, which is on record then."""
        case = self._case(key.task, key.trial)
        if isinstance(case, ConfigError):
            self._keep_lost(key, str(case), NO_CASE)
            return None
        replay = None if self.plan.replay is None else self.plan.replay.get(key.name, '')
        talk = self._talk(key) if self.plan.config.records else None
        return EpisodeSpec(key=key, case=case, config=self.plan.config, replay=replay, talk=talk)

    def _talk(self, key: EpisodeKey) -> Path:
        """Return the file of an episode's exchanges, as long as it has no result."""
        return self.folder.path / TALK / f'{key.name}.jsonl'

    def _case_or_error(self, task: str, trial: int) -> Case | ConfigError:
        try:
            return self.plan.make_case(task, trial)
        except ConfigError as error:
            return error

    def _take(self, job: EpisodeSpec, answer: Answer) -> None:
        if isinstance(answer, EpisodeRecord):
            self._keep(answer)
            return
        if not isinstance(answer, Failed):
            raise _SessionEndError(f'Episode {answer.key.name} cannot be played: {answer.reason}')
        reason = answer.reason
        if answer.again:
            self._tries[job.key] += 1
            if self._tries[job.key] < TRIES:
                self.watch.warned(f'{job.key.name}: {reason} It is played once more.')
                self.waiting.appendleft(job.key)
                return
            lost_often = f'Its worker was lost {TRIES} times (--retry-lost plays it again)'
            reason = f'{lost_often}; the last time: {reason}'
        if answer.trace:
            path = self.folder.path / FAULTS / f'{job.key.name}.txt'
            write_atomically(path, answer.trace)
            self.watch.warned(f'{job.key.name}: {reason} Traceback: {path}')
        self._keep_lost(job.key, reason, answer.error, job.case)

    def _keep_lost(
        self, key: EpisodeKey, reason: str, error: str, case: Case | None = None
    ) -> None:
        least_loops = self._least_loops[key.task]
        result = lost(key, reason, error, least_loops=least_loops, case=case)
        self._keep(EpisodeRecord(result=result, journal=''))

    def _keep(self, played: EpisodeRecord) -> None:
        if self._recording is not None:
            self._recording.add(played.recording)
        self.folder.add(played)
        if not played.result.lost:
            # Of one that was lost, --retry-lost asks only what has no answer yet.
            self._talk(played.key).unlink(missing_ok=True)
        self.played += 1
        # After every episode, so that a session that is killed has an end too.
        session = Session(
            started_s=self._started_s,
            ended_s=time.time(),
            episodes=self.played,
            jobs=self._jobs,
        )
        self.folder.write_sessions([*self._earlier, session])
        self.watch.ended(played.result, self.progress())
        why = self._why_enough(played.result)
        if why and (self.waiting or self.under_way):
            raise _SessionEndError(why)

    def _why_enough(self, result: EpisodeResult) -> str:
        """Return why a run ends after one more result, '' where it goes on."""
        if result.error == NO_CASE:
            return ''  # this says nothing of server and workers
        nothing = result.lost or result.error in NOTHING_USABLE
        self._in_a_row = [*self._in_a_row, result] if nothing else []
        n = len(self._in_a_row)
        if not nothing or n < self.plan.give_up_after:
            return ''
        were = f'{n} episodes in a row were' if n > 1 else '1 episode was'
        borne = '(--give-up-after N sets how many are borne)'
        if all(item.lost for item in self._in_a_row):
            return (
                f'{were} lost; the last one: {result.reason} Mend that and '
                f'run the same command again with --retry-lost {borne}.'
            )
        return (
            f'{were} lost or ended without a usable reply of the model; the '
            f'last one: {result.message or result.reason} Where the model is to blame, these '
            'episodes count as its failures, and the same command goes on with the others '
            f'{borne}. Where it is not, mend that and begin anew in another folder: --out.'
        )


def _tables_lacking(results: Collection[EpisodeResult]) -> str:
    """Return how many tables could not be made, and why; '' where all could."""
    lacking = [result for result in results if result.error == NO_CASE]
    if not lacking:
        return ''
    if len(lacking) == len(results):
        which = 'No table of this run could be made'
    else:
        which = f'The tables of {len(lacking)} of {len(results)} episodes could not be made'
    return f'{which}, so they are lost (--retry-lost tries again). {lacking[0].reason}'
