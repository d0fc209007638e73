"""
Plays tasks until there are pairs enough, and keeps those that stand up to all checks.

The stand-in `expert` answers, which is given each goal; what it reads and what is kept is measured
in the simulator. The episodes count in a fixed order however many are played at once, so that
the same seed gives the same pairs.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bbllm.core.errors import ConfigError
from bbllm.core.events import Limits
from bbllm.llm.config import LlmConfig
from bbllm.llm.recording.replay import parse_recording
from bbllm_bench.benchmarks.finetuning.collected import Checked, Collected, EpisodeNote
from bbllm_bench.benchmarks.finetuning.pairs import Pair, draw_pairs
from bbllm_bench.benchmarks.finetuning.tasks import DataTask, suite_of
from bbllm_bench.log.episodes import EpisodeRecord, EpisodeSpec, RunConfig
from bbllm_bench.log.results import NO_CASE, EpisodeKey
from bbllm_bench.runner.worker_result import Answer, Failed, Refused
from bbllm_bench.runner.workers import Workers
from bbllm_bench.scene_sampling.generator import CaseError, make_case
from bbllm_bench.suites.case import Case

BRAIN = 'expert'
K = 4
"""Feedback loops of each episode: weights that are close are felt again."""
POLL_S = 0.2
"""How often it is checked whether a person wants the end [s]."""
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
    found = found or Collected()
    found.reason = ''
    most = EPISODES_FOR_A_PAIR * wanted.pairs
    following = _episodes(wanted, workers, llm, range(found.episodes, most))
    under_way: deque[_Episode] = deque()
    try:
        while len(found.pairs) < wanted.pairs and not found.reason:
            # Twice as many as are played at once, so that workers need not wait for the first.
            under_way.extend(islice(following, 2 * workers.size - len(under_way)))
            if not under_way:
                found.reason = (
                    f'{most} episodes gave {len(found.pairs)} pairs of {wanted.pairs}: nearly all '
                    'are refused. The card has the reason; mend that, and begin anew with another '
                    '--out.'
                )
                found.hopeless = True
            elif wait([under_way[0].answer], POLL_S).done:
                note, pairs = _checked(under_way.popleft(), found)
                keep(note, pairs)
                found.add(note, pairs)
                on_episode(found)
            if wants_end():
                found.reason, found.stopped = 'Stopped from the keyboard.', True
    except ConfigError as error:
        if not found.pairs:
            raise
        found.reason = str(error)
    return found


@dataclass(frozen=True, slots=True)
class _Episode:
    """One episode that is played, or waits for a worker."""

    task: DataTask
    case: Case | None
    """None where its table cannot be made."""
    answer: Future[Answer]


def _episodes(
    wanted: Wanted, workers: Workers, llm: LlmConfig, numbers: Iterable[int]
) -> Iterator[_Episode]:
    """Submit the episodes of these numbers: each task once, then each on another table."""
    suite = suite_of(wanted.tasks)
    config = RunConfig(
        planner=f'{wanted.planner}:form=no',  # a tuned model needs no form
        brain=BRAIN,
        body='offline',
        mapping='text',
        llm=llm,
        limits=Limits(),
        record=True,
    )
    for number in numbers:
        trial, place = divmod(number, len(wanted.tasks))
        task = wanted.tasks[place]
        key = EpisodeKey(task.name, trial, K)
        try:
            case = make_case(suite, task.name, seed=wanted.seed, trial=trial)
        except CaseError as error:
            answer: Future[Answer] = Future()
            answer.set_result(Failed(key=key, reason=str(error), error=NO_CASE))
            yield _Episode(task, None, answer)
        else:
            answer = workers.submit(EpisodeSpec(key=key, case=case, config=config))
            yield _Episode(task, case, answer)


def _checked(episode: _Episode, found: Collected) -> tuple[EpisodeNote, Sequence[Pair]]:
    """
    Return what came of an episode, and the pairs of it that stand up to the checks.

    Raises:
        ConfigError: It cannot be played, and no other can.
    """
    answer = episode.answer.result()
    if isinstance(answer, Refused):
        raise ConfigError(f'Episode {answer.key.name} cannot be played: {answer.reason}')
    # What is had already is known to it, so that nothing is kept twice.
    checked = Checked(known=found.known)
    if isinstance(answer, EpisodeRecord) and episode.case is not None:
        ending = _draw(answer, episode.task, episode.case, checked)
    else:
        assert isinstance(answer, Failed)
        ending = 'no table' if answer.error == NO_CASE else 'lost'
        checked.refuse(f'episode {ending}', f'{answer.key.name}: {answer.reason}', 0)
    note = EpisodeNote(
        episode=answer.key.name,
        task=answer.key.task,
        ending=ending,
        pairs=len(checked.pairs),
        refused=tuple((rule, checked.examples[rule], n) for rule, n in checked.refused.items()),
    )
    return note, checked.pairs


def _draw(played: EpisodeRecord, task: DataTask, case: Case, checked: Checked) -> str:
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
    drawn = draw_pairs(name, task, case, exchanges)
    for rule, why in drawn.refused:
        checked.refuse(rule, why)
    checked.take(drawn.pairs)
    return 'succeeded'
