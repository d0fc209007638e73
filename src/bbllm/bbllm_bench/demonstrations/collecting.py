"""
Plays the episodes of a data set and writes them, in the order of their numbers.

However many are played at once, they are written in that order, so that equal settings give equal
data sets. The folder appears when all is written: before that, its content is in another one.
"""

import tempfile
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from bbllm.core.errors import BbllmError, ConfigError
from bbllm.core.types import Status
from bbllm.llm.config import LlmConfig
from bbllm_bench.demonstrations.columns import (
    EPISODE,
    SLOTS,
    Played,
    episode_of,
    features,
    frames_of,
    subtasks_of,
)
from bbllm_bench.demonstrations.drawing import DemoSettings, DemoSpec, draw
from bbllm_bench.demonstrations.lerobot_files import LeRobotWriter
from bbllm_bench.demonstrations.playing import FPS, DemoRecord
from bbllm_bench.runner.worker_result import Answer, Failed, Refused
from bbllm_bench.runner.workers import Workers
from bbllm_bench.scene_sampling.generator import CaseError

ROBOT = 'franka_fr3'
POLL_S = 0.2
"""How often it is looked whether somebody wants the end [s]."""
DRAWS_FOR_EPISODE = 5
"""No more episodes are drawn for each one that is wanted: something is wrong then."""
TRIES = 3
"""How often an episode may cost a worker its life."""


class StoppedError(BbllmError):
    """Somebody wanted the end; nothing is left of the data set."""


def collect(
    settings: DemoSettings,
    out: Path,
    workers: Workers,
    *,
    llm: LlmConfig,
    on_episode: Callable[[Counter[str]], None] = lambda _: None,
    wants_end: Callable[[], bool] = lambda: False,
) -> Counter[str]:
    """
    Write a data set of as many episodes as are wanted, or nothing; return its counts.

    Args:
        settings: Which episodes.
        out: The folder of the data set; it must not exist.
        workers: They play with `playing.play`.
        llm: The description of models, of which only the stand-in is used.
        on_episode: Called after each episode, kept or left out.
        wants_end: Asked now and then.

    Raises:
        StoppedError: *wants_end* was true.
        ConfigError: The folder exists or cannot be written, or the episodes cannot be played.
    """
    counts = Counter(dict.fromkeys(COUNTED, 0))
    with new_folder(out) as folder:
        types = {name: kind for name, (kind, _) in EPISODE.items()}
        with LeRobotWriter(folder, features(), types, fps=FPS, robot_type=ROBOT) as writer:
            for played in _played(settings, workers, llm, counts, wants_end):
                if played.result.passed or not settings.only_successful:
                    writer.add(
                        frames_of(played),
                        task=played.spec.case.instruction,
                        subtasks=subtasks_of(played),
                        more=episode_of(played),
                    )
                    counts.update(_counts_of(played))
                else:
                    counts['left_out'] += 1
                on_episode(counts)
                if counts['episodes'] == settings.episodes:
                    break
        card = CARD.format(
            **asdict(settings),
            counts=', '.join(f'{name.replace("_", " ")} {n}' for name, n in counts.items()),
        )
        (folder / 'README.md').write_text(card, encoding='utf-8')
    return counts


COUNTED = ('episodes', 'frames', 'succeeded', 'calls', 'failed_calls', 'repairs')
"""What a data set has, beside what was `left_out` as the checker failed it, or `lost`."""
CARD = """---
task_categories:
- robotics
tags:
- LeRobot
configs:
- config_name: default
  data_files: data/*/*.parquet
---

# {episodes} demonstrations of a simulated Franka FR3

Pick and place in MuJoCo, in the layout of LeRobotDataset v3.0, without images. The plans are those
of a deterministic stand-in, which is no language model. docs/data.md of bbllm describes episodes
and columns.

Written by `bbllm data demos` with seed {seed}, misses {misses}, unrepaired {unrepaired}, only
successful: {only_successful}. It has: {counts}.
"""
"""README.md of a data set, as the hub of Hugging Face reads it."""


def _counts_of(played: Played) -> dict[str, int]:
    calls = played.demo.calls
    failed = sum(call.status != Status.SUCCEEDED.name for call in calls)
    counted = (
        *(1, len(played.demo), int(played.result.passed)),
        *(len(calls), failed, played.result.loops),
    )
    return dict(zip(COUNTED, counted, strict=True))


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """
    Yield a folder to write to, which is renamed to *path* where the context ends without an error.

    With an error nothing stays; a killed process leaves a hidden folder beside *path*.

    Raises:
        ConfigError: *path* exists or cannot be written.
    """
    if path.exists():
        raise ConfigError(
            f'{path} exists already. A data set is written as a whole: name a new folder, or '
            'remove this one.'
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f'.{path.name}-') as draft:
            whole = Path(draft) / path.name
            whole.mkdir()
            yield whole
            whole.rename(path)
    except OSError as error:
        raise ConfigError(
            f'{path} cannot be written ({error.strerror or error}), and nothing of it stays. '
            'Make room there, or name another folder: --out.'
        ) from error


@dataclass
class _Waiting:
    """An episode that is played, or waits for a worker."""

    spec: DemoSpec
    answer: Future[Answer]
    tries: int = 1


def _played(
    settings: DemoSettings,
    workers: Workers,
    llm: LlmConfig,
    counts: Counter[str],
    wants_end: Callable[[], bool],
) -> Iterator[Played]:
    """Yield episodes in the order of their numbers, without those that cannot be judged."""
    most = DRAWS_FOR_EPISODE * settings.episodes
    numbers = iter(range(most))
    under_way: deque[_Waiting] = deque()
    while True:
        # Twice as many as are played at once, so that workers need not wait for the first.
        while len(under_way) < 2 * workers.size and (number := next(numbers, None)) is not None:
            try:
                spec = draw(number, settings, llm)
            except CaseError:
                counts['lost'] += 1
                continue
            objects = len(spec.case.table.movables)
            assert objects <= SLOTS, f'{spec.key.name} has {objects} objects'
            under_way.append(_Waiting(spec, workers.submit(spec)))
        if not under_way:
            raise ConfigError(
                f'{most} episodes were played for {settings.episodes}, and {counts["episodes"]} '
                'could be kept. Nothing was written. Without --only-successful more are kept.'
            )
        if wants_end():
            raise StoppedError('Stopped from the keyboard; nothing was written.')
        if not wait([under_way[0].answer], POLL_S).done:
            continue
        first = under_way.popleft()
        answer = first.answer.result()
        if isinstance(answer, Failed) and answer.again and first.tries < TRIES:
            retry = _Waiting(first.spec, workers.submit(first.spec), first.tries + 1)
            under_way.appendleft(retry)
        elif isinstance(answer, Failed | Refused):
            raise ConfigError(f'Episode {first.spec.key.name} cannot be played: {answer.reason}')
        elif not isinstance(answer, DemoRecord) or answer.result.lost:
            counts['lost'] += 1
        else:
            yield Played(first.spec, answer)
