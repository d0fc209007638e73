"""Plays all episodes of a run that are not on record yet, and keeps each as it comes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from bbllm.bench.attempts import Answer, Done, Failed
from bbllm.bench.case import Case
from bbllm.bench.conversations import RunRecording
from bbllm.bench.playing import Job, Played, Setup
from bbllm.bench.results import EpisodeKey, EpisodeResult
from bbllm.bench.run_settings import RunSettings
from bbllm.bench.scoring import lost
from bbllm.bench.store import RunFolder, write_atomically
from bbllm.bench.workers import Workers
from bbllm.core.errors import ConfigError

GIVE_UP_AFTER = 5
"""Episodes lost one after the other that end a run early."""
LOOK_S = 0.1
"""How often it is looked whether somebody wants the run to end [s]."""
TRIES = 2
"""How often an episode may cost a worker its life."""
FAULTS = 'faults'


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """What to play, and when to give up."""

    settings: RunSettings
    setup: Setup
    make_case: Callable[[str, int], Case]
    """From the name of a task and a trial; raises ConfigError where there can be no such case."""
    replay: Mapping[str, str] | None = None
    """Lines of a recording by episode, which answer instead of the models."""
    record: Path | None = None
    """File that keeps what the models say."""
    give_up_after: int = GIVE_UP_AFTER
    retry_lost: bool = False
    """Whether episodes that were lost before are played again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """Where a run stands."""

    total: int
    """Episodes of the whole run."""
    done: int
    """Episodes on record, those of earlier sessions included."""
    played: int
    """Episodes of this session."""
    passed: int
    lost: int
    wall_s: float
    """How long this session has taken [s]."""

    @property
    def per_minute(self) -> float:
        """Episodes a minute in this session; 0 before the first."""
        return 60.0 * self.played / self.wall_s if self.played and self.wall_s > 0 else 0.0

    @property
    def left_s(self) -> float | None:
        """How long the rest will take at this rate [s]; None before the first episode."""
        rate = self.per_minute
        return 60.0 * (self.total - self.done) / rate if rate else None


class Watch(Protocol):
    """Who looks on, and may end the run."""

    def began(self, progress: RunProgress) -> None:
        """Take where the run stands before this session's first episode."""
        ...

    def ended(self, result: EpisodeResult, progress: RunProgress) -> None:
        """Take one episode that is on record now."""
        ...

    def warned(self, text: str) -> None:
        """Take what people should know."""
        ...

    def wants_end(self) -> bool:
        """Tell whether the run is to end now."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """How a session of a run ended."""

    progress: RunProgress
    reason: str = ''
    """Why it ended early; empty where all episodes are on record."""
    interrupted: bool = False
    """Whether the one who looked on ended it."""


def run_bench(
    plan: RunPlan, folder: RunFolder, hire: Callable[[int], Workers], jobs: int, watch: Watch
) -> RunEnd:
    """
    Play what is missing.

    Whatever ends it, the folder holds each episode that was told to `watch`, once; saying the
    same again goes on from there.

    Args:
        plan: What to play.
        folder: Where results go; its settings are the plan's.
        hire: Gets so many workers; not called where nothing is missing.
        jobs: How many episodes to play at once.
        watch: Who looks on.

    Raises:
        ConfigError: Folder, recording or workers cannot be had at all.
    """
    if plan.retry_lost:
        folder.drop(key for key, result in folder.results.items() if result.lost)
    session = _Session(plan, folder, watch)
    if not session.waiting:
        watch.began(session.progress())
        return RunEnd(progress=session.progress())
    return session.run(hire, min(jobs, len(session.waiting)))


class _SessionEndError(Exception):
    """The session is over before all was played."""

    def __init__(self, reason: str, interrupted: bool = False):
        super().__init__(reason)
        self.interrupted = interrupted


@dataclass
class _Session:
    """One time of working on a run."""

    plan: RunPlan
    folder: RunFolder
    watch: Watch
    waiting: deque[EpisodeKey] = field(init=False)
    under_way: dict[EpisodeKey, Job] = field(default_factory=dict)
    tries: dict[EpisodeKey, int] = field(default_factory=dict)
    played: int = 0
    lost_in_a_row: int = 0

    def __post_init__(self) -> None:
        keys = self.plan.settings.keys
        self._recording = None
        if self.plan.record is not None:
            names = frozenset(key.name for key in self.folder.results)
            self._recording = RunRecording(self.plan.record, names)
        self.waiting = deque(key for key in keys if key not in self.folder.results)
        self._total = len({*keys, *self.folder.results})
        # The episodes of one trial that differ in K follow each other.
        self._make_case = lru_cache(maxsize=4)(self.plan.make_case)
        self._started_s = time.time()
        self._clock_s = time.monotonic()
        self._earlier = self.folder.sessions
        self._jobs = 0

    def run(self, hire: Callable[[int], Workers], jobs: int) -> RunEnd:
        """Play until all is on record, or something ends it."""
        self.watch.began(self.progress())
        try:
            with closing(hire(jobs)) as workers:
                self._jobs = workers.size
                self._play_guarded(workers)
        except _SessionEndError as end:
            return RunEnd(progress=self.progress(), reason=str(end), interrupted=end.interrupted)
        return RunEnd(progress=self.progress())

    def progress(self) -> RunProgress:
        """Return where the run stands."""
        results = self.folder.results.values()
        return RunProgress(
            total=self._total,
            done=len(results),
            played=self.played,
            passed=sum(result.passed for result in results),
            lost=sum(result.lost for result in results),
            wall_s=time.monotonic() - self._clock_s,
        )

    def _play_guarded(self, workers: Workers) -> None:
        try:
            self._play_all(workers)
        except ConfigError as error:
            raise _SessionEndError(str(error)) from error

    def _play_all(self, workers: Workers) -> None:
        following: Job | None = None
        while self.waiting or self.under_way or following is not None:
            if following is None and self.waiting:
                following = self._job(self.waiting.popleft())
            if following is not None and len(self.under_way) < workers.size:
                self.under_way[following.key] = following
                workers.submit(following)
                following = None
                continue
            # With all of them busy and the next job at hand there is time to wait.
            for answer in workers.collect(LOOK_S):
                self._take(answer)
            if self.watch.wants_end():
                raise _SessionEndError('Stopped from the keyboard.', interrupted=True)

    def _job(self, key: EpisodeKey) -> Job:
        try:
            case = self._make_case(key.task, key.trial)
        except ConfigError as error:
            raise _SessionEndError(f'Episode {key.name} cannot be set up: {error}') from error
        replay = None if self.plan.replay is None else self.plan.replay.get(key.name, '')
        return Job(key=key, case=case, setup=self.plan.setup, replay=replay)

    def _take(self, answer: Answer) -> None:
        job = self.under_way.pop(answer.key)
        if isinstance(answer, Done):
            self._keep(answer.played)
            return
        if not isinstance(answer, Failed):
            raise _SessionEndError(f'Episode {answer.key.name} cannot be played: {answer.reason}')
        self.tries[job.key] = self.tries.get(job.key, 0) + 1
        if answer.again and self.tries[job.key] < TRIES:
            self.watch.warned(f'{job.key.name}: {answer.reason} It is played once more.')
            self.waiting.appendleft(job.key)
            return
        if answer.trace:
            self.watch.warned(f'{job.key.name}: {answer.reason} Traceback: {self._fault(answer)}')
        self._keep(Played(result=lost(job, answer.reason, answer.error), journal=''))

    def _keep(self, played: Played) -> None:
        result = played.result
        try:
            if self._recording is not None:
                self._recording.add(played.recording)
            self.folder.add(played)
            self.played += 1
            self._keep_session()
        except ConfigError as error:
            raise _SessionEndError(str(error)) from error
        self.watch.ended(result, self.progress())
        self.lost_in_a_row = self.lost_in_a_row + 1 if result.lost else 0
        if self.lost_in_a_row >= self.plan.give_up_after and (self.waiting or self.under_way):
            raise _SessionEndError(
                f'{self.lost_in_a_row} episodes in a row were lost; the last one: '
                f'{result.reason} Mend that and say the same command again with --retry-lost '
                '(--give-up-after N sets how many are borne).'
            )

    def _keep_session(self) -> None:
        # After every episode, so that a session that is killed has an end too.
        session = {
            'started_s': self._started_s,
            'ended_s': time.time(),
            'episodes': self.played,
            'jobs': self._jobs,
        }
        self.folder.write_sessions([*self._earlier, session])

    def _fault(self, answer: Failed) -> Path:
        path = self.folder.path / FAULTS / f'{answer.key.name}.txt'
        try:
            path.parent.mkdir(exist_ok=True)
            write_atomically(path, answer.trace)
        except OSError as error:
            raise _SessionEndError(f'{path} cannot be written ({error.strerror}).') from error
        return path
