"""
Plays the episodes of a data set and writes them, in the order of their numbers.

However many are played at once, they are written in that order, so that equal settings give equal
data sets. The folder appears when all is written: before that, its content is in another one.
"""

import shutil
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bbllm.core.errors import BbllmError, ConfigError
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
from bbllm_bench.demonstrations.figures import DemoFigures, card_page
from bbllm_bench.demonstrations.lerobot_files import LeRobotWriter
from bbllm_bench.demonstrations.playing import FPS, DemoRecord
from bbllm_bench.log.files import LOCK, locked
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
    on_episode: Callable[[DemoFigures], None] = lambda _: None,
    wants_end: Callable[[], bool] = lambda: False,
) -> DemoFigures:
    """
    Write a data set of as many episodes as are wanted, or nothing.

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
    figures = DemoFigures()
    with new_folder(out) as folder:
        types = {name: kind for name, (kind, _) in EPISODE.items()}
        with LeRobotWriter(folder, features(), types, fps=FPS, robot_type=ROBOT) as writer:
            for played in _played(settings, workers, llm, figures, wants_end):
                kept = played.result.passed or not settings.only_successful
                if kept:
                    writer.add(
                        frames_of(played),
                        task=played.spec.case.instruction,
                        subtasks=subtasks_of(played),
                        more=episode_of(played),
                    )
                figures.add(played, kept=kept)
                on_episode(figures)
                if figures.episodes == settings.episodes:
                    break
        page = card_page(settings, figures)
        (folder / 'README.md').write_text(page, encoding='utf-8')
    return figures


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """
    Yield a folder to write to, which is renamed to *path* where the context ends without an error.

    With an error nothing stays. What a killed process leaves is called `PATH.unfinished`, and the
    next one that writes to the same path removes it.

    Raises:
        ConfigError: *path* exists, another process writes to it, or it cannot be written.
    """
    if path.exists():
        raise ConfigError(
            f'{path} exists already. A data set is written as a whole: name a new folder, or '
            'remove this one.'
        )
    draft = path.with_name(f'{path.name}.unfinished')
    try:
        draft.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _not_written(path, error) from error
    with locked(draft / LOCK):
        try:
            for left in draft.iterdir():
                if left.is_dir():
                    shutil.rmtree(left)
                elif left.name != LOCK:
                    left.unlink()
            yield draft
            draft.rename(path)
            (path / LOCK).unlink()
        except OSError as error:
            shutil.rmtree(draft, ignore_errors=True)
            raise _not_written(path, error) from error
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise


def _not_written(path: Path, error: OSError) -> ConfigError:
    return ConfigError(
        f'{path} cannot be written ({error.strerror or error}), and nothing of it stays. '
        'Make room there, or name another folder: --out.'
    )


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
    figures: DemoFigures,
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
                figures.lost += 1
                continue
            objects = len(spec.case.table.movables)
            assert objects <= SLOTS, f'{spec.key.name} has {objects} objects'
            under_way.append(_Waiting(spec, workers.submit(spec)))
        if not under_way:
            raise ConfigError(
                f'{most} episodes were played for {settings.episodes}, and {figures.episodes} '
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
            figures.lost += 1
        else:
            yield Played(first.spec, answer)
