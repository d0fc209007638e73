"""The models of one episode: of this process, or of a recording; recorded where that is asked."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from bbllm.core.errors import ConfigError
from bbllm.llm.config import LlmConfig
from bbllm.llm.models.factory import Models, record_models, replay_models
from bbllm.llm.recording.replay import answered
from bbllm.planners.body.mapping import MappingMethod, models_for
from bbllm_bench.log.episodes import EpisodeSpec
from bbllm_bench.log.files import write_atomically
from bbllm_bench.oracle.case_goals import with_goal
from bbllm_bench.oracle.household.providers import models_in_house, needs_house_oracle
from bbllm_bench.suites.case import HouseStart


@contextmanager
def open_models(job: EpisodeSpec) -> Iterator[tuple[Models, Callable[[], str]]]:
    """
    Yield the models of an episode, and what returns the lines that were recorded so far.

    Raises:
        ConfigError: This machine lacks what they need: a key, or room for a recording.
    """
    if job.replay is None or job.config.records:
        models = models_of(job)
    else:
        embedding = job.config.mapping is MappingMethod.EMBEDDING
        place = Path('the recording of this episode')
        models = replay_models(
            place,
            embedding=embedding,
            text=job.replay,
            changed_prompts=job.config.changed_prompts,
        )
    if not job.config.records:
        yield models, str
        return
    with _file_of(job) as path:
        earlier = answered(path) if path.exists() else ''
        write_atomically(path, earlier)

        def recording() -> str:
            return path.read_text(encoding='utf-8')

        of = {'episode': job.key.name, 'earlier': earlier, 'other': job.replay or ''}
        yield record_models(models, path, **of), recording


@contextmanager
def _file_of(job: EpisodeSpec) -> Iterator[Path]:
    """Yield the file of the exchanges of an episode; raises ConfigError where there is no room."""
    if job.talk is not None:
        yield job.talk
        return
    try:
        folder = tempfile.TemporaryDirectory(prefix='bbllm-bench-')
    except OSError as error:
        raise ConfigError(
            f'There is no room for a recording in {tempfile.gettempdir()} ({error.strerror}); '
            'set TMPDIR to a folder that can be written.'
        ) from error
    with folder:
        yield Path(folder.name) / 'talk.jsonl'


def models_of(job: EpisodeSpec) -> Models:
    """
    Return the models of a job: the same ones for all episodes of a run in this process.

    Only those that are handed the goal differ by case.

    Raises:
        ConfigError: This machine lacks what they need, for example a key.
    """
    config = job.config
    in_house = isinstance(job.case.scene, HouseStart)
    if in_house and needs_house_oracle(config.llm):
        return models_in_house(config.mapping, config.llm, case=job.case)
    llm = with_goal(config.llm, job.case)
    return _models(llm.model_dump_json(by_alias=True), config.mapping)


@lru_cache(maxsize=1)
def _models(llm: str, mapping: MappingMethod) -> Models:
    return models_for(mapping, LlmConfig.model_validate_json(llm))
