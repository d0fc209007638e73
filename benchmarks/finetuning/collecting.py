"""
Plays tasks until there are pairs enough, and keeps those that stand up to all checks.

The stand-in `expert` answers, who is told each goal; what it reads and what is kept is measured
in the simulator. The episodes count in a fixed order however many are played at once, so that
the same seed gives the same pairs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bbllm.bench.log.episodes import EpisodeRecord, EpisodeSpec, RunConfig
from bbllm.bench.log.results import NO_CASE, EpisodeKey
from bbllm.bench.runner.worker_result import Answer, Done, Failed, Refused
from bbllm.bench.runner.workers import Workers
from bbllm.bench.scene_sampling.generator import CaseError, make_case
from bbllm.bench.suites.case import Case
from bbllm.core.errors import ConfigError
from bbllm.core.events import Limits
from bbllm.llm.config import LlmConfig
from bbllm.llm.recording.replay import parse_recording
from benchmarks.finetuning.collected import Checked, Collected, EpisodeNote
from benchmarks.finetuning.pairs import Pair, draw_pairs
from benchmarks.finetuning.tasks import DataTask, suite_of

BRAIN = 'expert'
K = 4
"""Feedback loops of each episode: weights that are close are felt again."""
LOOK_S = 0.2
"""How often it is looked whether somebody wants the end [s]."""
EPISODES_FOR_A_PAIR = 5
"""No more episodes are played for each pair that is wanted: something is wrong then."""


Keep = Callable[[EpisodeNote, Sequence[Pair]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be collected."""

    tasks: Sequence[DataTask]
    pairs: int
    seed: int
    planner: str = 'ft_cot'


def collect(
    wanted: Wanted,
    workers: Workers,
    *,
    llm: LlmConfig,
    found: Collected | None = None,
    keep: Keep = lambda _note, _pairs: None,
    on_episode: Callable[[Collected], None] = lambda _: None,
    wants_end: Callable[[], bool] = lambda: False,
) -> Collected:
    """
    Play and check until there are pairs enough, or no more can be played.

    Goes on from what was *found* before. *keep* is given every episode that counts with its pairs,
    in their order, before `on_episode`; *wants_end* is asked now and then.

    Raises:
        ConfigError: No episode can be played at all; where there are pairs it is the reason why
            it ended.
    """
    collecting = _Collecting(wanted, llm, found or Collected(), keep)
    return collecting.run(workers, on_episode, wants_end)


class _Collecting:
    """One collection under way."""

    def __init__(self, wanted: Wanted, llm: LlmConfig, found: Collected, keep: Keep):
        self._wanted = wanted
        self._tasks = {task.name: task for task in wanted.tasks}
        self._suite = suite_of(wanted.tasks)
        self._config = RunConfig(
            planner=wanted.planner,
            brain=BRAIN,
            body='offline',
            mapping='text',
            llm=llm,
            limits=Limits(),
            record=True,
        )
        self._found = found
        self._keep = keep
        self._under_way: dict[EpisodeKey, tuple[int, Case]] = {}
        self._ended: dict[int, tuple[Answer, Case | None]] = {}
        """What came before the answers of earlier episodes."""
        self._submitted = found.episodes

    def run(
        self,
        workers: Workers,
        on_episode: Callable[[Collected], None],
        wants_end: Callable[[], bool],
    ) -> Collected:
        """Collect; see `collect`."""
        most = EPISODES_FOR_A_PAIR * self._wanted.pairs
        self._found.reason = ''
        try:
            while not self._enough and not self._found.reason:
                self._submit(workers, most)
                for answer in workers.collect(LOOK_S) if self._under_way else ():
                    index, case = self._under_way.pop(answer.key)
                    self._ended[index] = answer, case
                while not self._enough and (
                    following := self._ended.pop(self._found.episodes, None)
                ):
                    self._take(*following)
                    on_episode(self._found)
                if wants_end():
                    self._found.reason, self._found.stopped = 'Stopped from the keyboard.', True
                elif not self._enough and self._found.episodes >= most:
                    self._found.reason = (
                        f'{most} episodes gave {len(self._found.pairs)} pairs of '
                        f'{self._wanted.pairs}: nearly all are refused. The card says why; mend '
                        'that, and begin anew with another --out.'
                    )
                    self._found.hopeless = True
        except ConfigError as error:
            if not self._found.pairs:
                raise
            self._found.reason = str(error)
        return self._found

    @property
    def _enough(self) -> bool:
        return len(self._found.pairs) >= self._wanted.pairs

    def _submit(self, workers: Workers, most: int) -> None:
        """Keep all workers busy: each task is played once, then each on another table."""
        while len(self._under_way) < workers.size and self._submitted < most:
            index, self._submitted = self._submitted, self._submitted + 1
            trial, place = divmod(index, len(self._wanted.tasks))
            key = EpisodeKey(self._wanted.tasks[place].name, trial, K)
            try:
                case = make_case(self._suite, key.task, seed=self._wanted.seed, trial=trial)
            except CaseError as error:
                failed = Failed(key=key, reason=str(error), error=NO_CASE)
                self._ended[index] = failed, None
                # There may be no end to them; what came of earlier ones is looked at between.
                return
            self._under_way[key] = index, case
            workers.submit(EpisodeSpec(key=key, case=case, config=self._config))

    def _take(self, answer: Answer, case: Case | None) -> None:
        """
        Count an episode, and keep what of it stands up to the checks.

        Raises:
            ConfigError: It cannot be played, and no other can; or what came cannot be kept.
        """
        if isinstance(answer, Refused):
            raise ConfigError(f'Episode {answer.key.name} cannot be played: {answer.reason}')
        # What is had already is known to it, so that nothing is kept twice.
        checked = Checked(known=self._found.known)
        if isinstance(answer, Done) and case is not None:
            ending = self._draw(answer.played, case, checked)
        else:
            assert isinstance(answer, Failed)
            ending = 'no table' if answer.error == NO_CASE else 'lost'
            checked.refuse(f'episode {ending}', f'{answer.key.name}: {answer.reason}', 0)
        note = EpisodeNote(
            episode=answer.key.name,
            task=answer.key.task,
            ending=ending,
            pairs=len(checked.pairs),
            refused=tuple(
                (rule, checked.examples[rule], n) for rule, n in checked.refused.items()
            ),
        )
        self._keep(note, checked.pairs)
        self._found.add(note, checked.pairs)

    def _draw(self, played: EpisodeRecord, case: Case, checked: Checked) -> str:
        """Check what an episode gave; return how it ended."""
        result = played.result
        name = result.key.name
        exchanges = [
            exchange
            for exchange in parse_recording(played.recording, Path(name))
            if exchange.role == 'brain'
        ]
        if not result.informed_success:
            ending = result.verdict if not result.passed else 'uninformed'
            why = result.reason if not result.passed else result.information
            checked.refuse(f'episode {ending}', f'{name}: {why}', len(exchanges))
            return ending
        drawn = draw_pairs(name, self._tasks[result.key.task], case, exchanges)
        for rule, found in drawn.refused:
            checked.refuse(rule, found)
        checked.take(drawn.pairs)
        return 'succeeded'
