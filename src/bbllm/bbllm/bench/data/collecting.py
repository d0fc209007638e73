"""
Plays tasks until there are pairs enough, and keeps those that stand up to all checks.

The stand-in `expert` answers, who is told each goal; what it reads and what is kept is measured
in the simulator. The episodes count in a fixed order however many are played at once, so that
the same seed gives the same pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bbllm.bench.attempts import Answer, Done, Refused
from bbllm.bench.case import Case
from bbllm.bench.data.checking import Checked
from bbllm.bench.data.pairs import draw_pairs
from bbllm.bench.data.tasks import DataTask, suite_of
from bbllm.bench.generator import make_case
from bbllm.bench.playing import Job, Setup
from bbllm.bench.results import EpisodeKey
from bbllm.bench.workers import Workers
from bbllm.core.budget import Limits
from bbllm.core.errors import ConfigError
from bbllm.llm.exchanges import parse_recording
from bbllm.llm.sections import LlmConfig

BRAIN = 'expert'
K = 4
"""Feedback loops of each episode: weights that are close are felt again."""
LOOK_S = 0.2
"""How often it is looked whether somebody wants the end [s]."""
EPISODES_FOR_A_PAIR = 5
"""No more episodes are played for each pair that is wanted: something is wrong then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be collected."""

    tasks: Sequence[DataTask]
    pairs: int
    seed: int
    planner: str = 'ft_cot'


@dataclass
class Collected:
    """What was collected."""

    checked: Checked = field(default_factory=Checked)
    endings: Counter[str] = field(default_factory=Counter)
    """How many episodes ended how: `succeeded`, or why their pairs are not used."""
    tasks: set[str] = field(default_factory=set)
    """Names of the tasks that gave pairs."""
    reason: str = ''
    """Why it ended before there were pairs enough; empty where there are."""

    @property
    def episodes(self) -> int:
        """How many episodes count."""
        return self.endings.total()


def collect(
    wanted: Wanted,
    workers: Workers,
    *,
    llm: LlmConfig,
    on_episode: Callable[[Collected], None] = lambda _: None,
    wants_end: Callable[[], bool] = lambda: False,
) -> Collected:
    """
    Play and check until there are pairs enough.

    Args:
        wanted: What is to be collected.
        workers: Who plays; they are not closed.
        llm: The sections of config/llm.yaml.
        on_episode: Told after every episode that counts.
        wants_end: Asked now and then whether to end before.

    Raises:
        ConfigError: No episode can be played at all.
    """
    collecting = _Collecting(wanted, llm)
    return collecting.run(workers, on_episode, wants_end)


class _Collecting:
    """One collection under way."""

    def __init__(self, wanted: Wanted, llm: LlmConfig):
        self._wanted = wanted
        self._suite = suite_of(wanted.tasks)
        self._setup = Setup(
            planner=wanted.planner,
            brain=BRAIN,
            body='offline',
            mapping='text',
            llm=llm,
            limits=Limits(),
            record=True,
        )
        self._under_way: dict[EpisodeKey, tuple[int, Case]] = {}
        self._ended: dict[int, tuple[Answer, Case]] = {}
        """What came before the answers of earlier episodes."""
        self._submitted = 0
        self._found = Collected()

    def run(
        self,
        workers: Workers,
        on_episode: Callable[[Collected], None],
        wants_end: Callable[[], bool],
    ) -> Collected:
        """Collect; see `collect`."""
        most = EPISODES_FOR_A_PAIR * self._wanted.pairs
        while not self._enough:
            while len(self._under_way) < workers.size and self._submitted < most:
                workers.submit(self._next_job())
            for answer in workers.collect(LOOK_S):
                index, case = self._under_way.pop(answer.key)
                self._ended[index] = answer, case
            while not self._enough and (following := self._ended.pop(self._found.episodes, None)):
                self._take(*following)
                on_episode(self._found)
            if wants_end():
                self._found.reason = 'Stopped from the keyboard.'
                break
            if self._found.episodes >= most:
                self._found.reason = f'{most} episodes did not give pairs enough.'
                break
        return self._found

    @property
    def _enough(self) -> bool:
        return len(self._found.checked.pairs) >= self._wanted.pairs

    def _next_job(self) -> Job:
        """Return the job of the next episode: each task once, then each on another table."""
        index, self._submitted = self._submitted, self._submitted + 1
        task = self._wanted.tasks[index % len(self._wanted.tasks)]
        trial = index // len(self._wanted.tasks)
        case = make_case(self._suite, task.name, seed=self._wanted.seed, trial=trial)
        key = EpisodeKey(task.name, trial, K)
        self._under_way[key] = index, case
        return Job(key=key, case=case, setup=self._setup)

    def _take(self, answer: Answer, case: Case) -> None:
        """Count an episode, and keep what of it stands up to the checks."""
        if isinstance(answer, Refused):
            raise ConfigError(f'Episode {answer.key.name} cannot be played: {answer.reason}')
        checked = self._found.checked
        if not isinstance(answer, Done):
            self._found.endings['lost'] += 1
            checked.refuse('episode lost', f'{answer.key.name}: {answer.reason}', 0)
            return
        result = answer.played.result
        name = result.key.name
        exchanges = [
            exchange
            for exchange in parse_recording(answer.played.recording, Path(name))
            if exchange.role == 'brain'
        ]
        if not result.informed_success:
            ending = result.verdict if not result.passed else 'uninformed'
            why = result.reason if not result.passed else result.information
            self._found.endings[ending] += 1
            checked.refuse(f'episode {ending}', f'{name}: {why}', len(exchanges))
            return
        self._found.endings['succeeded'] += 1
        task = next(task for task in self._wanted.tasks if task.name == result.key.task)
        drawn = draw_pairs(name, task, case, exchanges)
        for rule, found in drawn.refused:
            checked.refuse(rule, found)
        before = len(checked.pairs)
        checked.take(drawn.pairs)
        if len(checked.pairs) > before:
            self._found.tasks.add(task.name)
