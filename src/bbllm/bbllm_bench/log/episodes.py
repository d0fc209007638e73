"""The seam between the runner and what plays an episode: one function, records in and out."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bbllm.core.prompt_store import SUFFIX
from bbllm.llm.config import LlmConfig
from bbllm.planners.common.experience.entry import Entry
from bbllm_bench.log.choices import PlayChoice
from bbllm_bench.log.results import EpisodeKey, EpisodeResult
from bbllm_bench.suites.case import Case


class RunConfig(PlayChoice):
    """What all episodes of a run share; has no secret, so that it can be sent to other hosts."""

    llm: LlmConfig
    records: bool = False
    """Whether every exchange with a model is to be kept."""
    changed_prompts: bool = False
    """Whether a recording also answers prompts that have changed since."""
    known: tuple[Entry, ...] = ()
    """What worked on other splits, see runner.experience."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeSpec:
    """One episode to play, complete: it can be played in another process or on another host."""

    key: EpisodeKey
    case: Case
    config: RunConfig
    replay: str | None = None
    """Lines of a recording that answer instead of the models; None: the models. Where `records` is
    set, the models are asked what it lacks."""
    talk: Path | None = None
    """File of this host that keeps the exchanges while the episode goes on, so that it can be
    taken up again; None: they are lost with its process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRecord:
    """Result of one episode; files are text, since a worker may not share the disk."""

    result: EpisodeResult
    journal: str
    earlier: tuple[str, ...] = ()
    """The same of the episodes before it, see `Case.earlier`."""
    prompts: tuple[str, ...] = ()
    """What was sent to models in the episode and in those before it (core.prompt_store)."""
    recording: str = ''

    @property
    def key(self) -> EpisodeKey:
        return self.result.key

    @property
    def files(self) -> dict[str, str]:
        """All journals that there are and prompts beside them, by the names of their files."""
        names = [self.key.name, *(name_before(self.key, i) for i in range(len(self.earlier)))]
        texts = {f'{name}{SUFFIX}': text for name, text in zip(names, self.prompts)}
        journals = (self.journal, *self.earlier)
        texts |= {f'{name}.jsonl': text for name, text in zip(names, journals, strict=True)}
        return {name: text for name, text in texts.items() if text}


def name_before(key: EpisodeKey, number: int) -> str:
    """Return the name of an episode that comes before a judged one; they count from 0."""
    return f'{key.name}-before{number}'


class Play(Protocol):
    """Plays one episode; a function of a module, so that it can be sent to another process."""

    def __call__(self, job: EpisodeSpec) -> EpisodeRecord:
        """
        Play an episode to its end and judge it.

        A model or world that fails is a result (`lost`), not an exception.

        Raises:
            ConfigError: The setup cannot be used at all, or this machine's disk is full.
        """
        ...
