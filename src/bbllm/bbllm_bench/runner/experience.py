"""
What cases are shown of earlier episodes, and what a run adds to it.

A case is never shown what was made from itself, under whatever seed it was drawn, nor from a run
of its own suite and seed. Episodes of people have no known case, and are shown to none.
"""

from collections.abc import Iterable, Iterator

from bbllm.core.errors import ConfigError
from bbllm.core.events import hash_of_text
from bbllm.core.journal import read_episode
from bbllm.core.records import canonical, to_json
from bbllm.core.text import count_of
from bbllm.planners.common.experience.entry import Entry, Origin, entry_of
from bbllm.planners.common.experience.store import ExperienceFile
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.log.run_settings import RunSettings
from bbllm_bench.log.store import EPISODES, RunFolder
from bbllm_bench.suites.case import Case, fingerprint


def known_to(suite: str, seed: int, entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return the entries that a run of a suite may show: made in benches, on another split."""
    made = (entry for entry in entries if entry.origin is not None)
    return tuple(x for x in made if x.origin and (x.origin.suite, x.origin.seed) != (suite, seed))


def shown_in(case: Case, known: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return the entries of a run that were not made from the same case."""
    same = fingerprint(case)
    return tuple(entry for entry in known if entry.origin and entry.origin.case != same)


def hash_of_entries(entries: Iterable[Entry]) -> str:
    """Return a hash of all that entries can bring into prompts."""
    return hash_of_text(canonical([to_json(entry) for entry in entries]))


def known_text(known: int, left_out: int, faults: Iterable[str]) -> Iterator[str]:
    """Yield what is used of a file of experience, as sentences for people."""
    rest = f'; {left_out} others are of its own split, or of no bench' if left_out else ''
    yield f'The run may show {count_of(known, "earlier episode")} of the experience{rest}.'
    yield from faults


def learn(folder: RunFolder, settings: RunSettings, file: ExperienceFile) -> None:
    """Add what the episodes of a run leave to a file, each once; raises ConfigError."""
    file.add(filter(None, (_learned(folder, settings, x) for x in folder.results.values())))


def _learned(folder: RunFolder, settings: RunSettings, result: EpisodeResult) -> Entry | None:
    if not (result.passed and result.case_hash):
        return None
    key = result.key
    try:
        episode = read_episode(folder.path / EPISODES / f'{key.name}.jsonl')
    except ConfigError:  # the result stands without it
        return None
    origin = Origin(
        suite=settings.suite,
        task=key.task,
        trial=key.trial,
        seed=settings.seed,
        case=result.case_hash,
    )
    return entry_of(episode, met=True, origin=origin)
